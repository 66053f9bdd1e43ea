/* AVX2 versions of loops in columns.pyx, count.pyx, parts.pyx and thresholds.pyx. Both versions are compiled, and one is
 * chosen at import, so that a single wheel runs on every x86-64. They are in C, because Cython has no function attributes,
 * vector types and CPU checks.
 *
 * Counting n scores against m sorted distinct thresholds means: counts[2i] += scores between threshold i-1 and i,
 * counts[2i+1] += scores equal to threshold i. The results equal those of the portable loops, because there are only
 * comparisons and whole numbers.
 */
#ifndef HITCURVE_SIMD_H
#define HITCURVE_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The upper 32 bits of a key, in the order of the scores. 0.0 and -0.0 have the same bits. */
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

#define RANKED 128     /* the most scores that are sorted by rank */
#define CELLS_FROM 32  /* compare_cells pays off from so many thresholds */
#define SHORT_MOST 126 /* the most thresholds of compare_cells: twice this number fits a byte */

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#define HITCURVE_AVX2 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt"), unused)) /* each module needs only some of these functions */
#define INLINE_AVX2 static inline __attribute__((always_inline, target("avx2,popcnt")))

static inline int simd_available(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}

AVX2 static int simd_nan_float(const float *x, ptrdiff_t n) {
    __m256 found = _mm256_setzero_ps();
    ptrdiff_t i = 0;
    int rest = 0;
    for (; i + 16 <= n; i += 16)
        found = _mm256_or_ps(found, _mm256_cmp_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(x + i + 8), _CMP_UNORD_Q));
    for (; i < n; i++) rest |= x[i] != x[i];
    return rest | (_mm256_movemask_ps(found) != 0);
}

AVX2 static int simd_nan_double(const double *x, ptrdiff_t n) {
    __m256d found = _mm256_setzero_pd();
    ptrdiff_t i = 0;
    int rest = 0;
    for (; i + 8 <= n; i += 8)
        found = _mm256_or_pd(found, _mm256_cmp_pd(_mm256_loadu_pd(x + i), _mm256_loadu_pd(x + i + 4), _CMP_UNORD_Q));
    for (; i < n; i++) rest |= x[i] != x[i];
    return rest | (_mm256_movemask_pd(found) != 0);
}

/* The lower (0x88) or the upper (0xdd) halves of eight 64-bit numbers. */
#define HALVES(a, b, which) \
    _mm256_permute4x64_epi64(                                                                                       \
        _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), which)), 0xd8)

/* Labels of four or eight bytes as bytes: 0 and 1 stay, everything else becomes 2. */
AVX2 static void simd_flags(const void *label, ptrdiff_t n, int wide, uint8_t *flags) {
    const __m256i two = wide ? _mm256_set1_epi64x(2) : _mm256_set1_epi32(2), zero = _mm256_setzero_si256();
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i *at = (const __m256i *)((const char *)label + i * (wide ? 8 : 4));
        __m256i a = _mm256_loadu_si256(at);
        __m128i eight;
        if (wide) {
            __m256i b = _mm256_loadu_si256(at + 1);
            a = _mm256_blendv_epi8(two, a, _mm256_cmpeq_epi64(_mm256_srli_epi64(a, 1), zero));
            b = _mm256_blendv_epi8(two, b, _mm256_cmpeq_epi64(_mm256_srli_epi64(b, 1), zero));
            a = HALVES(a, b, 0x88);
        } else a = _mm256_blendv_epi8(two, a, _mm256_cmpeq_epi32(_mm256_srli_epi32(a, 1), zero));
        eight = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
        _mm_storel_epi64((__m128i *)(flags + i), _mm_packus_epi16(eight, eight));
    }
    for (; i < n; i++) {
        const uint64_t x = wide ? ((const uint64_t *)label)[i] : ((const uint32_t *)label)[i];
        flags[i] = (uint8_t)(x < 2 ? x : 2);
    }
}

/* Writes a bit for each label that is not 0, in masks of 64 bits. Returns their number. `seen` is above 1 if a label is. */
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

/* Writes the positions of the bits in the masks of n labels, and up to 4 elements beyond. */
AVX2 static void simd_places(const uint64_t *masks, ptrdiff_t n, uint16_t *places) {
    for (ptrdiff_t i = 0; i < n; i += 64) {
        uint64_t left = *masks++;
        const int hits = __builtin_popcountll(left);
        for (int j = 0; j < 4; j++) { /* four are always written, so that no branch is mispredicted */
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

/* How many of n scores are less than each of 16 scores. */
INLINE_AVX2 void less_float(const float *x, ptrdiff_t n, const float *bounds, int32_t *place) {
    const __m256 low = _mm256_loadu_ps(bounds), high = _mm256_loadu_ps(bounds + 8);
    __m256i a = _mm256_setzero_si256(), b = a;
    for (ptrdiff_t j = 0; j < n; j++) {
        const __m256 score = _mm256_set1_ps(x[j]);
        a = _mm256_sub_epi32(a, _mm256_castps_si256(_mm256_cmp_ps(score, low, _CMP_LT_OQ)));
        b = _mm256_sub_epi32(b, _mm256_castps_si256(_mm256_cmp_ps(score, high, _CMP_LT_OQ)));
    }
    _mm256_storeu_si256((__m256i *)place, a);
    _mm256_storeu_si256((__m256i *)(place + 8), b);
}

INLINE_AVX2 void less_double(const double *x, ptrdiff_t n, const double *bounds, int32_t *place) {
    __m256d bound[4];
    __m256i less[4];
    for (int k = 0; k < 4; k++) {
        bound[k] = _mm256_loadu_pd(bounds + 4 * k);
        less[k] = _mm256_setzero_si256();
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        const __m256d score = _mm256_set1_pd(x[j]);
        for (int k = 0; k < 4; k++)
            less[k] = _mm256_sub_epi64(less[k], _mm256_castpd_si256(_mm256_cmp_pd(score, bound[k], _CMP_LT_OQ)));
    }
    _mm256_storeu_si256((__m256i *)place, HALVES(less[0], less[1], 0x88));
    _mm256_storeu_si256((__m256i *)(place + 8), HALVES(less[2], less[3], 0x88));
}

/* Sorts by the number of scores that are less than each score, without branches that depend on scores. Equal scores get
 * the same position, and the positions after it are filled. */
#define SORT_BY_RANK(NAME, SCORE, LESS)                                                 \
    AVX2 static void NAME(SCORE *x, ptrdiff_t n) {                                      \
        SCORE held[RANKED + 16], last;                                                  \
        int32_t place[RANKED + 16];                                                     \
        memcpy(held, x, (size_t)n * sizeof(SCORE));                                     \
        for (ptrdiff_t i = n; i % 16 != 0; i++) held[i] = 0;                            \
        for (ptrdiff_t i = 0; i < n; i += 16) LESS(held, n, held + i, place + i);       \
        for (ptrdiff_t i = 0; i < n; i++) x[i] = NAN;                                   \
        for (ptrdiff_t i = 0; i < n; i++) x[place[i]] = held[i];                        \
        last = x[0];                                                                    \
        for (ptrdiff_t i = 1; i < n; i++) x[i] = last = x[i] == x[i] ? x[i] : last;     \
    }
SORT_BY_RANK(simd_sort_float, float, less_float)
SORT_BY_RANK(simd_sort_double, double, less_double)

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

/* The last scores, fewer than a vector, and then NaN, for which every comparison is false. */
INLINE_AVX2 __m256 load_last_float(const float *x, ptrdiff_t left) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)left), lanes);
    return _mm256_blendv_ps(_mm256_set1_ps(NAN), _mm256_maskload_ps(x, there), _mm256_castsi256_ps(there));
}

INLINE_AVX2 __m256d load_last_double(const double *x, ptrdiff_t left) {
    const __m256i there = _mm256_cmpgt_epi64(_mm256_set1_epi64x(left), _mm256_setr_epi64x(0, 1, 2, 3));
    return _mm256_blendv_pd(_mm256_set1_pd(NAN), _mm256_maskload_pd(x, there), _mm256_castsi256_pd(there));
}

INLINE_AVX2 void tally_float(__m256 v, int together, const __m256 *u, __m256i *at_least, __m256i *above) {
    for (int t = 0; t < together; t++) {
        at_least[t] = _mm256_sub_epi32(at_least[t], _mm256_castps_si256(_mm256_cmp_ps(v, u[t], _CMP_GE_OQ)));
        above[t] = _mm256_sub_epi32(above[t], _mm256_castps_si256(_mm256_cmp_ps(v, u[t], _CMP_GT_OQ)));
    }
}

INLINE_AVX2 void tally_double(__m256d v, int together, const __m256d *u, __m256i *at_least, __m256i *above) {
    for (int t = 0; t < together; t++) {
        at_least[t] = _mm256_sub_epi64(at_least[t], _mm256_castpd_si256(_mm256_cmp_pd(v, u[t], _CMP_GE_OQ)));
        above[t] = _mm256_sub_epi64(above[t], _mm256_castpd_si256(_mm256_cmp_pd(v, u[t], _CMP_GT_OQ)));
    }
}

/* `together` thresholds share each load of the scores. `together` is at most 4, and a constant in every call. Returns the
 * number of scores above the last of these thresholds. `below` is the number above the threshold before the first. */
INLINE_AVX2 uint32_t compare_float(const float *thresholds, int together, const float *x, ptrdiff_t n, uint32_t below,
                                   uint32_t *counts) {
    __m256 u[4];
    __m256i at_least[4], above[4];
    ptrdiff_t i = 0;
    for (int t = 0; t < together; t++) {
        u[t] = _mm256_set1_ps(thresholds[t]);
        at_least[t] = above[t] = _mm256_setzero_si256();
    }
    for (; i + 8 <= n; i += 8) tally_float(_mm256_loadu_ps(x + i), together, u, at_least, above);
    if (i < n) tally_float(load_last_float(x + i, n - i), together, u, at_least, above);
    for (int t = 0; t < together; t++) {
        const uint32_t num_at_least = sum_lanes_32(at_least[t]), num_above = sum_lanes_32(above[t]);
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
    for (; i + 4 <= n; i += 4) tally_double(_mm256_loadu_pd(x + i), together, u, at_least, above);
    if (i < n) tally_double(load_last_double(x + i, n - i), together, u, at_least, above);
    for (int t = 0; t < together; t++) {
        const uint32_t num_at_least = sum_lanes_64(at_least[t]), num_above = sum_lanes_64(above[t]);
        counts[2 * t] += below - num_at_least;
        counts[2 * t + 1] += num_at_least - num_above;
        below = num_above;
    }
    return below;
}

/* More thresholds are compared by codes. A code has 16 bits and keeps the order of the scores, and a vector has two or four
 * times as many codes as scores. The few scores with the code of a threshold are compared again as scores.
 *
 * A code is a position between the least and the greatest threshold, by the upper 32 bits of a key. */

#define CODED 2048 /* the most scores that are coded together */

/* Eight floats, or the upper halves of eight doubles, as whole numbers in the order of the scores. */
INLINE_AVX2 __m256i keys_of_32(__m256i bits) {
    const __m256i sign = _mm256_srai_epi32(bits, 31);
    return _mm256_sub_epi32(_mm256_xor_si256(bits, _mm256_srli_epi32(sign, 1)), sign);
}

INLINE_AVX2 __m256i load_upper(const void *x, int is_double) {
    const __m256i *at = (const __m256i *)x;
    if (!is_double) return _mm256_loadu_si256(at);
    return HALVES(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1), 0xdd);
}

/* The keys of four scores (see sort.pxd), with their sign. */
INLINE_AVX2 __m256i keys_of(const double *x) {
    const __m256i bits = _mm256_loadu_si256((const __m256i *)x), sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), bits);
    return _mm256_sub_epi64(_mm256_xor_si256(bits, _mm256_srli_epi64(sign, 1)), sign);
}

/* Writes (key - least) >> shift of n scores, and up to 7 elements beyond. */
AVX2 static void simd_slots(const void *x, ptrdiff_t n, int is_double, int64_t least, uint32_t shift, uint32_t *slots) {
    const __m256i floor = is_double ? _mm256_set1_epi64x(least) : _mm256_set1_epi32((int32_t)least);
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    double rest[8] = {0};
    for (ptrdiff_t i = 0; i < n; i += 8) {
        const char *at = (const char *)x + i * (is_double ? 8 : 4);
        if (i + 8 > n) at = memcpy(rest, at, (size_t)((n - i) * (is_double ? 8 : 4)));
        if (is_double) {
            const __m256i a = _mm256_srl_epi64(_mm256_sub_epi64(keys_of((const double *)at), floor), shifts);
            const __m256i b = _mm256_srl_epi64(_mm256_sub_epi64(keys_of((const double *)at + 4), floor), shifts);
            _mm256_storeu_si256((__m256i *)(slots + i), HALVES(a, b, 0x88));
        } else {
            const __m256i k = keys_of_32(_mm256_loadu_si256((const __m256i *)at));
            _mm256_storeu_si256((__m256i *)(slots + i), _mm256_srl_epi32(_mm256_sub_epi32(k, floor), shifts));
        }
    }
}

/* Writes the bucket of each score, by a map of the upper 32 bits of its key, cut into cells of 2**shift, and up to 7
 * elements beyond. A cell has a base and a shift of its own, packed in 32 bits. Scores below the least score go to bucket 0.
 * Returns whether a score is NaN. */
INLINE_AVX2 int buckets_typed(const void *x, ptrdiff_t n, int is_double, int32_t least, int32_t greatest, uint32_t shift,
                              uint32_t above, const uint32_t *packed, uint32_t *buckets) {
    const __m256i floor = _mm256_set1_epi32(least), ceiling = _mm256_set1_epi32(greatest);
    const __m256i top = _mm256_set1_epi32((int)above);
    const __m256i low = _mm256_set1_epi32(31), most = _mm256_set1_epi32(0x7ffffff);
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    const int size = is_double ? 8 : 4;
    __m256i nan = _mm256_setzero_si256();
    for (ptrdiff_t i = 0; i < n; i += 8) {
        const char *at = (const char *)x + i * size;
        double rest[8] = {0};
        __m256i k, below, beyond, place, cell, bucket;
        if (i + 8 > n) {
            memcpy(rest, at, (size_t)((n - i) * size));
            at = (const char *)rest;
        }
        if (is_double) {
            __m256d a = _mm256_loadu_pd((const double *)at), b = _mm256_loadu_pd((const double *)at + 4);
            nan = _mm256_or_si256(nan, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_UNORD_Q)));
            k = HALVES(keys_of((const double *)at), keys_of((const double *)at + 4), 0xdd);
        } else {
            __m256 a = _mm256_loadu_ps((const float *)at);
            nan = _mm256_or_si256(nan, _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
            k = keys_of_32(_mm256_castps_si256(a));
        }
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

/* An element of an array of either type, in functions with `is_double`. */
#define SCORE(array, i) (is_double ? ((const double *)(array))[i] : ((const float *)(array))[i])
#define UPPER(array, i) (is_double ? upper_double(((const double *)(array))[i]) : upper_float(((const float *)(array))[i]))

/* Positions between the least and the greatest threshold: from 1 to `places`, or a few more. 0 is below. Positions are even
 * in the keys, which is a logarithmic scale, or in the scores: with keys below and above 0, nearly all positions would be
 * for scores near 0. */
typedef struct {
    int linear;
    int32_t floor, ceiling;
    int shift;
    float least, scale, most;
} Codes;

static inline Codes make_codes(int32_t least, int32_t greatest, uint32_t places) {
    Codes codes = {0, 0, 0, 0, 0, 0, 0};
    const uint32_t span = (uint32_t)greatest - (uint32_t)least;
    if (span > places) codes.shift = __builtin_clz(places) - __builtin_clz(span);
    codes.shift += span >> codes.shift > places;
    /* No score is beyond an infinity. */
    codes.floor = least < INT32_MIN + (1 << codes.shift) ? INT32_MIN : least - (1 << codes.shift);
    codes.ceiling = greatest > INT32_MAX - (1 << codes.shift) ? INT32_MAX : greatest + (1 << codes.shift);
    return codes;
}

static inline uint32_t key_code(const Codes *codes, int32_t k) {
    k = k < codes->floor ? codes->floor : k > codes->ceiling ? codes->ceiling : k;
    return ((uint32_t)k - (uint32_t)codes->floor) >> codes->shift;
}

/* Each step is monotone, in spite of rounding. */
static inline uint32_t linear_code(const Codes *codes, float x) {
    const float place = (x - codes->least) * codes->scale + 1.0f;
    return (uint32_t)(int32_t)(place > 0.0f ? place < codes->most ? place : codes->most : 0.0f);
}

#define CODE(codes, array, i) \
    ((codes)->linear ? linear_code(codes, (float)SCORE(array, i)) : key_code(codes, UPPER(array, i)))
#define SAMPLE_STEP(m) ((m) > 16 ? ((m) - 1) / 8 : 1) /* a sample shows how the thresholds are distributed */

/* How crowded the codes of m sorted distinct thresholds are: the sum of 1 / gap over a sample. If the scores have the
 * distribution of the thresholds, their share with the code of a threshold grows with this sum. */
INLINE_AVX2 float crowding(const Codes *codes, const void *thresholds, ptrdiff_t m, int is_double) {
    uint32_t last = CODE(codes, thresholds, 0);
    float sum = 0.0f;
    for (ptrdiff_t i = SAMPLE_STEP(m); i < m; i += SAMPLE_STEP(m)) {
        const uint32_t code = CODE(codes, thresholds, i);
        sum += 1.0f / ((float)(int32_t)(code - last) + 0.5f);
        last = code;
    }
    return sum;
}

/* The codes for m sorted distinct thresholds: the less crowded of both kinds. */
INLINE_AVX2 Codes choose_codes(const void *thresholds, ptrdiff_t m, int is_double, uint32_t places) {
    const Codes keys = make_codes(UPPER(thresholds, 0), UPPER(thresholds, m - 1), places);
    const float least = (float)SCORE(thresholds, 0), span = (float)SCORE(thresholds, m - 1) - least;
    Codes linear = keys;
    if (m <= CELLS_FROM && (SCORE(thresholds, 0) > 0) == (SCORE(thresholds, m - 1) > 0)) return keys; /* keys are good enough */
    linear.linear = 1;
    linear.least = least;
    linear.scale = (float)places / span;
    linear.most = (float)(places + 3);
    /* There is no linear scale for an infinity, or for a range beyond the greatest float. */
    if (!(least - least == 0.0f && linear.scale > 0.0f && linear.scale - linear.scale == 0.0f)) return keys;
    return crowding(&linear, thresholds, m, is_double) < crowding(&keys, thresholds, m, is_double) ? linear : keys;
}

#define SHORT_CELLS 4096
#define CODES 65530

/* Whether too many scores would have the code of a threshold, so that comparing them again costs more than codes save. The
 * scores are taken to be distributed as the m sorted thresholds: a quarter of the gaps in a sample is narrow. */
AVX2 static int simd_crowded(const void *thresholds, ptrdiff_t m, int is_double) {
    const ptrdiff_t step = SAMPLE_STEP(m), narrow = m > CELLS_FROM ? 4 * step : 2 * CODED * step / m;
    const Codes codes = choose_codes(thresholds, m, is_double, m > CELLS_FROM ? SHORT_CELLS - 6 : CODES);
    uint32_t last = CODE(&codes, thresholds, 0);
    int gaps = 0, crowded = 0;
    for (ptrdiff_t i = step; i < m; i += step) {
        const uint32_t code = CODE(&codes, thresholds, i);
        gaps++;
        crowded += (ptrdiff_t)(code - last) < narrow;
        last = code;
    }
    return 4 * crowded > gaps;
}

INLINE_AVX2 __m256i code_eight(const Codes *codes, const void *x, int is_double, int linear) {
    if (linear) {
        const double *at = (const double *)x;
        const __m256 v = is_double ? _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(_mm256_loadu_pd(at))),
                                                          _mm256_cvtpd_ps(_mm256_loadu_pd(at + 4)), 1)
                                   : _mm256_loadu_ps((const float *)x);
        const __m256 place = _mm256_add_ps(_mm256_mul_ps(_mm256_sub_ps(v, _mm256_set1_ps(codes->least)),
                                                         _mm256_set1_ps(codes->scale)), _mm256_set1_ps(1.0f));
        return _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(place, _mm256_setzero_ps()), _mm256_set1_ps(codes->most)));
    } else {
        const __m256i floor = _mm256_set1_epi32(codes->floor), ceiling = _mm256_set1_epi32(codes->ceiling);
        const __m256i k = _mm256_min_epi32(_mm256_max_epi32(keys_of_32(load_upper(x, is_double)), floor), ceiling);
        return _mm256_srl_epi32(_mm256_sub_epi32(k, floor), _mm_cvtsi32_si128(codes->shift));
    }
}

INLINE_AVX2 __m256i code_sixteen(const Codes *codes, const void *x, int is_double, int linear) {
    const __m256i a = code_eight(codes, x, is_double, linear);
    const __m256i b = code_eight(codes, (const char *)x + (is_double ? 64 : 32), is_double, linear);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
}

/* The codes of n scores, filled up to a multiple of 16 with the code of scores below all others. With `turned` the codes
 * have the order of signed numbers. */
INLINE_AVX2 void code_items(const Codes *codes, const void *x, ptrdiff_t n, int is_double, int linear, int turned,
                            uint16_t *code) {
    const __m256i turn = _mm256_set1_epi16((int16_t)(turned ? -32768 : 0));
    const ptrdiff_t size = is_double ? 8 : 4;
    double rest[16] = {0};
    ptrdiff_t i = 0;
    for (; i < n; i += 16) {
        const char *at = (const char *)x + i * size;
        if (i + 16 > n) at = memcpy(rest, at, (size_t)((n - i) * size));
        _mm256_storeu_si256((__m256i *)(code + i), _mm256_xor_si256(code_sixteen(codes, at, is_double, linear), turn));
    }
    for (; n < i; n++) code[n] = turned ? 0x8000 : 0;
}

#define CODE_ITEMS(codes, x, n, is_double, turned, code)                             \
    do {                                                                             \
        if ((codes)->linear) code_items(codes, x, n, is_double, 1, turned, code);    \
        else code_items(codes, x, n, is_double, 0, turned, code);                    \
    } while (0)

INLINE_AVX2 uint32_t sum_lanes_16(__m256i v) {
    return sum_lanes_32(_mm256_madd_epi16(v, _mm256_set1_epi16(1)));
}

/* How many codes are above each of `together` codes, and how many equal any. `together` is a constant in every call. */
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

#define MANY_EQUAL 24 /* if so many more scores than known have the codes of four thresholds, all scores are compared */
#define AT_ONCE 4     /* so many thresholds of a cell are all compared, so that no branch is mispredicted */

/* Counts a block of items against more thresholds than are compared one by one. A table has an entry for each cell: the
 * lowest bit says whether the cell has thresholds, the other bits how many such cells come before. */
INLINE_AVX2 void compare_cells(const void *thresholds, ptrdiff_t m, const void *x, ptrdiff_t n, int is_double,
                               uint32_t *counts) {
    uint16_t code[CODED + 16], at[SHORT_MOST + 18], aside[CODED + 4];
    uint8_t table[SHORT_CELLS + 128], first[SHORT_MOST + 1];
    uint32_t items[2 * SHORT_MOST + 2] = {0};
    double padded[SHORT_MOST + AT_ONCE];
    ptrdiff_t i, num_aside = 0;
    uint32_t cell = 0, held = 0;
    ptrdiff_t longest = 1;
    const Codes codes = choose_codes(thresholds, m, is_double, SHORT_CELLS - 6);
    CODE_ITEMS(&codes, thresholds, m, is_double, 0, at);
    CODE_ITEMS(&codes, x, n, is_double, 0, code);
    for (i = 0; i < m; held++) {
        const ptrdiff_t begin = i;
        const uint32_t here = at[i];
        const __m256i before = _mm256_set1_epi8((char)(2 * held));
        do { /* fills too much; the next cells overwrite it */
            for (int j = 0; j < 4; j++) _mm256_storeu_si256((__m256i *)(table + cell + 32 * j), before);
            cell += 128;
        } while (cell < here);
        table[here] = (uint8_t)(2 * held + 1);
        cell = here + 1;
        first[held] = (uint8_t)i;
        while (++i < m && at[i] == here) {}
        longest = i - begin > longest ? i - begin : longest;
    }
    first[held] = (uint8_t)m;
    memset(table + cell, (int)(2 * held), SHORT_CELLS - cell);
#define COUNT(AT, CODE)                       \
    do {                                      \
        const uint8_t slot = table[CODE];     \
        items[slot]++;                        \
        aside[num_aside] = (uint16_t)(AT);    \
        num_aside += slot & 1;                \
    } while (0)
    for (i = 0; i + 4 <= n; i += 4) {
        uint64_t four;
        memcpy(&four, code + i, 8);
        COUNT(i, (uint16_t)four);
        COUNT(i + 1, (uint16_t)(four >> 16));
        COUNT(i + 2, (uint16_t)(four >> 32));
        COUNT(i + 3, four >> 48);
    }
    for (; i < n; i++) COUNT(i, code[i]);
#undef COUNT
    if (longest <= AT_ONCE) {
        memcpy(padded, thresholds, (size_t)m * (is_double ? 8 : 4));
        for (i = m; i < m + AT_ONCE; i++) { /* a value that is not below or equal to any score */
            if (is_double) padded[i] = NAN;
            else ((float *)padded)[i] = NAN;
        }
        for (i = 0; i < num_aside; i++) {
            const int j = aside[i];
            ptrdiff_t place = first[table[code[j]] >> 1];
            if (longest == 1) place += SCORE(padded, place) < SCORE(x, j);
            else {
                const ptrdiff_t begin = place;
                for (int k = 0; k < AT_ONCE; k++) place += SCORE(padded, begin + k) < SCORE(x, j);
            }
            counts[2 * place + (SCORE(padded, place) == SCORE(x, j))]++;
        }
    } else {
        for (i = 0; i < num_aside; i++) {
            const int j = aside[i], k = table[code[j]] >> 1;
            ptrdiff_t place = first[k], left = first[k + 1] - place;
            for (; left > 1; left -= left >> 1)
                place += (left >> 1) & -(ptrdiff_t)(SCORE(thresholds, place + (left >> 1) - 1) < SCORE(x, j));
            place += SCORE(thresholds, place) < SCORE(x, j);
            counts[2 * place + (place < m && SCORE(thresholds, place) == SCORE(x, j))]++;
        }
    }
    for (uint32_t k = 0; k <= held; k++) counts[2 * first[k]] += items[2 * k];
}

/* Compares 1 to 4 thresholds, from `start` on, with all items. */
INLINE_AVX2 uint32_t compare_few(const void *thresholds, ptrdiff_t start, ptrdiff_t together, const void *x, ptrdiff_t n,
                                 int is_double, uint32_t below, uint32_t *counts) {
#define COMPARE_FEW(TYPE, SCORE, NUMBER) TYPE((const SCORE *)thresholds + start, NUMBER, (const SCORE *)x, n, below, counts)
    counts += 2 * start;
    if (is_double) {
        if (together == 4) return COMPARE_FEW(compare_double, double, 4);
        if (together == 3) return COMPARE_FEW(compare_double, double, 3);
        if (together == 2) return COMPARE_FEW(compare_double, double, 2);
        return COMPARE_FEW(compare_double, double, 1);
    }
    if (together == 4) return COMPARE_FEW(compare_float, float, 4);
    if (together == 3) return COMPARE_FEW(compare_float, float, 3);
    if (together == 2) return COMPARE_FEW(compare_float, float, 2);
    return COMPARE_FEW(compare_float, float, 1);
#undef COMPARE_FEW
}

/* Counts a block. `hits` says how often each threshold is known to occur in the block (NULL: unknown). */
INLINE_AVX2 void compare_coded(const void *thresholds, ptrdiff_t m, const void *x, ptrdiff_t n, int is_double,
                               const int64_t *hits, int once, uint32_t *counts) {
#define CODE_OF(i) ((int16_t)(CODE(&codes, thresholds, i) - 32768))
    int16_t code[CODED + 16], of[4];
    uint32_t above[4], equal, below = (uint32_t)n;
    const Codes codes = choose_codes(thresholds, m, is_double, CODES);
    const ptrdiff_t padded = (n + 15) & ~(ptrdiff_t)15;
    ptrdiff_t i, first[5];
    CODE_ITEMS(&codes, x, n, is_double, 1, (uint16_t *)code);
    first[0] = 0;
    while (first[0] < m) {
        int together = 0;
        uint32_t known = 0; /* the least number of scores with these codes; more only if scores or codes tie */
        while (together < 4 && first[together] < m) { /* thresholds with the same code are counted together */
            ptrdiff_t next = first[together];
            of[together] = CODE_OF(next);
            do known += once ? 1 : hits != NULL ? (uint32_t)hits[next] : 0;
            while (++next < m && CODE_OF(next) == of[together]);
            first[++together] = next;
        }
        if (together == 4) equal = compare_codes(code, padded, of, 4, above);
        else if (together == 3) equal = compare_codes(code, padded, of, 3, above);
        else if (together == 2) equal = compare_codes(code, padded, of, 2, above);
        else equal = compare_codes(code, padded, of, 1, above);
        /* If many scores tie, a branch for each costs more than comparing all. */
        if (equal > known + (is_double ? 4 : 1) * MANY_EQUAL && first[together] == first[0] + together) {
            below = compare_few(thresholds, first[0], together, x, n, is_double, below, counts);
            first[0] = first[together];
            continue;
        }
        for (int t = 0; t < together; t++) {
            const ptrdiff_t start = first[t], stop = first[t + 1];
            uint32_t between = below - above[t]; /* above the previous threshold, and not above this threshold */
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
#undef CODE_OF
}

#define SHORT_BLOCK 100 /* up to so many doubles, or twice as many floats, codes and cells cost more than they save */
#define FEW_PAIRS 2700  /* the same for more scores, with few thresholds: the most pairs of a score and a threshold */

/* Whether comparing each score with each threshold is the fastest way. */
static inline int few_pairs(ptrdiff_t m, ptrdiff_t n, int is_double) {
    const ptrdiff_t doubles = is_double ? n : n / 2;
    return m <= (is_double ? 2 : 4) || doubles <= SHORT_BLOCK || doubles * (m + 4) <= FEW_PAIRS;
}

INLINE_AVX2 void compare_pairs(const void *thresholds, ptrdiff_t m, const void *x, ptrdiff_t n, int is_double,
                               uint32_t *counts) {
    uint32_t below = (uint32_t)n;
    ptrdiff_t start = 0;
    for (; start + 4 <= m; start += 4) below = compare_few(thresholds, start, 4, x, n, is_double, below, counts);
    if (start < m) below = compare_few(thresholds, start, m - start, x, n, is_double, below, counts);
    counts[2 * m] += below;
}

/* Counts n scores, at most CODED. With `whole` they are the whole ranking, so that each threshold occurs at least `hits`
 * times (NULL: once), and more often if scores tie. */
AVX2 static void simd_compare_float(const float *thresholds, ptrdiff_t m, const float *x, ptrdiff_t n, int whole,
                                    const int64_t *hits, uint32_t *counts) {
    if (few_pairs(m, n, 0)) compare_pairs(thresholds, m, x, n, 0, counts);
    else if (m > CELLS_FROM && m <= SHORT_MOST) compare_cells(thresholds, m, x, n, 0, counts);
    else compare_coded(thresholds, m, x, n, 0, whole ? hits : NULL, whole && hits == NULL, counts);
}

AVX2 static void simd_compare_double(const double *thresholds, ptrdiff_t m, const double *x, ptrdiff_t n, int whole,
                                     const int64_t *hits, uint32_t *counts) {
    if (few_pairs(m, n, 1)) compare_pairs(thresholds, m, x, n, 1, counts);
    else if (m > CELLS_FROM && m <= SHORT_MOST) compare_cells(thresholds, m, x, n, 1, counts);
    else compare_coded(thresholds, m, x, n, 1, whole ? hits : NULL, whole && hits == NULL, counts);
}

#else

static inline int simd_available(void) { return 0; }
static inline int simd_crowded(const void *t, ptrdiff_t m, int d) { return (void)t, (void)m, (void)d, 0; }
static inline void simd_sort_float(float *x, ptrdiff_t n) { (void)x, (void)n; }
static inline void simd_sort_double(double *x, ptrdiff_t n) { (void)x, (void)n; }
static inline int simd_nan_float(const float *x, ptrdiff_t n) { return (void)x, (void)n, 0; }
static inline int simd_nan_double(const double *x, ptrdiff_t n) { return (void)x, (void)n, 0; }
static inline void simd_flags(const void *l, ptrdiff_t n, int w, uint8_t *f) { (void)l, (void)n, (void)w, (void)f; }
static inline ptrdiff_t simd_labels(const uint8_t *l, ptrdiff_t n, uint64_t *m, uint8_t *s) {
    (void)l, (void)n, (void)m, (void)s;
    return 0;
}
static inline void simd_places(const uint64_t *m, ptrdiff_t n, uint16_t *p) { (void)m, (void)n, (void)p; }
static inline void simd_slots(const void *x, ptrdiff_t n, int d, int64_t l, uint32_t s, uint32_t *o) {
    (void)x, (void)n, (void)d, (void)l, (void)s, (void)o;
}
static inline int simd_buckets(const void *x, ptrdiff_t n, int d, int32_t l, int32_t g, uint32_t s, uint32_t a,
                               const uint32_t *p, uint32_t *b) {
    (void)x, (void)n, (void)d, (void)l, (void)g, (void)s, (void)a, (void)p, (void)b;
    return 0;
}
static inline void simd_compare_float(const float *t, ptrdiff_t m, const float *x, ptrdiff_t n, int w, const int64_t *h,
                               uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)w, (void)h, (void)c;
}
static inline void simd_compare_double(const double *t, ptrdiff_t m, const double *x, ptrdiff_t n, int w, const int64_t *h,
                                uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)w, (void)h, (void)c;
}

#endif
#endif
