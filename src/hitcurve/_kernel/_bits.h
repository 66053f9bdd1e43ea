/* Bits of a word: the index of the first nonzero byte in the order of memory, and the number of bits that are set. */
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

static inline int hitcurve_bits_in(uint64_t word) {
    /* Compilers make vectors of this; their own function needs an instruction that not every machine has. */
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return (int)(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

#endif
