/* The loop of _count.pyx that compares each threshold with all scores, for AVX2: compiled beside the portable one and
 * chosen at import, so that one wheel runs on every x86-64. A function attribute, vector types and a CPU check are what
 * Cython has no words for.
 *
 * n scores are counted against m sorted distinct thresholds: counts[2i] += scores between threshold i-1 and i,
 * counts[2i+1] += scores equal to threshold i. The results are those of the portable loop: only comparisons and whole
 * numbers are involved.
 */
#ifndef HITCURVE_SIMD_H
#define HITCURVE_SIMD_H

#include <stddef.h>
#include <stdint.h>

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#define HITCURVE_AVX2 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#define INLINE_AVX2 static inline __attribute__((always_inline, target("avx2")))

static int simd_available(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? 1 : 0;
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

AVX2 static void simd_compare_float(const float *thresholds, ptrdiff_t m, const float *x, ptrdiff_t n, uint32_t *counts) {
    uint32_t below = (uint32_t)n;
    ptrdiff_t t = 0;
    for (; t + 4 <= m; t += 4) below = compare_float(thresholds + t, 4, x, n, below, counts + 2 * t);
    if (m - t == 3) below = compare_float(thresholds + t, 3, x, n, below, counts + 2 * t);
    if (m - t == 2) below = compare_float(thresholds + t, 2, x, n, below, counts + 2 * t);
    if (m - t == 1) below = compare_float(thresholds + t, 1, x, n, below, counts + 2 * t);
    counts[2 * m] += below;
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

AVX2 static void simd_compare_double(const double *thresholds, ptrdiff_t m, const double *x, ptrdiff_t n,
                                     uint32_t *counts) {
    uint32_t below = (uint32_t)n;
    ptrdiff_t t = 0;
    for (; t + 4 <= m; t += 4) below = compare_double(thresholds + t, 4, x, n, below, counts + 2 * t);
    if (m - t == 3) below = compare_double(thresholds + t, 3, x, n, below, counts + 2 * t);
    if (m - t == 2) below = compare_double(thresholds + t, 2, x, n, below, counts + 2 * t);
    if (m - t == 1) below = compare_double(thresholds + t, 1, x, n, below, counts + 2 * t);
    counts[2 * m] += below;
}

#else

static int simd_available(void) { return 0; }
static void simd_compare_float(const float *t, ptrdiff_t m, const float *x, ptrdiff_t n, uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)c;
}
static void simd_compare_double(const double *t, ptrdiff_t m, const double *x, ptrdiff_t n, uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)c;
}

#endif
#endif
