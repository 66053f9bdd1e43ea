"""Every measure costs by rows and levels, never by items: tables of 2**61 tied items, in a process that has to end.

The clock of a busy machine decides nothing here: a loop over the items of a table would take years.
"""

import subprocess
import sys

import pytest
import register

from hitcurve import measures

MANY = 2**61
LIMIT = 300  # seconds, of some five that it takes

# Numbers next to the ends of what a measure takes, where a sum or a product goes on for long.
EXTREMES = {
    "ERR": ("ERR(max=1000)", "ERR(max=60)@1125899906842624"), "RBP": ("RBP(p=0.999999999)",),
    "NCU": ("NCU(stop=rbp,p=0.999999999)", "NCU(stop=rbp,p=0.999999999)@1152921504606846976"),
    "INST": ("INST(T=1000000,ties=best)", "INST(T=1000000,ties=worst)"), "INSQ": ("INSQ(T=1000000)",),
    "BEDROC": ("BEDROC(1e9)", "BEDROC(0.000001)"), "RIE": ("RIE(1e9)",),
    "ROCAUC": ("ROCAUC(max_fpr=1e-12)", "ROCAUC(max_fpr=0.999999999)", "ROCAUC(min_fpr=0.5,max_fpr=0.500000001)",
               "ROCAUC(min_tpr=0.5,max_tpr=0.500000001)"),
    "logAUC": ("logAUC(min_fpr=1e-300)", "logAUC(min_fpr=0.5,max_fpr=0.500000001)"),
}  # fmt: skip

SCRIPT = """
import sys
import hitcurve as hc
from hitcurve import measures

MANY, every, names = 2**61, sys.argv[1] == "True", sys.argv[2:]
HITS = (1, 5, 2**20, MANY // 2, MANY - 1, MANY)
for i, above in enumerate((0, 3, MANY)):
    for hits in HITS if every else HITS[i::3]:
        curves = [hc.HitCurve.from_table(None, [above], [MANY], [hits], num_items=above + MANY)]
        for levels in {1, min(hits, 3)}:
            counts = [hits // levels] * (levels - 1)
            counts.append(hits - sum(counts))
            curves.append(hc.GainCurve.from_table(
                None, [above], [MANY], [0, levels], range(1, levels + 1), counts, num_items=above + MANY))
        for at, name in enumerate(names):
            if not every and (HITS.index(hits) // 3 + i + at) % 2:  # one of a few hits and one of many
                continue
            measure = measures.parse(name)
            for curve in curves:
                for ties in [measure.ties] if measure.ties else measure.record.ties or ["expected"]:
                    print(name, ties, type(curve).__name__, above, hits, flush=True)
                    try:
                        measure(curve, ties)
                    except (TypeError, ValueError):  # not of this kind of curve, or not with these levels
                        pass
"""


def names():
    for record in measures.MEASURES:
        yield from record.forms
        yield from EXTREMES.get(record.name, ())
        if "k" in record.cutoffs:
            for head in dict.fromkeys(form.partition("@")[0] for form in record.forms):
                yield from (f"{head}@{k}" for k in (1000, MANY // 2, MANY - 1, MANY + 2**40))


def understood():
    for name in names():
        try:
            measures.parse(name)
        except ValueError:  # a form that takes no cutoff
            continue
        yield name


def test_every_measure_of_the_register_is_measured():
    read = {measures.parse(name).record.name for name in understood()}
    assert {row.name for row in register.MEASURES if row.name} <= read == {record.name for record in measures.MEASURES}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_no_measure_counts_items(every):
    try:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(every), *understood()], capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"this does not end: {(error.stdout or b'').decode().splitlines()[-1:]}")
    assert done.returncode == 0, done.stdout[-200:] + done.stderr
