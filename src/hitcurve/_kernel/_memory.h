/* Large scratch uses huge pages where Linux has them: a page fault for every 4 KiB costs more than counting. */
#ifndef HITCURVE_MEMORY_H
#define HITCURVE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

static inline void prefetch(const void *memory) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(memory);
#else
    (void)memory;
#endif
}

static inline void prefer_huge_pages(void *memory, size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (memory != NULL && size >= (size_t)1 << 22) {
        const uintptr_t page = 4096, first = ((uintptr_t)memory + page - 1) & ~(page - 1);
        (void)madvise((void *)first, (size - (first - (uintptr_t)memory)) & ~(page - 1), MADV_HUGEPAGE); /* a hint */
    }
#else
    (void)memory, (void)size;
#endif
}

#endif
