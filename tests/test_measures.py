"""Measure names: what they parse to, what they give, and what wrong ones say."""

import inspect
import operator
import re
import sys

import numpy as np
import pytest
import register

import hitcurve as hc
from hitcurve.measures import MEASURES, TIES, Measure, parse
from hitcurve.retrieval.trec_eval import expand

LABELS = [0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0]
SCORES = [9, 8, 8, 8, 5, 5, 5, 4, 3, 2, 2, 1]
FORMS = [form for record in MEASURES for form in record.forms]
# Which are no measures.
OTHERS = {"measure", "hit_curve", "roc_curve", "precision_recall_curve", "plot", "interval", "p_value",
          "precision_recall_gain_curve"}  # fmt: skip
ON_CURVES = [record for record in MEASURES if "hits" in register.ROW[record.name].of]


@pytest.fixture
def curve():
    return hc.HitCurve(LABELS, SCORES)


def test_the_register_has_every_method():
    """A public method with a reading of ties that gives numbers, and no row, would be in no sweep."""
    methods = {name: one for name, one in vars(hc.HitCurve.__base__).items() if callable(one) and name[0] != "_"}
    methods |= {name: one for name, one in vars(hc.HitCurve).items() if callable(one) and name[0] != "_"}
    known = {row.method for row in register.HITS}
    taking = {name for name, one in methods.items() if "ties" in inspect.signature(one).parameters}
    assert taking - known <= OTHERS
    assert known <= {*methods}


def test_docstrings_name_the_sources_of_their_records():
    """The record says where a measure is from, the docstring only who and when."""
    for record in ON_CURVES:
        cited = re.findall(r"(?:^|[;:] )((?:van )?[A-Z][\w-]+)[^;\d]*? (\d{4})\b", record.source)
        shown = [getattr(hc.HitCurve, record.method), *([hc.HitCurves.mean] if record.mean == "geometric" else [])]
        text = "\n".join(inspect.getdoc(one) or "" for one in shown)
        assert cited or record.source == "trec_eval", record.name
        for author, year in cited:
            assert re.search(rf"{author}[^()]*\(?{year}", text), (record.name, author, year)


def test_every_form_in_the_table_parses_and_keeps_its_name(curve):
    for form in FORMS:
        measure = parse(form)
        assert measure.name == str(measure) == form
        assert parse(measure.name) == measure, form
        if measure.record in ON_CURVES and measure.rel is None:
            assert np.isfinite(measure(curve)), form


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("map", "AP"),
        ("map_cut_10", "AP@10"),
        ("P_10", "P@10"),
        ("recall_1000", "R@1000"),
        ("recip_rank", "RR"),
        ("success_5", "Success@5"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
        ("AP(norm=relevant)@10", "AP@10"),
        ("R(norm=relevant)@10", "R@10"),
        ("Recall(norm=min)@1.0%", "R(norm=min)@1%"),
        (" AP( norm = min )@010 ", "AP(norm=min)@10"),
        ("P@1.0%", "P@1%"),
        ("P@0.10%", "P@0.1%"),
        ("P@100%", "P@100%"),
        ("F1.0@10", "F1@10"),
        ("BEDROC", "BEDROC(20)"),
        ("BEDROC(alpha=80.50)", "BEDROC(80.5)"),
        ("RIE(1e2,ties=best)", "RIE(100,ties=best)"),
        ("logAUC(min_fpr=0.01,adjusted)", "logAUC(adjusted,min_fpr=0.01)"),
        ("logAUC(adjusted=False)", "logAUC"),
    ],
)
def test_canonical_names(written, name):
    assert parse(written).name == name
    assert parse(written) == parse(name)


@pytest.mark.parametrize("percent", ["0.1", "1", "2.5", "7", "12.345", "29", "33.3333333333333", "99.9"])
def test_a_share_is_the_decimal_that_was_written(percent):
    # The curve rounds up on the decimal that the float prints as, so it must print as the text divided by 100.
    from decimal import Decimal

    keywords = dict(parse(f"P@{percent}%").keywords)
    assert Decimal(repr(keywords["fraction"])) == Decimal(percent) / 100


def test_seven_percent_of_a_hundred_items_is_seven():
    curve = hc.HitCurve.from_ranks([7, 8], num_items=100)
    assert parse("P@7%")(curve) == 1 / 7
    assert parse("R@7%")(curve) == 0.5


def test_the_name_decides_on_ties(curve):
    measure = parse("AP(ties=worst)")
    assert measure.ties == "worst"
    assert measure(curve) == measure(curve, "best") == curve.average_precision(ties="worst")


def test_ties_must_be_known(curve):
    known = "'expected', 'best', 'worst', 'threshold'"
    with pytest.raises(ValueError, match=f"ties='random' is unknown: must be one of {known}"):
        parse("AP")(curve, "random")


def test_a_measure_is_a_constant():
    measure = parse("AP@10")
    with pytest.raises(AttributeError):
        measure.name = "P@10"
    assert isinstance(measure, Measure)
    assert len({measure, parse("map_cut_10")}) == 1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "'' is not a measure name"),
        ("AP((", "'AP((' is not a measure name: write NAME(option=value)@cutoff"),
        ("AP@3@4", "'AP@3@4' is not a measure name"),
        ("ROCAUCC", "there is no measure 'ROCAUCC'; near names: ROCAUC"),
        ("recal_10", "near names: recall_10"),
        ("xyzzy", "the measures are AP, P, R,"),
        ("recip_rank@5", "trec_eval's name recip_rank takes no options or cutoff in this form: write RR@5"),
        ("set_recall(rel=2)", "write SetR(rel=2)"),
        ("set_P(relative)", "write SetP(relative)"),
        ("rbp@5", "write RBP(p=0.9)@5"),
        ("infap@5", "infAP takes no cutoff"),
        ("F", "F needs a cutoff: F1@10, F0.5@10 or F2@1%"),
        ("F0@10", "beta must be above 0"),
        ("P", "P needs a cutoff: P@10, P@1% or P(norm=ranked)@10"),
        ("ROCE", "ROCE needs a cutoff: ROCE@1%"),
        ("ROCE@10", "the cutoff of ROCE is a share: ROCE@1%"),
        ("AP@1%", "the cutoff of AP is a rank: AP@10"),
        ("Rprec@3", "Rprec takes no cutoff"),
        ("AP@", "'' is not a cutoff: give a rank (10) or a share (1%)"),
        ("AP@-3", "'-3' is not a cutoff"),
        ("AP@0", "a cutoff must be a rank from 1"),
        ("P_0", "a cutoff must be a rank from 1"),
        ("AP@9223372036854775808", "a cutoff must be a rank from 1"),
        ("P@0%", "a share must be above 0 and at most 100 %"),
        ("P@100.1%", "a share must be above 0 and at most 100 %"),
        ("P@1.23456789012345678%", "a share must have at most 17 digits"),
        ("AP(norm=min)", "norm= needs a cutoff: write AP(norm=min)@10"),
        ("R(norm=hits)@10", "norm is 'hits', but must be min or relevant"),
        ("AP(norm=max)@10", "norm is 'max', but must be min, relevant or hits"),
        ("AP(interp=12-point)", "interp is '12-point', but must be 11-point, 101-point"),
        ("AP(interp=11-point)@10", "interp= cannot be combined with a cutoff"),
        ("AP(rel=x)", "rel is 'x', but must be a whole number"),
        ("AP(ties=worst,ties=best)", "option 'ties' is given twice"),
        ("RR(ties=threshold)", "ties is 'threshold', but must be expected, best or worst"),
        ("Chance(ties=worst)", "Chance takes no options"),
        ("BEDROC(0)", "alpha is '0', but must be a number above 0"),
        ("BEDROC(inf)", "alpha is 'inf', but must be a number above 0"),
        ("BEDROC(20,30)", "option 'alpha' is given twice"),
        ("logAUC(adjusted=1)", "adjusted is '1', but must be True or False"),
        ("logAUC(min_fpr=1)", "min_fpr is '1', but must be a number between 0 and 1"),
    ],
)
def test_wrong_names(name, problem):
    with pytest.raises(ValueError) as error:
        parse(name)
    assert problem in str(error.value)
    assert repr(name.strip()) in str(error.value)


def test_a_name_is_a_string():
    with pytest.raises(TypeError, match="name is 10: a measure is named by a string"):
        parse(10)


def test_gains_of_names_are_compared_with_what_other_levels_gain():
    linear, exponential = (dict(parse(f"nDCG({dcg}gains={{1:1}})").keywords)["gain"] for dcg in ("", "dcg=exp-log2,"))
    assert linear == dict(parse("DCG(gains={1:1})").keywords)["gain"]
    for other in (exponential, "linear", {2: 1.0}, 5):
        assert operator.ne(linear, other) and operator.eq(linear, other) is False
    assert len({linear, exponential, dict(parse("Q(gains={1:1})").keywords)["gain"]}) == 2


def test_every_record_is_complete():
    names = [record.name for record in MEASURES]
    assert len(set(names)) == len(names)
    for record in MEASURES:
        assert record.forms and record.definition and record.source and record.cutoffs
        assert set(record.ties) <= set(TIES)
        assert record.of and set(record.of) <= {"hits", "gains", "judged", "levels", "all", "preferences", "subtopics"}
        assert bool(record.method) == bool({"hits", "gains", "subtopics"} & {*record.of})
        for family in [(hc.HitCurve, hc.HitCurves)] * ("hits" in record.of) + [
                (hc.GainCurve, hc.GainCurves)] * ("gains" in record.of) + [
                (hc.SubtopicCurve, hc.SubtopicCurves)] * ("subtopics" in record.of):  # fmt: skip
            assert all(hasattr(curve, record.method) for curve in family)


def test_the_table_is_not_imported_with_the_library():
    import subprocess

    code = "import sys, hitcurve; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    unwanted = {f"hitcurve.{name}" for name in ("measures", "tables", "report", "cli")}
    assert not unwanted.intersection(found)
    assert not {"pyarrow", "json", "argparse", "difflib"}.intersection(found)


@pytest.mark.parametrize(("name", "meant"), [
    ("P.10", "P@10"), ("ndcg_cut.10", "nDCG@10"), ("recall.100", "R@100"), ("map_cut.5", "AP@5"),
    ("success.1", "Success@1"), ("unj.5", "Unjudged@5"), ("set_F.2", "SetF(beta=2)"), ("P.10.0", "P@10"),
    ("rbp.95", "RBP(p=0.95,rel=1)"), ("rbp.0.95", "RBP(p=0.95)"), ("rbp.p=0.9", "RBP(p=0.9)"),
    ("rbp_resid.0.9", "RBPResid(p=0.9)"), ("ndcg.1=3,2=9", "nDCG(gains={1:3,2:9})"), ("G.1=2", "G(gains={1:2})"),
    ("utility.2,-1,0,0", "Utility(2/-1/0/0)"), ("Rprec_mult.0.5", "RprecMult(0.5)"),
    ("11pt_avg.0.25,0.5", "IPrecAvg(levels=trec_eval10,at=0.25/0.5)"),
    ("iprec_at_recall.0.10", "IPrec(levels=trec_eval10)@0.1"),
])  # fmt: skip
def test_parameters_of_trec_eval_that_evaluate_takes(name, meant):
    """`parse` and `evaluate` take the same names; several measures are no name of a measure."""
    assert parse(name).name == meant
    assert [entry.measure for entry in expand(name)] == [parse(name)]
    with pytest.raises(ValueError, match="stands for 2 measures: P@5, P@10"):
        parse("P.5,10")
    for wrong in ("P.0", "P.x", "q.5", "map.3", "set_F.x", "relstring.10", "runid.1"):
        with pytest.raises(ValueError, match=wrong.replace(".", "[.]")):
            parse(wrong)
