/* Two loops of count.pyx for AVX2, compiled beside the portable ones and chosen at import, so that one wheel runs on
 * every x86-64. A function attribute, vector types and a CPU check are what Cython has no words for.
 *
 * In the second, n scores are counted against m sorted distinct thresholds: counts[2i] += scores between threshold i-1 and i,
 * counts[2i+1] += scores equal to threshold i. The results are those of the portable loops: only comparisons and whole
 * numbers are involved.
 */
#ifndef HITCURVE_SIMD_H
#define HITCURVE_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The upper 32 bits in the order of the scores; 0.0 and -0.0 have the same. */
static inline int32_t upper_float(float x) {
    int32_t k, sign;
    memcpy(&k, &x, 4);
    sign = k >> 31;
    return (k ^ (sign & 0x7fffffff)) - sign;
}

static inline int32_t upper_double(double x) {
    int64_t bits;
    int32_t k, sign;
    memcpy(&bits, &x, 8);
    k = (int32_t)(bits >> 32);
    sign = k >> 31;
    return (k ^ (sign & 0x7fffffff)) - sign;
}

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#define HITCURVE_AVX2 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt")))
#define INLINE_AVX2 static inline __attribute__((always_inline, target("avx2,popcnt")))

static int simd_available(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}

/* A bit for each label that is not 0, 64 to a mask; how many there are. `seen`: above 1 if a label is. */
AVX2 static ptrdiff_t simd_labels(const uint8_t *label, ptrdiff_t n, uint64_t *masks, uint8_t *seen) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i any = zero;
    ptrdiff_t found = 0;
    uint8_t rest[64] = {0};
    for (ptrdiff_t i = 0; i < n; i += 64) {
        const uint8_t *at = label + i;
        __m256i a, b;
        uint64_t none;
        if (i + 64 > n) at = memcpy(rest, at, (size_t)(n - i));
        a = _mm256_loadu_si256((const __m256i *)at);
        b = _mm256_loadu_si256((const __m256i *)(at + 32));
        any = _mm256_or_si256(any, _mm256_or_si256(a, b));
        none = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, zero));
        none |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, zero)) << 32;
        *masks++ = ~none;
        found += __builtin_popcountll(~none);
    }
    *seen = _mm256_testz_si256(any, _mm256_set1_epi8((char)0xfe)) ? 1 : 2;
    return found;
}

/* The places of the bits in the masks of n labels. Up to 4 places beyond them are written. */
AVX2 static void simd_places(const uint64_t *masks, ptrdiff_t n, uint16_t *places) {
    for (ptrdiff_t i = 0; i < n; i += 64) {
        uint64_t left = *masks++;
        const int hits = __builtin_popcountll(left);
        for (int j = 0; j < 4; j++) { /* written whether there are so many or not: no branch to guess */
            places[j] = (uint16_t)(i + __builtin_ctzll(left | (uint64_t)1 << 63));
            left &= left - 1;
        }
        for (int j = 4; j < hits; j++) {
            places[j] = (uint16_t)(i + __builtin_ctzll(left));
            left &= left - 1;
        }
        places += hits;
    }
}

INLINE_AVX2 uint32_t sum_lanes_32(__m256i v) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(s);
}

INLINE_AVX2 uint32_t sum_lanes_64(__m256i v) {
    __m128i s = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi64(s, _mm_unpackhi_epi64(s, s));
    return (uint32_t)_mm_cvtsi128_si32(s);
}

/* `together` thresholds, at most 4 and a constant wherever this is called, share each load of the scores. Returns how
 * many scores lie above the last of them; `below` is how many lie above the threshold before the first. */
INLINE_AVX2 uint32_t compare_float(const float *thresholds, int together, const float *x, ptrdiff_t n, uint32_t below,
                                   uint32_t *counts) {
    __m256 u[4];
    __m256i at_least[4], above[4];
    ptrdiff_t i = 0;
    for (int t = 0; t < together; t++) {
        u[t] = _mm256_set1_ps(thresholds[t]);
        at_least[t] = above[t] = _mm256_setzero_si256();
    }
    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_loadu_ps(x + i);
        for (int t = 0; t < together; t++) {
            at_least[t] = _mm256_sub_epi32(at_least[t], _mm256_castps_si256(_mm256_cmp_ps(v, u[t], _CMP_GE_OQ)));
            above[t] = _mm256_sub_epi32(above[t], _mm256_castps_si256(_mm256_cmp_ps(v, u[t], _CMP_GT_OQ)));
        }
    }
    for (int t = 0; t < together; t++) {
        uint32_t num_at_least = sum_lanes_32(at_least[t]), num_above = sum_lanes_32(above[t]);
        for (ptrdiff_t j = i; j < n; j++) {
            num_at_least += x[j] >= thresholds[t];
            num_above += x[j] > thresholds[t];
        }
        counts[2 * t] += below - num_at_least;
        counts[2 * t + 1] += num_at_least - num_above;
        below = num_above;
    }
    return below;
}

INLINE_AVX2 uint32_t compare_double(const double *thresholds, int together, const double *x, ptrdiff_t n,
                                    uint32_t below, uint32_t *counts) {
    __m256d u[4];
    __m256i at_least[4], above[4];
    ptrdiff_t i = 0;
    for (int t = 0; t < together; t++) {
        u[t] = _mm256_set1_pd(thresholds[t]);
        at_least[t] = above[t] = _mm256_setzero_si256();
    }
    for (; i + 4 <= n; i += 4) {
        __m256d v = _mm256_loadu_pd(x + i);
        for (int t = 0; t < together; t++) {
            at_least[t] = _mm256_sub_epi64(at_least[t], _mm256_castpd_si256(_mm256_cmp_pd(v, u[t], _CMP_GE_OQ)));
            above[t] = _mm256_sub_epi64(above[t], _mm256_castpd_si256(_mm256_cmp_pd(v, u[t], _CMP_GT_OQ)));
        }
    }
    for (int t = 0; t < together; t++) {
        uint32_t num_at_least = sum_lanes_64(at_least[t]), num_above = sum_lanes_64(above[t]);
        for (ptrdiff_t j = i; j < n; j++) {
            num_at_least += x[j] >= thresholds[t];
            num_above += x[j] > thresholds[t];
        }
        counts[2 * t] += below - num_at_least;
        counts[2 * t + 1] += num_at_least - num_above;
        below = num_above;
    }
    return below;
}

/* More thresholds are compared by codes: 16 bits of each score that keep the order, four or eight times as many to a
 * vector as there are scores. Scores with the code of a threshold, few of them, are looked at once more as they are.
 *
 * A code is a place between the least and the greatest threshold, in the upper 32 bits of a score as a whole number. */

#define CODED 2048 /* most scores coded together */

INLINE_AVX2 __m256i code_eight(__m256i k, __m256i floor, __m256i ceiling, __m128i shift) {
    __m256i sign = _mm256_srai_epi32(k, 31);
    k = _mm256_sub_epi32(_mm256_xor_si256(k, _mm256_srli_epi32(sign, 1)), sign);
    k = _mm256_min_epi32(_mm256_max_epi32(k, floor), ceiling);
    return _mm256_sub_epi32(_mm256_srl_epi32(_mm256_sub_epi32(k, floor), shift), _mm256_set1_epi32(32768));
}

INLINE_AVX2 __m256i load_upper(const void *x, int is_double) {
    const double *wide = (const double *)x;
    __m256 pairs;
    if (!is_double) return _mm256_loadu_si256((const __m256i *)x);
    pairs = _mm256_shuffle_ps(_mm256_castpd_ps(_mm256_loadu_pd(wide)), _mm256_castpd_ps(_mm256_loadu_pd(wide + 4)), 0xdd);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(pairs), 0xd8);
}

/* The bucket of each score by a map of its upper 32 bits, cut into cells of 2**shift, each of which adds its base and its
 * shift, packed in 32 bits. Scores below the least go to bucket 0. Whether a score is NaN. Writes up to 7 places beyond. */
INLINE_AVX2 int buckets_typed(const void *x, ptrdiff_t n, int is_double, int32_t least, int32_t greatest, uint32_t shift,
                              uint32_t above, const uint32_t *packed, uint32_t *buckets) {
    const __m256i floor = _mm256_set1_epi32(least), ceiling = _mm256_set1_epi32(greatest), top = _mm256_set1_epi32((int)above);
    const __m256i low = _mm256_set1_epi32(31), most = _mm256_set1_epi32(0x7ffffff);
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    const int size = is_double ? 8 : 4;
    __m256i nan = _mm256_setzero_si256();
    for (ptrdiff_t i = 0; i < n; i += 8) {
        const char *at = (const char *)x + i * size;
        double rest[8] = {0};
        __m256i k, sign, below, beyond, place, cell, bucket;
        if (i + 8 > n) {
            memcpy(rest, at, (size_t)((n - i) * size));
            at = (const char *)rest;
        }
        if (is_double) {
            __m256d a = _mm256_loadu_pd((const double *)at), b = _mm256_loadu_pd((const double *)at + 4);
            nan = _mm256_or_si256(nan, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_UNORD_Q)));
        } else {
            __m256 a = _mm256_loadu_ps((const float *)at);
            nan = _mm256_or_si256(nan, _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
        }
        k = load_upper(at, is_double);
        sign = _mm256_srai_epi32(k, 31);
        k = _mm256_sub_epi32(_mm256_xor_si256(k, _mm256_srli_epi32(sign, 1)), sign);
        below = _mm256_cmpgt_epi32(floor, k);
        beyond = _mm256_cmpgt_epi32(k, ceiling);
        place = _mm256_sub_epi32(_mm256_min_epi32(_mm256_max_epi32(k, floor), ceiling), floor);
        cell = _mm256_i32gather_epi32((const int *)packed, _mm256_srl_epi32(place, shifts), 4);
        bucket = _mm256_add_epi32(_mm256_srlv_epi32(place, _mm256_and_si256(cell, low)), _mm256_srli_epi32(cell, 5));
        bucket = _mm256_andnot_si256(below, _mm256_and_si256(bucket, most));
        _mm256_storeu_si256((__m256i *)(buckets + i), _mm256_blendv_epi8(bucket, top, beyond));
    }
    return !_mm256_testz_si256(nan, nan);
}

AVX2 static int simd_buckets(const void *x, ptrdiff_t n, int is_double, int32_t least, int32_t greatest, uint32_t shift,
                             uint32_t above, const uint32_t *packed, uint32_t *buckets) {
    return is_double ? buckets_typed(x, n, 1, least, greatest, shift, above, packed, buckets)
                     : buckets_typed(x, n, 0, least, greatest, shift, above, packed, buckets);
}

INLINE_AVX2 uint32_t sum_lanes_16(__m256i v) {
    return sum_lanes_32(_mm256_madd_epi16(v, _mm256_set1_epi16(1)));
}

/* How many codes lie above each of `together` codes, a constant wherever this is called; how many equal any of them. */
INLINE_AVX2 uint32_t compare_codes(const int16_t *code, ptrdiff_t n, const int16_t *of, int together, uint32_t *above) {
    __m256i u[4], num_above[4], num_equal = _mm256_setzero_si256();
    for (int t = 0; t < together; t++) {
        u[t] = _mm256_set1_epi16(of[t]);
        num_above[t] = _mm256_setzero_si256();
    }
    for (ptrdiff_t i = 0; i < n; i += 16) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(code + i));
        for (int t = 0; t < together; t++) {
            num_above[t] = _mm256_sub_epi16(num_above[t], _mm256_cmpgt_epi16(v, u[t]));
            num_equal = _mm256_sub_epi16(num_equal, _mm256_cmpeq_epi16(v, u[t]));
        }
    }
    for (int t = 0; t < together; t++) above[t] = sum_lanes_16(num_above[t]);
    return sum_lanes_16(num_equal);
}

/* One block: `hits` says how often each threshold is known to occur in it (NULL: unknown). */
INLINE_AVX2 void compare_coded(const void *thresholds, ptrdiff_t m, const void *x, ptrdiff_t n, int is_double,
                               const int64_t *hits, int once, uint32_t *counts) {
#define SCORE(array, i) (is_double ? ((const double *)(array))[i] : ((const float *)(array))[i])
#define UPPER(array, i) (is_double ? upper_double(((const double *)(array))[i]) : upper_float(((const float *)(array))[i]))
    int16_t code[CODED + 16], of[4];
    uint32_t above[4], equal, below = (uint32_t)n;
    const int32_t least = UPPER(thresholds, 0), greatest = UPPER(thresholds, m - 1);
    const uint32_t span = (uint32_t)greatest - (uint32_t)least;
    const ptrdiff_t padded = (n + 15) & ~(ptrdiff_t)15;
    ptrdiff_t i = 0, first[5];
    int32_t floor, ceiling;
    int shift = 0;
    __m256i floors, ceilings;
    __m128i shifts;
    while (span >> shift > 65530) shift++;
    floor = least - ((int32_t)1 << shift);
    ceiling = greatest + ((int32_t)1 << shift);
#define CODE(k) ((int16_t)((int32_t)(((uint32_t)(k) - (uint32_t)floor) >> shift) - 32768))
    floors = _mm256_set1_epi32(floor);
    ceilings = _mm256_set1_epi32(ceiling);
    shifts = _mm_cvtsi32_si128(shift);
    for (; i + 16 <= n; i += 16) {
        const char *at = (const char *)x + i * (is_double ? 8 : 4);
        __m256i a = code_eight(load_upper(at, is_double), floors, ceilings, shifts);
        __m256i b = code_eight(load_upper(at + (is_double ? 64 : 32), is_double), floors, ceilings, shifts);
        _mm256_storeu_si256((__m256i *)(code + i), _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8));
    }
    for (; i < n; i++) {
        int32_t k = UPPER(x, i);
        k = k < floor ? floor : k > ceiling ? ceiling : k;
        code[i] = CODE(k);
    }
    for (; i < padded; i++) code[i] = -32768; /* below all thresholds */
    first[0] = 0;
    while (first[0] < m) {
        int together = 0;
        uint32_t known = 0; /* how many scores at least have one of the codes, and no more unless scores tie or codes do */
        while (together < 4 && first[together] < m) { /* thresholds of the same code are one */
            ptrdiff_t next = first[together];
            of[together] = CODE(UPPER(thresholds, next));
            do known += once ? 1 : hits != NULL ? (uint32_t)hits[next] : 0;
            while (++next < m && CODE(UPPER(thresholds, next)) == of[together]);
            first[++together] = next;
        }
        if (together == 4) equal = compare_codes(code, padded, of, 4, above);
        else if (together == 3) equal = compare_codes(code, padded, of, 3, above);
        else if (together == 2) equal = compare_codes(code, padded, of, 2, above);
        else equal = compare_codes(code, padded, of, 1, above);
        for (int t = 0; t < together; t++) {
            const ptrdiff_t start = first[t], stop = first[t + 1];
            uint32_t between = below - above[t]; /* above the threshold before, and not above this */
            below = above[t];
            if (equal == known && stop == start + 1) {
                const uint32_t own = once ? 1 : hits != NULL ? (uint32_t)hits[start] : 0;
                counts[2 * start] += between - own;
                counts[2 * start + 1] += own;
                continue;
            }
            for (i = 0; i < padded; i += 16) {
                __m256i same = _mm256_cmpeq_epi16(_mm256_loadu_si256((const __m256i *)(code + i)), _mm256_set1_epi16(of[t]));
                uint32_t found = (uint32_t)_mm256_movemask_epi8(same) & 0x55555555;
                for (; found; found &= found - 1) {
                    const ptrdiff_t j = i + __builtin_ctz(found) / 2;
                    ptrdiff_t place = start;
                    while (place < stop && SCORE(thresholds, place) < SCORE(x, j)) place++;
                    counts[2 * place + (place < stop && SCORE(thresholds, place) == SCORE(x, j))]++;
                    between--;
                }
            }
            counts[2 * start] += between;
        }
        first[0] = first[together];
    }
    counts[2 * m] += below;
#undef SCORE
#undef UPPER
#undef CODE
}

/* n scores, at most CODED. With `whole` they are the whole ranking, so that each threshold occurs `hits` times in it
 * (NULL: once), or more often where scores tie. */
AVX2 static void simd_compare_float(const float *thresholds, ptrdiff_t m, const float *x, ptrdiff_t n, int whole,
                                    const int64_t *hits, uint32_t *counts) {
    uint32_t below = (uint32_t)n;
    if (m > 4) {
        compare_coded(thresholds, m, x, n, 0, whole ? hits : NULL, whole && hits == NULL, counts);
        return;
    }
    if (m == 4) below = compare_float(thresholds, 4, x, n, below, counts);
    if (m == 3) below = compare_float(thresholds, 3, x, n, below, counts);
    if (m == 2) below = compare_float(thresholds, 2, x, n, below, counts);
    if (m == 1) below = compare_float(thresholds, 1, x, n, below, counts);
    counts[2 * m] += below;
}

AVX2 static void simd_compare_double(const double *thresholds, ptrdiff_t m, const double *x, ptrdiff_t n, int whole,
                                     const int64_t *hits, uint32_t *counts) {
    uint32_t below = (uint32_t)n;
    if (m > 2) {
        compare_coded(thresholds, m, x, n, 1, whole ? hits : NULL, whole && hits == NULL, counts);
        return;
    }
    if (m == 2) below = compare_double(thresholds, 2, x, n, below, counts);
    if (m == 1) below = compare_double(thresholds, 1, x, n, below, counts);
    counts[2 * m] += below;
}

#else

static int simd_available(void) { return 0; }
static ptrdiff_t simd_labels(const uint8_t *l, ptrdiff_t n, uint64_t *m, uint8_t *s) {
    (void)l, (void)n, (void)m, (void)s;
    return 0;
}
static void simd_places(const uint64_t *m, ptrdiff_t n, uint16_t *p) { (void)m, (void)n, (void)p; }
static int simd_buckets(const void *x, ptrdiff_t n, int d, int32_t l, int32_t g, uint32_t s, uint32_t a, const uint32_t *p,
                        uint32_t *b) {
    (void)x, (void)n, (void)d, (void)l, (void)g, (void)s, (void)a, (void)p, (void)b;
    return 0;
}
static void simd_compare_float(const float *t, ptrdiff_t m, const float *x, ptrdiff_t n, int w, const int64_t *h,
                               uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)w, (void)h, (void)c;
}
static void simd_compare_double(const double *t, ptrdiff_t m, const double *x, ptrdiff_t n, int w, const int64_t *h,
                                uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)w, (void)h, (void)c;
}

#endif
#endif
