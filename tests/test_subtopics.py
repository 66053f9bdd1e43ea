"""Rankings of items with subtopics: every measure of diversity against its slow twin, and every way in."""

import pickle
from fractions import Fraction
from math import comb, isnan

import numpy as np
import pytest
import reference
import register
from examples import few
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.curves.subtopic_sets import drawn_pool
from hitcurve.measures import parse

ROWS = [row for row in register.MEASURES if "subtopics" in row.of]
NAMES = [(row, name, keywords) for row in ROWS for name, keywords in row.written]
METHODS = [pytest.param(row, id=row.name) for row in ROWS]
IDEALS = ("alpha_ndcg", "nerr_ia", "nnrbp")
RNG = np.random.default_rng(0)


def drawn(rng, most=30, width=3, levels=(0, 0, 0, 1, 2), distinct=4, unretrieved=4):
    """(levels, scores, levels of what was never retrieved) of a query."""
    n = int(rng.integers(1, most + 1))
    scores = rng.integers(-distinct, distinct, n) / 4
    return rng.choice(levels, (n, width)), scores, rng.choice(levels, (int(rng.integers(0, unretrieved)), width))


QUERIES = [drawn(np.random.default_rng(seed)) for seed in range(8)]
QUERIES[3] = np.zeros_like(QUERIES[3][0]), QUERIES[3][1], QUERIES[3][2][:0]  # nothing is relevant
LABELS, SCORES = (np.concatenate([query[i] for query in QUERIES]) for i in (0, 1))
OFFSETS = np.cumsum([0, *(len(query[1]) for query in QUERIES)])
MISSING = [query[2] for query in QUERIES]


def by_offsets(**options):
    return hc.SubtopicCurves(LABELS, SCORES, offsets=OFFSETS, unretrieved=MISSING, **options)


MANY = by_offsets()


def assert_value(found, wanted, **where):
    wanted = float(wanted)
    if isnan(wanted):
        assert isnan(found), where
    else:
        assert found == pytest.approx(wanted, rel=1e-13, abs=1e-15), where


# --- the twins ------------------------------------------------------------------------------------------------------


@few(14)
@given(st.data())
def test_any_items_have_the_numbers_of_the_twin(data):
    """By all orders of the tied items, in exact fractions. Best and worst are those of the twin, or refused."""
    width = data.draw(st.integers(1, 3))
    level = st.tuples(*[st.sampled_from([0, 0, 1, 2])] * width)
    items = data.draw(st.lists(st.tuples(level, st.sampled_from([-0.5, 0.0, 1.5])), max_size=5))
    missing = data.draw(st.lists(level, max_size=2))
    levels, scores = [one for one, _ in items], [score for _, score in items]
    query = reference.topics_of_items(levels, scores, missing)
    curve = hc.SubtopicCurve(np.reshape(levels, (-1, width)), scores, unretrieved=np.reshape(missing, (-1, width)))
    for row, name, keywords in NAMES:
        values = {}
        for ties in register.ORDERS:
            try:
                values[ties] = parse(name)(curve, ties)
            except ValueError as error:
                assert "items with different subtopics" in str(error)
                assert ties != "expected" and row.name != "P_IA"
                continue
            assert_value(values[ties], register.slow(row, keywords, query, ties), name=name, ties=ties)
        if len(values) == 3 and not isnan(values["best"]):
            assert values["worst"] <= values["expected"] + 1e-13 <= values["best"] + 2e-13


@pytest.mark.parametrize("weights", [[0.5, 0.25, 1.0], [0.0, 2.0, 1.0]])
@pytest.mark.parametrize("method", ["precision_ia", "average_precision_ia", "err_ia", "nerr_ia"])
def test_weights_of_subtopics(method, weights):
    rng = np.random.default_rng(5)
    for _ in range(8):
        levels, scores, missing = drawn(rng, 5)
        query = reference.topics_of_items(levels.tolist(), scores.tolist(), missing.tolist())
        curve = hc.SubtopicCurve(levels, scores, subtopics="abc", unretrieved=missing)
        for k in (1, 3):
            wanted = getattr(reference, method)(query, k, weights=weights)
            for form in (weights, dict(zip("abc", weights, strict=True)), [weights]):
                assert_value(getattr(curve, method)(k, weights=form), wanted)
            for ties in register.ORDERS[1:] if method == "precision_ia" else ():
                wanted = reference.precision_ia(query, k, weights=weights, ties=ties)
                assert_value(curve.precision_ia(k, weights=weights, ties=ties), wanted)
    each = np.random.default_rng(1).random((len(MANY), 3))
    found = getattr(MANY, method)([2, 5], weights=each)
    for q, curve in enumerate(MANY):
        np.testing.assert_array_equal(found[q], getattr(curve, method)([2, 5], weights=each[q]))


ALPHAS = (0.0, 1e-9, 0.001, 0.5, 1.0)
FADES = ("alpha_dcg", "err_ia", "nrbp")
LARGE_GROUPS = {  # (items, relevant ones, items above, cutoff): pairs of an alpha and a fade that are not slow
    (300, 7, 3, None): ((0.5, "alpha_dcg"), (0.001, "err_ia"), (1e-9, "nrbp"), (0.0, "err_ia"), (1.0, "alpha_dcg")),
    (4200, 3, 0, None): ((0.001, "nrbp"), (1.0, "err_ia")),
    (4200, 8, 11, 4130): ((1e-9, "alpha_dcg"),),
    (600, 250, 2, None): ((0.5, "nrbp"), (0.001, "alpha_dcg"), (0.0, "nrbp")),
    (4200, 4199, 0, 4190): ((0.5, "err_ia"),),
    (4200, 20, 11, 4000): (), (6000, 2500, 2, None): (), (5000, 4999, 0, 4990): (),
}  # fmt: skip


@pytest.mark.parametrize(("alpha", "group", "fade"), [
    pytest.param(alpha, group, fade, marks=() if (alpha, fade) in usual else pytest.mark.slow)
    for group, usual in LARGE_GROUPS.items() for alpha in ALPHAS for fade in FADES
])  # fmt: skip
def test_large_tie_groups(alpha, group, fade):
    """The mean over the orders of a group, from the chance to reach each place, with 50 digits."""
    mp, (n, m, above, k) = reference.mp, group
    labels, scores = np.zeros((n + above, 1), np.uint8), np.zeros(n + above)
    scores[:above] = np.arange(above, 0, -1)
    labels[:1] = above > 0
    labels[above : above + m] = 1
    q, total = 1 - mp.mpf(alpha), mp.mpf(1 if above else 0)
    last = min(n, n if k is None else k - above)
    for place, chance in enumerate(means_of_powers(n, m, q, last), 1):
        rank = above + place
        shrink = {"err_ia": "rank", "alpha_dcg": "log"}.get(fade)
        shrink = mp.mpf(0.9) ** (rank - 1) if shrink is None else reference.mpf(reference.faded(shrink, rank))
        total += (q if above else 1) * mp.mpf(m) / n * chance * shrink
    total *= {"alpha_dcg": 1, "err_ia": mp.mpf(alpha), "nrbp": 1 - q * mp.mpf(0.9)}[fade]
    curve = hc.SubtopicCurve(labels, scores)
    found = getattr(curve, fade)(k, alpha=alpha, **({"beta": 0.9} if fade == "nrbp" else {}))
    assert found == pytest.approx(float(total), rel=3e-14)


@reference.remembered
def means_of_powers(n, m, q, last):
    """For s = 0, 1, ..., last - 1: the mean of q^X, where X of m - 1 items are among s of n - 1."""
    mp, N, M = reference.mp, n - 1, m - 1
    found = []
    if M <= 40:  # by the chance of each X
        none = mp.mpf(1)  # the chance that X is 0
        for s in range(last):
            least = max(0, s - N + M)
            chance = none if least == 0 else mp.mpf(comb(M, least) * comb(N - M, s - least)) / comb(N, s)
            total = mp.mpf(0)
            for x in range(least, min(M, s) + 1):
                total += chance * q**x
                chance *= mp.mpf((M - x) * (s - x)) / ((x + 1) * (N - M - s + x + 1))
            found.append(total)
            none *= mp.mpf(max(0, N - M - s)) / max(1, N - s)
        return found
    with mp.workdps(n // 3 + 100):  # by the recurrence in s, which loses digits
        before, now, a = mp.mpf(0), mp.mpf(1), 1 - q
        for s in range(last):
            found.append(now)
            if s < N:
                before, now = now, ((N - 2 * s + s * a - M * a) * now + s * q * before) / (N - s)
    return [+one for one in found]


def test_the_value_of_alpha_decides_continuously():
    for method in ("alpha_dcg", "alpha_ndcg", "nerr_ia", "nrbp", "nnrbp"):
        for end, near in ((0.0, 1e-13), (1.0, 1 - 1e-13)):
            np.testing.assert_allclose(
                getattr(MANY, method)(alpha=end), getattr(MANY, method)(alpha=near), rtol=1e-10, err_msg=method)


# --- the ideal order ------------------------------------------------------------------------------------------------


def test_the_greedy_order_is_not_the_best_one():
    """Five items of two subtopics each take one subtopic twice; the greedy order begins with the item of three."""
    labels = [[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1]]
    rng = np.random.default_rng(2)
    found = []
    for _ in range(200):
        curve = hc.SubtopicCurve(rng.integers(0, 2, (6, 5)), np.arange(6.0)[::-1])
        greedy, exact = curve.alpha_ndcg(4), curve.alpha_ndcg(4, ideal="exact")
        assert exact <= greedy * (1 + 1e-14) and exact <= 1 + 1e-14
        found.append(exact < greedy * (1 - 1e-9))
    assert any(found)
    curve = hc.SubtopicCurve(labels, [4, 3, 2, 1])
    assert curve.alpha_ndcg(2, ideal="exact") <= curve.alpha_ndcg(2)


def test_the_greedy_order_takes_the_first_of_equal_items():
    """The first two items add as much, but only one of them leaves the third item its whole gain."""
    items = [[1, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 0]]
    for order in ([0, 1, 2, 3], [1, 0, 2, 3]):
        levels = np.array(items)[order]
        query = reference.topics_of_items(levels.tolist(), [4, 3, 2, 1])
        for method in IDEALS:
            curve = hc.SubtopicCurve(levels, [4, 3, 2, 1])
            assert_value(getattr(curve, method)(3), getattr(reference, method)(query, 3))


def test_levels_do_not_change_the_greedy_order():
    flags = hc.SubtopicCurves(LABELS > 0, SCORES, offsets=OFFSETS, unretrieved=[one > 0 for one in MISSING])
    for k in (None, [1, 2, 5]):
        np.testing.assert_array_equal(MANY.alpha_ndcg(k, alpha=0.7), flags.alpha_ndcg(k, alpha=0.7))


def test_the_search_for_the_best_order_has_a_limit():
    labels = np.random.default_rng(0).integers(0, 2, (30, 12))
    words = r"ideal='exact': query 0 has .* takes at most 100000 steps: use ideal='greedy' or a smaller k"
    with pytest.raises(ValueError, match=words):
        hc.SubtopicCurve(labels, np.arange(30)).alpha_ndcg(ideal="exact")


# --- every way in ---------------------------------------------------------------------------------------------------


def values(curves, ties="expected"):
    found = {name: np.asarray(parse(name)(curves, ties)) for _, name, _ in NAMES if "exact" not in name}
    assert all(np.shape(one) == (len(curves),) for one in found.values())
    return found


def assert_same(curves, wanted=None, index=slice(None)):
    wanted = values(MANY) if wanted is None else wanted
    for name, found in values(curves).items():
        np.testing.assert_array_equal(found, wanted[name][index], name)


def padded():
    longest = max(len(query[1]) for query in QUERIES) + 2
    labels = np.full((len(QUERIES), longest, 3), np.nan)
    scores, mask = np.full((len(QUERIES), longest), np.nan), np.zeros((len(QUERIES), longest), bool)
    for q, (level, score, _) in enumerate(QUERIES):
        labels[q, 1 : len(score) + 1], scores[q, 1 : len(score) + 1], mask[q, 1 : len(score) + 1] = level, score, True
    return hc.SubtopicCurves(labels, scores, mask=mask, unretrieved=MISSING)


def of_qid(order=None, make=np.asarray):
    qid = np.repeat([f"q{q}" for q in range(len(QUERIES))], np.diff(OFFSETS))
    order = np.arange(len(qid)) if order is None else order
    return hc.SubtopicCurves(make(LABELS[order]), make(SCORES[order]), qid=make(qid[order]), unretrieved=MISSING)


def by_turns():
    """The items of all queries in turn, so that the order within a query stays."""
    place = np.concatenate([np.arange(n) for n in np.diff(OFFSETS)])
    return np.argsort(place, kind="stable")


WAYS = {
    "workers": lambda: by_offsets(workers=2), "mask": padded, "qid": of_qid, "unsorted qid": lambda: of_qid(by_turns()),
    "lists": lambda: of_qid(make=np.ndarray.tolist), "pickle": lambda: pickle.loads(pickle.dumps(MANY)),
    "lower": lambda: hc.SubtopicCurves(LABELS, -SCORES, offsets=OFFSETS, unretrieved=MISSING, lower_is_better=True),
    "float levels": lambda: hc.SubtopicCurves(
        LABELS / 1.0, SCORES, offsets=OFFSETS, unretrieved=[one / 1.0 for one in MISSING]),
    "float32": lambda: hc.SubtopicCurves(
        LABELS.astype("f4"), SCORES.astype("f4"), offsets=OFFSETS, unretrieved=MISSING),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_same_bits(way):
    curves = WAYS[way]()
    assert_same(curves)
    if way not in ("lower", "float32"):
        assert [*curves] == [*MANY] and [*map(hash, curves)] == [*map(hash, MANY)]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_columns_of_a_frame_are_subtopics(kind):
    module = pytest.importorskip(kind)
    columns = {"car": LABELS[:, 0], "cat": LABELS[:, 1], "é": LABELS[:, 2]}
    frame = module.table(columns) if kind == "pyarrow" else module.DataFrame(columns)
    found = hc.SubtopicCurves(frame, SCORES, offsets=OFFSETS, unretrieved=MISSING)
    assert found == by_offsets(subtopics=["car", "cat", "é"])
    one = hc.SubtopicCurve(frame, SCORES)
    assert one.subtopics == hc.SubtopicCurve.from_ranked(frame).subtopics == ("car", "cat", "é")
    wanted = hc.SubtopicCurve(LABELS, SCORES).err_ia(weights=[1, 2, 1])
    assert one.err_ia(weights={"car": 1, "cat": 2, "é": 1}) == wanted
    assert hc.SubtopicCurve(frame, SCORES, subtopics="abc").subtopics == ("a", "b", "c")
    scores = {"a": SCORES, "b": SCORES[::-1].copy()}
    how = {"rng": 1, "n_resamples": 99}
    assert hc.compare(frame, scores, **how).rows == hc.compare(LABELS, scores, **how).rows


def test_a_pickle_whose_relevant_items_are_wrong_reads_no_other_memory():
    make, parts = MANY.__reduce__()
    for code in range(1, 4):
        curves = make(*parts[:-1], np.full_like(parts[-1], code))
        assert len(curves.subtopic_recall()) == len(QUERIES) and (curves.num_subtopics() <= 3).all()


def test_one_ranking_gives_the_bits_of_many():
    wanted = values(MANY)
    for q, (level, score, missing) in enumerate(QUERIES):
        alone = hc.SubtopicCurve(level, score, unretrieved=missing)
        for curve in (MANY[q], alone, pickle.loads(pickle.dumps(MANY[q]))):
            assert curve == MANY[q]
            for name, found in wanted.items():
                value = curve.measure(name)
                assert type(value) is float
                np.testing.assert_array_equal(value, found[q], name)
    assert len(MANY) == len([*MANY]) == len(QUERIES)


def test_the_order_of_items_decides_only_ties_of_the_greedy_order():
    order = np.random.default_rng(3).permutation(len(LABELS))
    wanted = values(MANY)
    for name, found in values(of_qid(order)).items():
        if parse(name).record.method not in IDEALS:
            np.testing.assert_array_equal(found, wanted[name], name)


@pytest.mark.parametrize("width", [1, 3, 8, 9, 33, 65, pytest.param(200, marks=pytest.mark.slow)])
def test_many_subtopics_and_levels(width):
    """The codes of items come from bits, from whole numbers or from sorted rows."""
    rng = np.random.default_rng(width)
    for levels in ([0, 0, 0, 1], [0, 0, 3], [0, 0, 300], [0.0, 0.0, 0.5, 1.5]):
        labels = rng.choice(levels, (8, width))
        scores = rng.permutation(8)
        curve = hc.SubtopicCurve(labels, scores, unretrieved=labels[:2])
        wider = np.pad(labels, ((0, 0), (0, 1)))
        again = hc.SubtopicCurve(wider, scores, unretrieved=wider[:2])
        query = reference.topics_of_items(labels.tolist(), scores.tolist(), labels[:2].tolist())
        for name, keywords in (("alpha_ndcg", {}), ("precision_ia", {}), ("average_precision_ia", {}), ("nrbp", {})):
            wanted = getattr(reference, name)(query, 5, **keywords)
            assert_value(getattr(curve, name)(5, **keywords), wanted, name=name)
            np.testing.assert_array_equal(getattr(again, name)(5), getattr(curve, name)(5))
        for j in range(0, width, 7):
            flags = labels[:, j] >= 0.5
            relevant = int(flags.sum() + flags[:2].sum())
            assert curve.subtopic(j, 0.5) == hc.HitCurve(flags, scores, num_relevant=relevant)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("levels", [[0, 0, 1], [0, 0, 1, 2], [0.0, 0.0, 0.5, 1.5]])
def test_ranked_items_give_the_bits_of_scores(levels, tied):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        labels, scores, missing = drawn(rng, 12, int(rng.integers(1, 10)), levels, 4 if tied else 10**6)
        order = np.argsort(-scores, kind="stable")
        labels, more = labels[order], int(rng.integers(0, 3))
        groups = np.append(np.unique(-scores, return_counts=True)[1], np.full(int(more > 0), more))
        curve = hc.SubtopicCurve(
            np.vstack([labels, np.zeros((more, labels.shape[1]))]), np.append(scores[order], [-1e9] * more),
            unretrieved=missing)
        options = {"num_items": len(labels) + more} if more or seed % 2 else {}
        if tied or more > 1:
            options["tied"] = groups
        ranked = hc.SubtopicCurve.from_ranked(labels, unretrieved=missing, **options)
        again = hc.SubtopicCurve.from_table(curve.score, curve.above, curve.tied, curve.hits, curve.levels,
                                            num_items=curve.num_items, unretrieved=curve.unretrieved)
        assert ranked.score is None and again.score.tolist() == curve.score.tolist()
        for _, name, _ in NAMES:
            if "exact" not in name:
                np.testing.assert_array_equal(ranked.measure(name), curve.measure(name), name)
            if parse(name).record.method not in IDEALS:
                np.testing.assert_array_equal(again.measure(name), curve.measure(name), name)
        assert curve.levels.tolist() == ranked.levels.tolist() == again.levels.tolist()
        assert sorted(curve.unretrieved.tolist()) == sorted(missing[missing.any(axis=1)].tolist())
        assert again.highest_levels() == curve.highest_levels()


def test_a_table_in_the_order_of_the_input_is_the_curve():
    labels = np.array([[1, 0], [2, 1], [0, 0], [0, 1], [1, 0]])
    for scores, lower in (([9, 7, 7, 5, 1], False), ([1, 2, 2, 8, 9], True)):
        curve = hc.SubtopicCurve(labels, scores, subtopics="ab", unretrieved=[[0, 1]], lower_is_better=lower)
        made = hc.SubtopicCurve.from_table(
            curve.score, curve.above, curve.tied, curve.hits, curve.levels, num_items=curve.num_items,
            subtopics=curve.subtopics, unretrieved=curve.unretrieved, lower_is_better=lower)
        assert made == curve and pickle.loads(pickle.dumps(made)) == curve


@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
@pytest.mark.parametrize("width", [1, 3, 7, 8, 9, 20])
def test_an_item_is_found_wherever_it_is(width, dtype):
    """Levels are looked at eight rows at a time, and a row eight bytes at a time."""
    for n in (1, 7, 8, 9, 17):
        for place in range(n):
            labels = np.zeros((n, width), dtype)
            labels[place, place % width] = 1
            curve = hc.SubtopicCurve(labels, -np.arange(n))
            assert curve.above.tolist() == [place] and curve.subtopic(place % width).num_hits == 1


def test_a_level_may_be_minus_zero():
    labels = np.array([[[-0.0, -0.0], [1.0, -0.0]], [[-0.0, 2.0], [0.0, -0.0]]])
    assert [*hc.SubtopicCurves(labels, [[2, 1], [2, 1]])] == [*hc.SubtopicCurves(abs(labels), [[2, 1], [2, 1]])]


def test_a_subtopic_and_the_highest_levels_are_curves():
    level = LABELS.max(axis=1)
    missing = [one.max(axis=1) if len(one) else [] for one in MISSING]
    wanted = hc.GainCurves(level, SCORES, offsets=OFFSETS, unretrieved=missing)
    assert MANY.highest_levels() == wanted
    assert [curve.highest_levels() for curve in MANY] == [*wanted]
    for name in ("AP", "nDCG@5", "P(rel=2)@3", "Q"):
        np.testing.assert_array_equal(parse(name)(MANY), parse(name)(wanted))
        np.testing.assert_array_equal(parse(name).empty(MANY), parse(name).empty(wanted))
    for j in range(3):
        for rel in (1, 2):
            relevant = [(query[0][:, j] >= rel).sum() + (query[2][:, j] >= rel).sum() for query in QUERIES]
            hits = hc.HitCurves(LABELS[:, j] >= rel, SCORES, offsets=OFFSETS, num_relevant=relevant)
            assert MANY.subtopic(j, rel) == hits
            assert [curve.subtopic(j, rel) for curve in MANY] == [*hits]
    several = np.stack([MANY.subtopic(j).average_precision() for j in range(3)])
    for q, found in enumerate(MANY.average_precision_ia()):
        known = several[:, q][~np.isnan(several[:, q])]
        np.testing.assert_allclose(found, known.mean() if known.size else np.nan, rtol=1e-14)


def test_columns_of_scores_rank_the_same_items():
    scores = np.random.default_rng(8).integers(0, 6, (30, 4)) / 3
    labels = np.random.default_rng(9).integers(0, 2, (30, 5))
    curves = hc.SubtopicCurves(labels, scores)
    assert [*curves] == [hc.SubtopicCurve(labels, column) for column in scores.T]
    scores[3, 2] = np.nan
    curves = hc.SubtopicCurves(labels, scores, nan_policy="omit")
    assert [*curves] == [hc.SubtopicCurve(labels, column, nan_policy="omit") for column in scores.T]


@pytest.mark.parametrize("policy", ["worst", "omit"])
def test_nan_policy(policy):
    scores = SCORES.copy()
    scores[::5] = np.nan
    curves = hc.SubtopicCurves(LABELS, scores, offsets=OFFSETS, nan_policy=policy)
    for q, curve in enumerate(curves):
        level, score = LABELS[OFFSETS[q] : OFFSETS[q + 1]], scores[OFFSETS[q] : OFFSETS[q + 1]]
        kept = ~np.isnan(score) if policy == "omit" else np.ones(len(score), bool)
        wanted = hc.SubtopicCurve(level[kept], np.nan_to_num(score[kept], nan=-9.0))
        for _, name, _ in NAMES:
            if "exact" not in name:
                np.testing.assert_array_equal(curve.measure(name), wanted.measure(name))
    with pytest.raises(ValueError, match=r"y_score\[0\] is nan"):
        hc.SubtopicCurves(LABELS, scores, offsets=OFFSETS)


@pytest.mark.parametrize("key", ["order", "array"])
def test_tiebreak(key):
    """An order without ties: expected, best and worst are one value, that of the order."""
    tiebreak = "order" if key == "order" else np.random.default_rng(4).permutation(len(SCORES))
    curves = by_offsets(tiebreak=tiebreak)
    for ties in register.ORDERS[1:]:
        for name, found in values(curves, ties).items():
            np.testing.assert_array_equal(found, values(curves)[name], name)
    for q, curve in enumerate(curves):
        level, score, _ = QUERIES[q]
        own = np.arange(len(score)) if key == "order" else tiebreak[OFFSETS[q] : OFFSETS[q + 1]]
        order = np.lexsort((own, -score))
        query = reference.topics_of_items(level[order].tolist(), [-i for i in range(len(order))])
        assert_value(curve.precision_ia(4), reference.precision_ia(
            query._replace(pool=query.pool + tuple(map(tuple, MISSING[q].tolist()))), 4))


@pytest.mark.parametrize("row", METHODS)
def test_a_cutoff_is_an_element_of_many(row):
    ks = np.array([[1, 3, 5], [10, 40, 1000]])
    for curves in (MANY, MANY[2]):
        found = getattr(curves, row.method)(ks)
        assert found.shape == (*([len(curves)] if curves is MANY else []), 2, 3)
        each = [getattr(curves, row.method)(k) for k in ks.ravel().tolist()]
        np.testing.assert_array_equal(np.moveaxis(found, -2, 0).reshape(2, -1, 3) if curves is MANY else found,
                                      np.reshape(np.moveaxis(np.reshape(each, (2, 3, -1)), 1, 2), (2, -1, 3))
                                      if curves is MANY else np.reshape(each, (2, 3)))


def test_nothing_to_rank():
    empty = hc.SubtopicCurve(np.zeros((0, 2)), [])
    lost = hc.SubtopicCurve(np.zeros((0, 2)), [], unretrieved=[[1, 0]])
    assert empty.num_subtopics() == 0 and lost.num_subtopics() == 1 and bool(empty)
    for row in ROWS:
        value, found = getattr(empty, row.method)(3), getattr(lost, row.method)(3)
        assert isnan(value) or (row.name == "alpha_DCG" and value == 0)
        assert found == 0
    none = hc.SubtopicCurves(np.zeros((0, 2)), [], offsets=[0])
    assert len(none) == 0 and none.alpha_ndcg([1, 2]).shape == (0, 2) and isnan(none.mean("alpha_nDCG@2"))


# --- resamples of the items -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("levels", [[0, 0, 1], [0, 0, 1, 2]])
def test_the_resamples_of_one_subtopic_are_those_of_its_curve(levels, stratified):
    for seed in range(4):
        labels, scores, missing = drawn(np.random.default_rng(seed), 40, 1, levels)
        curve = hc.SubtopicCurve(labels, scores, unretrieved=missing)
        gains = hc.GainCurve(labels[:, 0], scores, unretrieved=missing[:, 0])
        how = {"rng": seed, "stratified": stratified}
        found = curve.resample(70, **how)
        assert found.highest_levels() == gains.resample(70, **how)
        if max(levels) == 1:
            hits = hc.HitCurve(labels[:, 0], scores, num_relevant=int(labels.sum() + missing.sum()))
            assert found.subtopic(0) == hits.resample(70, **how)
            wanted = hits.interval(method="bootstrap", n_resamples=70, **how)
            for name in ("AP", "AP_IA"):
                one = curve.interval(name, method="bootstrap", n_resamples=70, workers=1 + seed % 2, **how)
                np.testing.assert_array_equal(one.bootstrap_distribution, wanted.bootstrap_distribution)
                np.testing.assert_array_equal(one.confidence_interval, wanted.confidence_interval)


def test_items_are_drawn_with_all_their_subtopics():
    labels, scores, missing = drawn(np.random.default_rng(1), 30)
    labels[:, 2], missing[:, 2] = labels[:, 0], missing[:, 0]
    curve = hc.SubtopicCurve(labels, scores, subtopics="abc", unretrieved=missing)
    found = curve.resample(200, rng=0)
    assert found.subtopic("a") == found.subtopic("c") != found.subtopic("b")
    assert (found.num_items + found.num_relevant - found.num_hits == len(scores) + len(curve.unretrieved)).all()
    assert found.subtopics == ("a", "b", "c")
    assert pickle.loads(pickle.dumps(found)) == found == curve.resample(200, rng=0, workers=2)
    drawn_levels = np.vstack([found.levels, *found.unretrieved])
    assert {*map(tuple, drawn_levels.tolist())} <= {*map(tuple, np.vstack([labels, missing]).tolist())}
    for q, one in enumerate(found):
        assert one.alpha_ndcg() == found.alpha_ndcg()[q]


def test_the_distribution_is_that_of_all_resamples():
    """All 4^4 ways to draw four items, each by its slow twin: the mean and the spread of 20,000 resamples."""
    labels, scores = np.array([[1, 0], [1, 1], [0, 1], [0, 0]]), [3, 2, 2, 1]
    curve, draws = hc.SubtopicCurve(labels, scores), np.sort(list(np.ndindex(4, 4, 4, 4)))
    draws, times = np.unique(draws, axis=0, return_counts=True)
    resamples = curve.resample(20_000, rng=1)
    for name in ("err_ia", "alpha_dcg", "subtopic_recall"):
        values = []
        for items in draws:
            query = reference.topics_of_items(labels[items].tolist(), np.take(scores, items).tolist())
            values.append(float(getattr(reference, name)(query, 3)))
        values = np.repeat(values, times)
        found = np.asarray(getattr(resamples, name)(3))
        np.testing.assert_array_equal(np.isnan(found).any(), np.isnan(values).any())
        known = values[~np.isnan(values)]
        spread = known.std() / 20_000**0.5
        assert abs(np.nanmean(found) - known.mean()) < 5 * spread and abs(np.nanstd(found) / known.std() - 1) < 0.03


def test_the_pool_of_a_resample_keeps_the_order_of_the_input():
    pool = np.array([3, 1, 3, 2, 1, 3])
    for times in ([1, 1, 1], [2, 0, 3], [0, 5, 1], [7, 1, 1]):
        codes = np.repeat([1, 2, 3], np.multiply(times, [2, 1, 3]))
        bounds = [0, len(codes), 2 * len(codes)]
        starts, found = drawn_pool(hc.GainCurves(np.tile(codes, 2), np.arange(bounds[2]), offsets=bounds), pool)
        assert starts.tolist() == bounds
        wanted = np.repeat(pool, np.take(times, pool - 1))
        assert found.tolist() == [*wanted.tolist(), *wanted.tolist()]
    for curve in MANY:
        alone = hc.SubtopicCurves(curve.levels, -np.arange(len(curve.levels)), offsets=[0, len(curve.levels)],
                                  unretrieved=[curve.unretrieved])
        starts, found = drawn_pool(alone._table, alone[0]._pool[1])
        assert starts.tolist() == [0, len(found)] and found.tolist() == alone[0]._pool[1].tolist()


def test_intervals_and_comparisons_over_items():
    rng = np.random.default_rng(2)
    labels = rng.choice([0, 0, 0, 1, 2], (120, 3))
    scores = {name: rng.integers(0, 20, 120) + shift * labels.max(axis=1) for name, shift in (("a", 8), ("b", 2))}
    how = {"rng": 3, "n_resamples": 99}
    curves = {name: hc.SubtopicCurve(labels, score) for name, score in scores.items()}
    names = ["alpha_nDCG@5", "P_IA(rel=2)@10", "AP", "nDCG@5"]
    found = hc.compare(labels, scores, measures=names, **how)
    for row in found.systems:
        wanted = curves[row.system].interval(row.measure, **how)
        assert (row.value, row.low, row.high) == (wanted.estimate, *wanted.confidence_interval)
        assert wanted.estimate == curves[row.system].measure(row.measure)
    assert found.rows[0].low < found.rows[0].difference < found.rows[0].high
    assert hc.compare(labels.tolist(), scores, measures=names, workers=2, **how).rows == found.rows
    usual = hc.compare(labels, scores, **how)
    assert usual.systems[0].measure == "alpha_nDCG(alpha=0.5)"
    assert usual.systems[0].value == curves["a"].interval(**how).estimate
    groups = np.arange(120) // 12
    over = hc.compare(labels, scores, groups=groups, **how)
    by_group = {name: hc.SubtopicCurves(labels, score, qid=groups) for name, score in scores.items()}
    assert over.rows[0].difference == hc.compare(by_group, **how).rows[0].difference and over.unit == "groups"
    one = hc.compare(labels[:, :1] > 0, scores, measures=["AP", "AP_IA"], **how)
    plain = hc.compare(labels[:, 0] > 0, scores, measures="AP", **how).rows[0]
    assert [row[3:] for row in one.rows] == [plain[3:]] * 2
    missing = {name: np.where(groups == 3, np.nan, score) for name, score in scores.items()}
    kept = {name: score[groups != 3] for name, score in scores.items()}
    omitted = hc.compare(labels, missing, nan_policy="omit", **how)
    assert omitted.rows == hc.compare(labels[groups != 3], kept, **how).rows
    for call, words in (
        (lambda: curves["a"].interval(bootstrap_method="BCa"), "'BCa' is not available for items with levels"),
        (lambda: curves["a"].interval(method="logit"), "method='logit' is not available for alpha_nDCG"),
        (lambda: curves["a"].interval(ties="best"), "alpha_ndcg has no value for ties='best' here"),
        (lambda: hc.compare(labels, scores, relevance_level=2), "relevance_level cannot be combined with alpha_nDCG"),
        (lambda: hc.compare(labels[:, 0], scores, measures="P_IA@3"), "P_IA@3 needs items with subtopics"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_resamples_of_nothing():
    for labels, scores, missing in ((np.zeros((3, 2)), [1, 2, 3], None), (np.zeros((0, 2)), [], None),
                                    (np.zeros((0, 2)), [], [[1, 0]])):  # fmt: skip
        curve = hc.SubtopicCurve(labels, scores, unretrieved=missing)
        assert curve.resample(5).num_relevant.tolist() == [curve.num_relevant] * 5
        np.testing.assert_array_equal(curve.resample(5).alpha_ndcg(), [curve.alpha_ndcg()] * 5)
        assert isnan(curve.interval(n_resamples=9).confidence_interval.low) == (curve.num_relevant == 0)


def test_pictures_of_subtopics():
    pytest.importorskip("matplotlib")
    labels = [[1, 0, 0], [2, 1, 0], [0, 1, 0], [0, 0, 0]]
    curve = hc.SubtopicCurve(labels, [4, 3, 2, 1], subtopics=["a", "b", "none"])
    for kind in ("hits", "precision-recall", "roc"):
        display = curve.plot(kind, ax=hc.plot_figure().axes[0], band=0.9, n_resamples=20, rng=0)
        texts = display.get_legend_handles_labels()[1]
        assert [one.partition(" ")[0] for one in texts if one[:1] in "abn"] == ["a", "b"]
    hits = hc.plot_curves({"b": curve.subtopic("b")}, ax=hc.plot_figure().axes[0])
    wanted, found = (one.line_ for one in (hits, curve.plot(relevance_level=2, ax=hc.plot_figure().axes[0])))
    assert found.get_label() == "a" and wanted.get_label() == "b"
    with pytest.raises(ValueError, match="no subtopic has an item of level 3 or higher: there is nothing to draw"):
        curve.plot(relevance_level=3)
    with pytest.raises(TypeError, match=r"got SubtopicCurve: call its method plot"):
        hc.plot_curves({"a": curve})


# --- means, errors, words -------------------------------------------------------------------------------------------


def test_means_leave_out_empty_queries():
    for name in ("alpha_DCG@3", "alpha_nDCG@3", "P_IA@2", "AP"):
        found = np.delete(np.asarray(MANY.measure(name)), 3)
        assert MANY.mean(name) == pytest.approx(float(np.mean(found)), rel=1e-14)
        assert MANY.mean(name, empty="zero") == pytest.approx(float(np.sum(found)) / len(MANY), rel=1e-14)
    with pytest.raises(ValueError, match="query 3 has no relevant item"):
        MANY.mean("alpha_nDCG", empty="raise")
    found = MANY.interval("alpha_nDCG@5", rng=0, n_resamples=99)
    assert found.estimate == MANY.mean("alpha_nDCG@5")
    assert found.confidence_interval.low < found.estimate < found.confidence_interval.high


def test_comparisons_and_pictures_of_queries():
    other = hc.SubtopicCurves(LABELS, SCORES[::-1].copy(), offsets=OFFSETS, unretrieved=MISSING)
    compared = hc.compare({"one": MANY, "other": other}, rng=0, n_resamples=99)
    assert [row.measure for row in compared.systems] == ["alpha_nDCG(alpha=0.5)"] * 2
    assert compared.systems[0].value == MANY.mean("alpha_nDCG")
    pytest.importorskip("matplotlib")
    assert MANY.plot("queries").get_ylabel() == "alpha_nDCG(alpha=0.5)"


def test_best_and_worst_where_they_exist():
    labels = np.array([[1, 0], [0, 0], [1, 0], [0, 1], [0, 0], [0, 1]])
    curve = hc.SubtopicCurve(labels, [3, 3, 3, 1, 1, 1])
    query = reference.topics_of_items(labels.tolist(), [3, 3, 3, 1, 1, 1])
    for row, name, keywords in NAMES:
        for ties in register.ORDERS:
            assert_value(parse(name)(curve, ties), register.slow(row, keywords, query, ties))
    mixed = hc.SubtopicCurve([[1, 0], [0, 1], [1, 0], [0, 1]], [9, 8, 7, 7])
    assert mixed.alpha_ndcg(2, ties="best") == 1  # the tie group lies below
    for row in ROWS:
        if row.name != "P_IA":
            words = f"{row.method} has no value for ties='best' here: the tie group from rank 3 on"
            with pytest.raises(ValueError, match=words):
                getattr(mixed, row.method)(ties="best")
        with pytest.raises(ValueError, match="is not defined for ties='threshold': use 'expected', 'best' or 'worst'"):
            getattr(mixed, row.method)(ties="threshold")


ERRORS = [
    (lambda: hc.SubtopicCurve([1, 0], [2, 1]), r"y_true has shape \(2,\): the last axis must be that of the subtopics"),
    (lambda: hc.SubtopicCurve([[1, -1]], [1]), r"y_true\[0, 1\] is -1: a level must be finite and at least 0"),
    (lambda: hc.SubtopicCurve([[1, np.nan]], [1]), r"y_true\[0, 1\] is nan: a level must be finite"),
    (lambda: hc.SubtopicCurve([[1, 0]], [1, 2]), "y_true"),
    (lambda: hc.SubtopicCurve([[1, 0]], [1], subtopics=["a"]), "subtopics has 1 name, .* but y_true has 2 subtopics"),
    (lambda: hc.SubtopicCurve([[1, 0]], [1], subtopics="aa"), "subtopics has 2 names, 1 of them different"),
    (lambda: hc.SubtopicCurve([[1, 0]], [1], unretrieved=[[1]]),
     r"unretrieved has shape \(1, 1\), but y_true has 2 subtopics"),
    (lambda: hc.SubtopicCurve.from_ranked([1, 0]), r"levels has shape \(2,\): the last axis must be that of"),
    (lambda: hc.SubtopicCurve.from_ranked([[1, 0]], tied=[2]), "the sum of tied is 2, but there is 1 item"),
    (lambda: hc.SubtopicCurve.from_ranked([[1, 0]], tied=[1, 0]), r"tied\[1\] is 0: a tie group has at least 1 item"),
    (lambda: hc.SubtopicCurve.from_ranked([[1], [0]], num_items=1), "num_items is 1, but levels has 2 entries"),
    (lambda: hc.SubtopicCurve.from_ranked([[1]], unretrieved=[[1, 0]]), "but levels has 1 subtopic"),
    (lambda: hc.SubtopicCurve.from_table([2], [0], [1], [1], [[0, 0]], num_items=1),
     r"levels\[0\] is 0 for each subtopic: a hit is above level 0 for a subtopic"),
    (lambda: hc.SubtopicCurve.from_table([2], [0], [1], [1], [[1], [1]], num_items=1),
     "levels has 2 rows, but the sum of hits is 1"),
    (lambda: hc.SubtopicCurve.from_table([2, 1], [0, 0], [1, 1], [1, 1], [[1], [1]], num_items=2),
     r"above\[1\] is 0, but the rows before it hold 1 item"),
    (lambda: hc.SubtopicCurves(np.array([[[0, 1], [2, 0]], [[0, 0], [0, -3]]]), [[2, 1], [2, 1]]),
     r"y_true\[1, 1, 1\] is -3: a level must be finite and at least 0"),
    (lambda: hc.SubtopicCurve(np.float32([[0.1, 0], [0, np.inf]]), [2, 1]),
     r"y_true\[1, 1\] is inf: a level must be finite and at least 0"),
    (lambda: MANY.alpha_dcg(alpha=1.1), "alpha is 1.1: must be from 0 to 1"),
    (lambda: MANY.nrbp(beta=1), "beta is 1: must be between 0 and 1"),
    (lambda: MANY.alpha_dcg(0), "k is 0"),
    (lambda: MANY.alpha_dcg(relevance_level=0), "relevance_level is 0: must be above 0"),
    (lambda: MANY.alpha_dcg(normalize="min"), "normalize='min' is unknown: must be one of 'none', 'max'"),
    (lambda: MANY.alpha_ndcg(ideal="best"), "ideal='best' is unknown: must be one of 'greedy', 'exact'"),
    (lambda: MANY.err_ia(weights=[1, 2]), r"weights has shape \(2,\): there are 3 subtopics"),
    (lambda: MANY.err_ia(weights=[1, 2, -1]), r"weights\[0, 2\] is -1.0: a weight must be finite and at least 0"),
    (lambda: MANY.err_ia(weights={0: 1, 1: 1}), "weights has no subtopic 2: the subtopics are 0, 1, 2"),
    (lambda: MANY.err_ia(weights={0: 1, 1: 1, 2: 1, "x": 1}), "weights has 'x', which is no subtopic"),
    (lambda: MANY.subtopic("x"), "there is no subtopic 'x': the subtopics are 0, 1, 2"),
    (lambda: hc.HitCurve([1, 0], [2, 1]).measure("P_IA@1"),
     "P_IA@1 needs items with subtopics: use hitcurve.SubtopicCurve"),
    (lambda: hc.GainCurve([1, 0], [2, 1]).measure("alpha_nDCG"), "needs items with subtopics"),
    (lambda: parse("Bpref").reading(subtopics=True), "Bpref needs judgments with levels: use hitcurve.evaluate"),
    (lambda: parse("nDCG").reading("threshold", subtopics=True), "nDCG is not defined for ties='threshold'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), ERRORS)
def test_errors_name_the_argument_and_the_value(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_curves_are_immutable_and_print_their_size():
    with pytest.raises(TypeError, match="immutable"):
        MANY.__init__(LABELS, SCORES, offsets=OFFSETS)
    with pytest.raises(TypeError, match="immutable"):
        MANY[0].__init__(LABELS, SCORES)
    for curves in (MANY, MANY[0]):
        with pytest.raises(AttributeError):
            curves.note = "x"
        with pytest.raises(ValueError, match="read-only"):
            curves.above[0] = 1
    assert repr(MANY).startswith("SubtopicCurves(8 queries: ") and repr(MANY).endswith(", 3 subtopics)")
    assert repr(MANY[0]).startswith("SubtopicCurve(num_items=")
    assert "nDCG" in MANY._repr_html_() and "nDCG" in MANY[0]._repr_html_()
    assert MANY.subtopics == (0, 1, 2)
    assert MANY.num_subtopics().tolist() == [curve.num_subtopics() for curve in MANY]


def test_values_are_those_by_hand():
    """As the example of Clarke and others 2008, with nuggets of a question."""
    nuggets = ["85.1 85.2", "85.1", "85.1 85.3", "", "85.4 85.6", "85.1"]
    names = sorted({nugget for one in nuggets for nugget in one.split()})
    labels = [[name in one.split() for name in names] for one in nuggets]
    curve = hc.SubtopicCurve(labels, range(6, 0, -1), subtopics=names)
    gains = [2, Fraction(1, 2), Fraction(5, 4), 0, 2, Fraction(1, 8)]
    dcg = np.cumsum([float(gain) / np.log2(rank + 1) for rank, gain in enumerate(gains, 1)])
    np.testing.assert_allclose(curve.alpha_dcg(range(1, 7)), dcg, rtol=1e-14)


# --- ndeval -----------------------------------------------------------------------------------------------------------

OF_NDEVAL = {
    "P-IA": "precision_ia", "strec": "subtopic_recall", "MAP-IA": "average_precision_ia", "ERR-IA": "err_ia",
    "nERR-IA": "nerr_ia", "alpha-DCG": "alpha_dcg", "alpha-nDCG": "alpha_ndcg", "NRBP": "nrbp", "nNRBP": "nnrbp",
}  # fmt: skip


def options_of(name, alpha, beta):
    found = {"alpha": alpha} if name not in ("P-IA", "strec", "MAP-IA") else {}
    found |= {"beta": beta} if "RBP" in name else {}
    return found | ({"normalize": "max"} if name in ("ERR-IA", "alpha-DCG") else {})


@pytest.mark.parametrize("distinct", [3, 1000])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.25, 0.8), (0.75, 0.3), (0.0, 0.5), (1.0, 0.9)])
def test_the_numbers_of_ndeval(alpha, beta, distinct):
    """It ranks ties by ascending id. Of items that add as much, its ideal order takes the greatest id first."""
    pyndeval = pytest.importorskip("pyndeval")
    rng = np.random.default_rng(int(100 * alpha) + distinct)
    asked = [f"{name}@{k}" for name in OF_NDEVAL for k in (1, 5, 20) if "RBP" not in name and name != "MAP-IA"]
    asked += ["MAP-IA", "NRBP", "nNRBP"]
    for _ in range(6):
        n, width, rel = int(rng.integers(1, 40)), int(rng.integers(1, 7)), int(rng.integers(1, 3))
        levels = rng.integers(0, 3, (n, width)) * (rng.random((n, width)) < rng.choice([0.1, 0.3, 0.6]))
        scores, ids = rng.integers(0, distinct, n) / 2, [f"d{i:03}" for i in range(n, 0, -1)]
        ranked = int(rng.integers(1, n + 1))
        qrels = [pyndeval.SubtopicQrel("q", f"s{j}", ids[i], int(levels[i, j])) for i in range(n) for j in range(width)]
        run = [pyndeval.ScoredDoc("q", ids[i], float(scores[i])) for i in range(ranked)]
        evaluator = pyndeval.RelevanceEvaluator(qrels, asked, relevance_level=rel, alpha=alpha, beta=beta)
        curve = hc.SubtopicCurve(levels[:ranked], scores[:ranked], unretrieved=levels[ranked:],
                                 tiebreak=np.arange(ranked, 0, -1))  # fmt: skip
        for one, wanted in evaluator.evaluate(run)["q"].items():
            name, _, k = one.partition("@")
            call, options = getattr(curve, OF_NDEVAL[name]), options_of(name, alpha, beta)
            found = call(int(k) if k else None, relevance_level=rel, **options)
            if k == "1" and name in ("ERR-IA", "alpha-DCG"):  # ndeval forgets to divide at rank 1
                found *= curve.num_subtopics(rel)
            assert np.nan_to_num(found) == pytest.approx(np.nan_to_num(wanted), rel=1e-14, abs=1e-15), one
