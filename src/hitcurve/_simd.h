/* The two hot loops of _count.pyx for AVX2: compiled beside the portable ones and chosen at import, so that one wheel
 * runs on every x86-64. A function attribute, vector types and a CPU check are what Cython has no words for.
 *
 * Both count n scores against m sorted distinct thresholds: counts[2i] += scores between threshold i-1 and i,
 * counts[2i+1] += scores equal to threshold i. (An infinite score above all thresholds may be counted in 2m+1 in place
 * of 2m, as it equals the tree's padding; whoever sums up adds the two.) The results are those of the portable loops: only comparisons and whole
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

/* ---- Each threshold with all scores. ---- */

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

/* ---- Each score down the tree. ----
 *
 * The tree lies breadth first, root at 1. The upper levels fit vector registers: the node that each lane stands at is
 * picked out of them by a permutation on its place within the level, 8 floats or 4 doubles at a time. Below that a
 * place is a load, and lanes go on one by one, interleaved.
 */

#define FLOAT_LEVELS 6  /* upper levels done in registers */
#define DOUBLE_LEVELS 5

INLINE_AVX2 __m256 nodes_float(const float *level, int depth, __m256i place) {
    __m256 p[8];
    __m256i by8, by16, by32;
    if (depth == 0) return _mm256_set1_ps(level[0]);
    p[0] = _mm256_permutevar8x32_ps(_mm256_loadu_ps(level), place);
    if (depth <= 3) return p[0];
    by8 = _mm256_slli_epi32(place, 28); /* bit 3 as the sign, which a blend looks at */
    for (int i = 1; i < 1 << (depth - 3); i++) p[i] = _mm256_permutevar8x32_ps(_mm256_loadu_ps(level + 8 * i), place);
    for (int i = 0; i < 1 << (depth - 4); i++)
        p[i] = _mm256_blendv_ps(p[2 * i], p[2 * i + 1], _mm256_castsi256_ps(by8));
    if (depth == 4) return p[0];
    by16 = _mm256_slli_epi32(place, 27);
    for (int i = 0; i < 1 << (depth - 5); i++)
        p[i] = _mm256_blendv_ps(p[2 * i], p[2 * i + 1], _mm256_castsi256_ps(by16));
    if (depth == 5) return p[0];
    by32 = _mm256_slli_epi32(place, 26);
    return _mm256_blendv_ps(p[0], p[1], _mm256_castsi256_ps(by32));
}

/* `upper` is a constant wherever this is called, so that its loops unroll. */
INLINE_AVX2 ptrdiff_t search_float(const float *thresholds, ptrdiff_t m, const float *tree, int upper, int levels,
                                   const float *x, ptrdiff_t n, uint32_t *counts) {
    enum { TOGETHER = 32 };
    const ptrdiff_t last = ((ptrdiff_t)1 << levels) - 1;
    const float beyond = thresholds[last < m ? last : m]; /* what lies behind the tree's last threshold */
    ptrdiff_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER) {
        uint32_t place[TOGETHER];
        for (int g = 0; g < TOGETHER; g += 8) {
            __m256 v = _mm256_loadu_ps(x + i + g);
            __m256 reached = _mm256_set1_ps(beyond); /* the least threshold not below v: the last one turned left at */
            __m256i p = _mm256_setzero_si256();
            for (int depth = 0; depth < upper; depth++) {
                __m256 node = nodes_float(tree + ((size_t)1 << depth), depth, p);
                __m256 less = _mm256_cmp_ps(node, v, _CMP_LT_OQ);
                p = _mm256_sub_epi32(_mm256_add_epi32(p, p), _mm256_castps_si256(less));
                if (levels == upper) reached = _mm256_blendv_ps(node, reached, less);
            }
            if (levels == upper)
                p = _mm256_sub_epi32(_mm256_add_epi32(p, p), _mm256_castps_si256(_mm256_cmp_ps(reached, v, _CMP_EQ_OQ)));
            _mm256_storeu_si256((__m256i *)(place + g), p);
        }
        if (levels == upper) {
            for (int j = 0; j < TOGETHER; j++) counts[place[j]] += 1;
            continue;
        }
        for (int j = 0; j < TOGETHER; j++) place[j] += 1u << upper;
        for (int depth = upper; depth < levels; depth++)
            for (int j = 0; j < TOGETHER; j++) place[j] = 2 * place[j] + (tree[place[j]] < x[i + j]);
        for (int j = 0; j < TOGETHER; j++) {
            place[j] -= 1u << levels;
            counts[2 * (size_t)place[j] + (thresholds[place[j]] == x[i + j])] += 1;
        }
    }
    return i;
}

/* Returns how many scores were counted; fewer than 32 are left over. */
AVX2 static ptrdiff_t simd_search_float(const float *thresholds, ptrdiff_t m, const float *tree, int levels,
                                        const float *x, ptrdiff_t n, uint32_t *counts) {
    switch (levels) {
    case 1: return search_float(thresholds, m, tree, 1, 1, x, n, counts);
    case 2: return search_float(thresholds, m, tree, 2, 2, x, n, counts);
    case 3: return search_float(thresholds, m, tree, 3, 3, x, n, counts);
    case 4: return search_float(thresholds, m, tree, 4, 4, x, n, counts);
    case 5: return search_float(thresholds, m, tree, 5, 5, x, n, counts);
    case 6: return search_float(thresholds, m, tree, 6, 6, x, n, counts);
    case 7: return search_float(thresholds, m, tree, 7, 7, x, n, counts);
    default: return search_float(thresholds, m, tree, FLOAT_LEVELS, levels, x, n, counts);
    }
}

INLINE_AVX2 __m256d nodes_double(const double *level, int depth, __m256i place) {
    __m256d p[8];
    __m256i pair, by4, by8, by16;
    if (depth == 0) return _mm256_set1_pd(level[0]);
    /* A double is two 32-bit halves: their numbers are 2 * place and 2 * place + 1. */
    pair = _mm256_castps_si256(_mm256_moveldup_ps(_mm256_castsi256_ps(place)));
    pair = _mm256_add_epi32(_mm256_add_epi32(pair, pair), _mm256_set1_epi64x((long long)1 << 32));
#define PICK(at) \
    _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(_mm256_loadu_pd(at)), pair))
    p[0] = PICK(level);
    if (depth <= 2) return p[0];
    by4 = _mm256_slli_epi64(place, 61);
    for (int i = 1; i < 1 << (depth - 2); i++) p[i] = PICK(level + 4 * i);
#undef PICK
    for (int i = 0; i < 1 << (depth - 3); i++)
        p[i] = _mm256_blendv_pd(p[2 * i], p[2 * i + 1], _mm256_castsi256_pd(by4));
    if (depth == 3) return p[0];
    by8 = _mm256_slli_epi64(place, 60);
    for (int i = 0; i < 1 << (depth - 4); i++)
        p[i] = _mm256_blendv_pd(p[2 * i], p[2 * i + 1], _mm256_castsi256_pd(by8));
    if (depth == 4) return p[0];
    by16 = _mm256_slli_epi64(place, 59);
    return _mm256_blendv_pd(p[0], p[1], _mm256_castsi256_pd(by16));
}

INLINE_AVX2 ptrdiff_t search_double(const double *thresholds, ptrdiff_t m, const double *tree, int upper, int levels,
                                    const double *x, ptrdiff_t n, uint32_t *counts) {
    enum { TOGETHER = 16 };
    const ptrdiff_t last = ((ptrdiff_t)1 << levels) - 1;
    const double beyond = thresholds[last < m ? last : m];
    ptrdiff_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER) {
        uint64_t place[TOGETHER];
        for (int g = 0; g < TOGETHER; g += 4) {
            __m256d v = _mm256_loadu_pd(x + i + g);
            __m256d reached = _mm256_set1_pd(beyond);
            __m256i p = _mm256_setzero_si256();
            for (int depth = 0; depth < upper; depth++) {
                __m256d node = nodes_double(tree + ((size_t)1 << depth), depth, p);
                __m256d less = _mm256_cmp_pd(node, v, _CMP_LT_OQ);
                p = _mm256_sub_epi64(_mm256_add_epi64(p, p), _mm256_castpd_si256(less));
                if (levels == upper) reached = _mm256_blendv_pd(node, reached, less);
            }
            if (levels == upper)
                p = _mm256_sub_epi64(_mm256_add_epi64(p, p), _mm256_castpd_si256(_mm256_cmp_pd(reached, v, _CMP_EQ_OQ)));
            _mm256_storeu_si256((__m256i *)(place + g), p);
        }
        if (levels == upper) {
            for (int j = 0; j < TOGETHER; j++) counts[place[j]] += 1;
            continue;
        }
        for (int j = 0; j < TOGETHER; j++) place[j] += (uint64_t)1 << upper;
        for (int depth = upper; depth < levels; depth++)
            for (int j = 0; j < TOGETHER; j++) place[j] = 2 * place[j] + (tree[place[j]] < x[i + j]);
        for (int j = 0; j < TOGETHER; j++) {
            place[j] -= (uint64_t)1 << levels;
            counts[2 * place[j] + (thresholds[place[j]] == x[i + j])] += 1;
        }
    }
    return i;
}

/* Returns how many scores were counted; fewer than 16 are left over. */
AVX2 static ptrdiff_t simd_search_double(const double *thresholds, ptrdiff_t m, const double *tree, int levels,
                                         const double *x, ptrdiff_t n, uint32_t *counts) {
    switch (levels) {
    case 1: return search_double(thresholds, m, tree, 1, 1, x, n, counts);
    case 2: return search_double(thresholds, m, tree, 2, 2, x, n, counts);
    case 3: return search_double(thresholds, m, tree, 3, 3, x, n, counts);
    case 4: return search_double(thresholds, m, tree, 4, 4, x, n, counts);
    case 5: return search_double(thresholds, m, tree, 5, 5, x, n, counts);
    default: return search_double(thresholds, m, tree, DOUBLE_LEVELS, levels, x, n, counts);
    }
}

#else

static int simd_available(void) { return 0; }
static void simd_compare_float(const float *t, ptrdiff_t m, const float *x, ptrdiff_t n, uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)c;
}
static void simd_compare_double(const double *t, ptrdiff_t m, const double *x, ptrdiff_t n, uint32_t *c) {
    (void)t, (void)m, (void)x, (void)n, (void)c;
}
static ptrdiff_t simd_search_float(const float *t, ptrdiff_t m, const float *e, int l, const float *x, ptrdiff_t n,
                                   uint32_t *c) {
    (void)t, (void)m, (void)e, (void)l, (void)x, (void)n, (void)c;
    return 0;
}
static ptrdiff_t simd_search_double(const double *t, ptrdiff_t m, const double *e, int l, const double *x, ptrdiff_t n,
                                    uint32_t *c) {
    (void)t, (void)m, (void)e, (void)l, (void)x, (void)n, (void)c;
    return 0;
}

#endif
#endif
