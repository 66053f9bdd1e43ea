/* The index of the first nonzero byte of eight, in the order of memory. */
#ifndef HITCURVE_BITS_H
#define HITCURVE_BITS_H

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

static inline int hitcurve_first_byte(uint64_t eight) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_clzll(eight) >> 3;
#elif defined(__GNUC__)
    return __builtin_ctzll(eight) >> 3;
#elif defined(_MSC_VER) && defined(_WIN64)
    unsigned long at;
    _BitScanForward64(&at, eight);
    return (int)(at >> 3);
#else
    int byte = 0;
    for (; (eight & 0xFF) == 0; eight >>= 8)
        byte++;
    return byte;
#endif
}

#endif
