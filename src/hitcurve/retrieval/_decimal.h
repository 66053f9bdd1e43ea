/* Decimal text to the nearest double, exactly, for what runs hold: 128-bit integers are beyond Cython. The names have a
 * prefix because headers of CPython 3.13 that Cython includes have a read_u64 of their own. */
#ifndef HITCURVE_DECIMAL_H
#define HITCURVE_DECIMAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hitcurve_read_u64(const char *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

static inline uint64_t hitcurve_read_big_endian(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
           (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7];
}

static inline uint32_t hitcurve_read_u32(const char *p) {
    uint32_t word;
    memcpy(&word, p, 4);
    return word;
}

/* How many of eight bytes come before one that is a blank or a control character. */
static inline int hitcurve_before_blank(const char *p) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word = hitcurve_read_u64(p); /* a borrow goes only to the bytes behind the first that is found */
    uint64_t low = (word - 0x2121212121212121u) & ~word & 0x8080808080808080u;
    return low ? __builtin_ctzll(low) >> 3 : 8;
#else
    int i = 0;
    while (i < 8 && (unsigned char)p[i] > 32)
        i++;
    return i;
#endif
}

/* digits / 10^places, correctly rounded. 0 if it takes more than these two exact ways. */
static inline int hitcurve_scaled_double(uint64_t digits, int places, double *value) {
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits == 0) {
        *value = 0.0;
        return 1;
    }
    /* Both operands are doubles without error, so one operation rounds once. */
    if (digits <= (1ull << 53) && places >= -22 && places <= 22) {
        *value = places < 0 ? (double)digits * exact[-places] : (double)digits / exact[places];
        return 1;
    }
#if defined(__SIZEOF_INT128__)
    if (places >= 0 && places <= 19) {
        __extension__ typedef unsigned __int128 wide;
        uint64_t power = 1, quotient, low, half, mantissa;
        int shift, up_digits, up_power, i;
        wide top, rest;
        for (i = 0; i < places; i++)
            power *= 10;
        up_digits = __builtin_clzll(digits);
        up_power = __builtin_clzll(power);
        top = (wide)(digits << up_digits) << 63;
        power <<= up_power;
        quotient = (uint64_t)(top / power); /* 62 to 64 bits */
        rest = top - (wide)quotient * power;
        shift = 64 - __builtin_clzll(quotient) - 53;
        low = quotient & ((1ull << shift) - 1);
        half = 1ull << (shift - 1);
        mantissa = quotient >> shift;
        if (low > half || (low == half && (rest != 0 || (mantissa & 1))))
            mantissa++;
        *value = ldexp((double)mantissa, shift + up_power - up_digits - 63);
        return 1;
    }
#endif
    return 0;
}

#endif
