"""Fuzzing of the TREC readers.

usage: fuzz_trec.py [--unguided] [SECONDS]
           (default: 600)
       fuzz_trec.py --case FILE
           one input again: a failure and a crash leave theirs in a file

Whatever the bytes, they are read or refused with the line named; the file read query by query and the file read as a
whole say the same; judgment groups are those that a slow reader makes of the lines; nothing crashes or hangs. With
atheris, guided by coverage of the slow reader, whose branches are those of the fast one; without, by random changes.
"""

import argparse
import contextlib
import faulthandler
import mmap
import random
import re
import struct
import sys
import tempfile
import time
import warnings
from pathlib import Path

import hitcurve as hc
from hitcurve.retrieval import runs
from hitcurve.retrieval.groups import GROUPED, groups_of_text

LONGEST = 5000  # bytes of an input
REFUSED = re.compile(r"f(, line \d+)?: ")
NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
MEASURES = ("NumPref", "NumPrefMet", "Pref(pairs=any)", "PairPref", "GroupPref", "GroupPrefR")
SEEDS = (
    b"q1 0 a 1\nq1 0 b 0\n\x00q1 Q0 a 1 3.5 tag\nq1 Q0 b 2 2.5 tag\n",
    b"q u s a 2\nq u s b 1\nq u t b 3\nq u t c 0.5\n# x\nq v s a 0\nr u s a 1\nq v s c 1\n\x00q Q0 a 1 3 t",
    b"q u a 1\r\nq u b 0\nq v\ta  1e0\n\nr v b -1\nr v a 2.5\n\x00q Q0 b 1 3 t\nr Q0 a 1 1 t\nq Q0 a 2 3 t",
    b"q\t0\tx\t-1\r\n# note\n\x00q Q0 x 1 1e-3 t\n\nq Q0 y 2 .5 t\nr Q0 x 1 -inf t\nq Q0 z 3 12.345678901234567 t",
)
PIECES = b"\n . .\t.q1.Q0.nan.inf.1e400.12345678901234567890.-.#.\x00.a".split(b".")


def attempt(read, *arguments):
    try:
        return read(*arguments)
    except ValueError as error:
        if not REFUSED.match(str(error)):
            raise
        return str(error)


def one(data):
    judgments, _, run = data.partition(b"\x00")
    for strict in (True, False):
        groups(judgments, strict)
        qrels = attempt(runs.Qrels.from_buffer, judgments, "f", strict)
        whole = attempt(runs.Run.from_buffer, run, "f", strict)
        if isinstance(qrels, str):
            qrels = runs.Qrels.from_buffer(b"q1 0 a 1", "f")
        pieces = attempt(runs.judge_buffer, qrels, run, "f", "score", False, strict)
        if pieces is None:
            continue
        if isinstance(whole, str) or isinstance(pieces, str):
            # A bad line may be named before or after a document that occurs twice.
            assert isinstance(whole, str) and isinstance(pieces, str), (whole, pieces)
            continue
        judged = runs.judge(qrels, whole)
        for query in range(len(qrels)):
            assert judged.table(query) == pieces.table(query)
        for text in (judgments, run):
            with contextlib.suppress(ValueError):
                slow(text)


def groups(judgments, strict):
    """Judgments in the formats with groups, against the same lines as dicts."""
    for form, kinds in GROUPED.items():
        found = attempt(groups_of_text, judgments, "f", form, strict)
        nested, run, good = {}, {}, True
        for line in judgments.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            fields = line.split()
            if fields and not fields[0].startswith(b"#"):
                good = good and len(fields) == len(kinds) and put(nested, fields, form == "qrels_jg", strict)
                run.setdefault(text_of(fields[0]), {})[text_of(fields[-2:][0])] = len(line) % 3 / 2
        try:
            wanted = hc.read_qrels(nested, format=form) if good else None
        except ValueError:
            wanted = None
        if isinstance(found, str) or wanted is None:
            assert isinstance(found, str) and wanted is None, (form, strict, found, nested)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = [hc.evaluate(one, run, MEASURES).to_dict()["queries"] for one in (found, wanted)]
        assert values[0] == values[1], (form, strict, values)


def put(nested, fields, whole, strict):
    """Add the judgment of a line to the dicts; whether it is a judgment."""
    *path, doc, level = fields
    match = NUMBER.match(level) if not whole else re.match(rb"[-+]?\d+", level)
    if strict and not (match and match[0] == level):
        return False
    value = float(match[0]) if match else 0.0
    for name in path:
        nested = nested.setdefault(text_of(name), {})
    if text_of(doc) in nested or abs(value) == float("inf"):
        return False
    nested[text_of(doc)] = value
    return True


def text_of(name):
    return name.decode("utf-8", "surrogateescape")


def slow(text):
    """Branches for the fuzzer to find."""
    for line in text.split(b"\n"):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) == 4:
            int(fields[3])
        elif len(fields) == 6 or len(fields) > 6:
            float(fields[4])


def changed(random_, data):
    data = bytearray(data)
    for _ in range(random_.randint(1, 8)):
        place = random_.randint(0, len(data))
        kind = random_.random()
        if kind < 0.4:
            data[place:place] = random_.choice(PIECES)
        elif kind < 0.6:
            data[place:place + random_.randint(1, 8)] = b""
        elif kind < 0.8:
            data[place:place] = data[place:place + random_.randint(1, 40)]
        else:
            data[place:place + 1] = bytes([random_.randrange(256)])
    return bytes(data[:LONGEST])


def unguided(seconds):
    """Random changes, from other inputs in each run. The input at hand lies in a file that outlives a crash."""
    seed = time.time_ns()
    random_, corpus, tried = random.Random(seed), list(SEEDS), 0
    place = Path(f"fuzz-trec-{seed}")
    place.write_bytes(bytes(LONGEST + 8))
    print(f"if this ends before its time, `ci/fuzz-trec --case {place.resolve()}` repeats the input", flush=True)
    faulthandler.enable()
    faulthandler.dump_traceback_later(seconds + 60, exit=True)
    end = time.monotonic() + seconds
    with place.open("r+b") as file, mmap.mmap(file.fileno(), 0) as at:
        while time.monotonic() < end:
            data = changed(random_, random_.choice(corpus))
            at[: len(data) + 8] = struct.pack("q", len(data)) + data
            one(data)
            tried += 1
            if random_.random() < 0.01:
                corpus.append(data)
                if len(corpus) > 500:
                    del corpus[random_.randrange(len(SEEDS), len(corpus))]
    place.unlink()
    print(f"{tried:,} inputs in {seconds:.0f} s: no failure")


def guided(atheris, seconds):
    with tempfile.TemporaryDirectory() as folder:
        for i, seed in enumerate(SEEDS):
            (Path(folder) / str(i)).write_bytes(seed)
        atheris.instrument_func(slow)
        atheris.instrument_func(one)
        limits = [f"-max_total_time={int(seconds)}", "-max_len=4000", "-timeout=60"]
        atheris.Setup([sys.argv[0], "-verbosity=0", "-print_final_stats=1", *limits, folder], one)
        atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].partition("\n\n")[0])
    parser.add_argument("seconds", type=float, nargs="?", default=600.0)
    parser.add_argument("--unguided", action="store_true")
    parser.add_argument("--case", type=Path)
    asked = parser.parse_args()
    if asked.case:
        data = asked.case.read_bytes()
        if asked.case.name.startswith("fuzz-trec-"):  # of an unguided run: its length, the input, and what was before
            data = data[8 : 8 + struct.unpack("q", data[:8])[0]]
        print(data)
        one(data)
        return
    try:
        import atheris
    except ImportError:
        atheris = None
    if atheris is None or asked.unguided:
        unguided(asked.seconds)
    else:
        guided(atheris, asked.seconds)


if __name__ == "__main__":
    main()
