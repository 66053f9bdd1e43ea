"""The measures of a ranking: every test that sweeps over measures runs over this table. A new measure is one row here.

Its slow twin, in reference.py, has the name of the curve's method.
"""

from typing import NamedTuple

from reference import INTERPOLATIONS, NORMALIZE, TIES

ORDERS = TIES[:3]


class Row(NamedTuple):
    method: str
    name: str = ""
    """In `hitcurve.measures`; none where it has no name."""
    cutoffs: tuple[str, ...] = ()
    """The keywords a cutoff goes by: k, fraction or fpr; the first is the first argument."""
    needed: bool = False
    """It has no value without a cutoff."""
    options: tuple[dict, ...] = ({},)
    """Keywords of calls without a cutoff."""
    at_cutoff: tuple[dict, ...] = ({},)
    """Keywords of calls with a cutoff."""
    more: tuple[dict, ...] = ()
    """The same, for sweeps over few rankings or drawn calls."""
    parameter: tuple[str, tuple[float, ...]] = ("", ())
    """The keyword of the first argument of a measure without a cutoff, and values of it."""
    readings: tuple[str, ...] = TIES
    """Of ties; none if it does not take `ties`."""
    complete: bool = False
    """Refused where relevant items were not retrieved."""
    weighted: bool = False
    """Takes weights where ties="threshold"."""
    rounded: float = 0.0
    """The absolute error where the definition subtracts equal numbers."""
    perfect: bool = False
    """Exactly 1 where the relevant items come first, cut off at their number."""
    lower_is_better: bool = False
    """Its best reading of ties is the least value."""
    number: int | None = None
    """In the C interface."""
    written: tuple[tuple[str, dict], ...] = ()
    """Names, and the keywords of the calls that they stand for."""


AT = ("k", "fraction")
SHARE = ("fraction", "k")
MEASURES = (
    Row("average_precision", "AP", ("k",), options=tuple({"interpolation": one} for one in INTERPOLATIONS),
        at_cutoff=tuple({"normalize": one} for one in NORMALIZE), weighted=True, perfect=True, number=0,
        written=(("AP", {}), ("AP@3", {"k": 3, "normalize": "relevant"}),
                 ("AP(norm=min)@3", {"k": 3, "normalize": "min"}), ("AP(norm=hits)@3", {"k": 3, "normalize": "hits"}),
                 ("AP(interp=11-point)", {"interpolation": "11-point"}),
                 ("AP(interp=continuous)", {"interpolation": "continuous"}))),
    Row("precision", "P", AT, number=1, perfect=True, written=(("P@3", {"k": 3}), ("P@30%", {"fraction": 0.3}))),
    Row("recall", "R", AT, at_cutoff=({}, {"normalize": "min"}), number=2, perfect=True,
        written=(("R@3", {"k": 3}), ("R@12.5%", {"fraction": 0.125}), ("R(norm=min)@3", {"k": 3, "normalize": "min"}))),
    Row("fall_out", "Fallout", AT, complete=True, lower_is_better=True, number=21,
        written=(("Fallout@3", {"k": 3}), ("Fallout@12.5%", {"fraction": 0.125}))),
    Row("f_score", "F", AT, at_cutoff=({}, {"beta": 0.5}), number=3, perfect=True,
        more=({"beta": 0.3}, {"beta": 0.7}, {"beta": 2.0}, {"beta": 0.0}),
        written=(("F1@3", {"k": 3}), ("F0.5@3", {"k": 3, "beta": 0.5}))),
    Row("hits_at", "Hits", AT, number=4, written=(("Hits@3", {"k": 3}),)),
    Row("success", "Success", AT, readings=ORDERS, perfect=True, number=5, written=(("Success@2", {"k": 2}),)),
    Row("r_precision", "Rprec", perfect=True, number=6, written=(("Rprec", {}),)),
    Row("reciprocal_rank", "RR", ("k",), readings=ORDERS, perfect=True, number=7,
        written=(("RR", {}), ("RR@2", {"k": 2}))),
    Row("mean_rank", "MeanRank", complete=True, lower_is_better=True, number=22, written=(("MeanRank", {}),)),
    Row("mean_percentile_rank", "MeanPercentileRank", complete=True, lower_is_better=True,
        written=(("MeanPercentileRank", {}), ("MPR", {}))),
    Row("roc_auc", "ROCAUC", complete=True, weighted=True, perfect=True, number=8,
        options=({}, {"max_fpr": 0.3}, {"max_fpr": 1.0}, {"max_fpr": 0.07, "standardize": False}),
        written=(("ROCAUC", {}), ("ROCAUC(max_fpr=0.3)", {"max_fpr": 0.3}))),
    Row("roc_enrichment", "ROCE", ("fpr",), needed=True, complete=True, number=9,
        written=(("ROCE@25%", {"fpr": 0.25}),)),
    Row("enrichment_factor", "EF", SHARE, complete=True, number=10,
        written=(("EF@25%", {"fraction": 0.25}), ("EF@3", {"k": 3}))),
    Row("max_enrichment_factor", "EFmax", SHARE, readings=(), complete=True, number=11,
        written=(("EFmax@25%", {"fraction": 0.25}),)),
    Row("normalized_enrichment_factor", "NEF", SHARE, perfect=True, number=12,
        written=(("NEF@25%", {"fraction": 0.25}),)),
    Row("rie", "RIE", parameter=("alpha", (80.5, 20.0, 1.0)), readings=ORDERS, complete=True, number=13,
        written=(("RIE(10)", {"alpha": 10.0}),)),
    Row("bedroc", "BEDROC", parameter=("alpha", (80.5, 20.0, 321.9, 0.5, 1e-9)), readings=ORDERS, complete=True,
        rounded=1e-14, perfect=True, number=14,
        written=(("BEDROC", {"alpha": 20.0}), ("BEDROC(80.5)", {"alpha": 80.5}))),
    Row("log_auc", "logAUC", options=({}, {"adjusted": True}, {"max_fpr": 0.4}, {"max_fpr": 0.5, "adjusted": True}),
        parameter=("min_fpr", (0.3, 0.01)), complete=True,
        rounded=1e-15, perfect=True, number=15,
        written=(("logAUC", {}), ("logAUC(adjusted)", {"adjusted": True}),
                 ("logAUC(min_fpr=0.01)", {"min_fpr": 0.01}), ("logAUC(max_fpr=0.4)", {"max_fpr": 0.4}))),
    Row("auac", "AUAC", complete=True, number=20, written=(("AUAC", {}),)),
    Row("chance", "Chance", readings=(), number=17, written=(("Chance", {}),)),
    Row("minimum", readings=(), number=18),
    Row("normalized_average_precision", "NormAP", rounded=1e-13, perfect=True, number=19, written=(("NormAP", {}),)),
)  # fmt: skip


def calls(row, *, array=False, more=False, **cutoffs):
    """(positional, keywords without `ties`) of every call of the row; at the cutoffs given, by keyword."""
    parameter, values = row.parameter
    for options in row.options if not row.needed else ():
        yield (), options
        if parameter:
            yield (values if array else values[0],), options
    for options in row.at_cutoff + (row.more if more else ()):
        for keyword in filter(cutoffs.__contains__, row.cutoffs):
            first = keyword == row.cutoffs[0]
            yield ((cutoffs[keyword],), options) if first else ((), {keyword: cutoffs[keyword], **options})


def first_arguments(row, k, share):
    """The first arguments of a call: a cutoff where the measure takes one."""
    return ({"k": k}.get(row.cutoffs[0], share),) if row.cutoffs else ()


def perfect_calls(row, hits):
    """The calls that give exactly 1 where so many relevant items come first."""
    for args, options in calls(row, k=hits, more=True) if row.perfect else ():
        whole = not args and not options and "fraction" in row.cutoffs  # all items, not those that are relevant
        if not whole and not {"adjusted", "standardize"} & {*options}:
            yield args, options
    for value in row.parameter[1] if row.perfect else ():
        yield (value,), {}
