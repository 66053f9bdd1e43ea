"""Random calls of every public entry: no crash, no hang, no wrong number, no error but those that are promised.

usage: fuzz.py [--only KIND[,KIND]] [--first SEED] [SECONDS [CASES]]
           until both are reached (default: 600 1000000); --first: in one process, from this case on, as of --each
       fuzz.py [--only KIND[,KIND]] --each SECONDS
           the same time for every kind, and cases of each: what ci/test runs
       fuzz.py [--only KIND[,KIND]] --case SEED
           one case again
       fuzz.py --atheris SECONDS
           guided by coverage
       fuzz.py --kinds
           the kinds of cases, and their shares

A case is one input from a seed, and the calls that take it. Odd seeds run the loops of any machine, even ones those of
this machine.
"""

import argparse
import faulthandler
import gc
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from multiprocessing.connection import wait
from pathlib import Path
from types import FunctionType

import numpy as np

if re.search(r"--(work|case)[ =]\d*[13579](?!\d)", " ".join(sys.argv)):  # an odd seed
    os.environ["HITCURVE_ISA"] = "portable"  # is looked at when hitcurve is imported
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzzing import arguments as args
from fuzzing import bundles, entries, extremes, gains, mixed, parquet, rankings, runs, states
from fuzzing.draws import PROMISED, AtherisDraw, Boom, Draw

from hitcurve import measures

HANG = 60  # seconds that no case takes
LEAST = 2  # cases of each kind in every process, where each is asked for
SHARES = {
    rankings.against_the_twin: 12, rankings.against_numpy: 12, rankings.many_queries: 4, rankings.in_two_dimensions: 4,
    rankings.in_blocks: 4, runs.retrieval: 4, rankings.malformed: 6, entries.from_c: 6, rankings.resampled: 2,
    entries.tables: 8, entries.anywhere: 24, rankings.while_written: 0.04, rankings.command_intervals: 0.01,
    extremes.extreme_weights: 3, extremes.extreme_counts: 1, extremes.readings: 3, extremes.perfect: 2,
    extremes.levels: 2, extremes.thresholds: 2, runs.bounds_over_orders: 1, runs.strings_of_levels: 1,
    runs.numbers_in_text: 2, args.array_arguments: 4, args.differences: 1, **gains.SHARES, **mixed.SHARES,
    **bundles.SHARES, **states.SHARES, **states.IN_CHILDREN, **parquet.SHARES,
}  # fmt: skip
if find_spec("pyarrow"):
    SHARES[rankings.by_group] = 1
KINDS = {kind.__name__: kind for kind in SHARES}


def chosen(only):
    """The kinds among which a case draws one, each as often as its share says."""
    for name in only or ():
        if name not in KINDS:
            sys.exit(f"{name!r} is no kind of case: {', '.join(KINDS)}")
    if only:
        return [KINDS[name] for name in only]
    return [kind for kind, share in SHARES.items() for _ in range(round(100 * share))]


def one_case(draw, kinds):
    case = draw.pick(kinds)
    try:
        with np.errstate(all="ignore"):
            case(draw)
    except PROMISED as error:
        if case not in (entries.tables, entries.anywhere):
            raise AssertionError(f"{case.__name__} refused good input: {error!r}") from error
        return case.__name__ + ", refused"
    except OSError:
        if case is not entries.anywhere:  # what a path that does not exist gives
            raise
        return case.__name__ + ", refused"
    except (Boom, AttributeError, IndexError, OverflowError, StopIteration, RuntimeError) as error:
        # Only what a hostile object raised itself, or Python over its length, or IndexError from an index.
        known = ("hostile", "raised StopIteration", "index-sized integer")
        allowed = isinstance(error, Boom | IndexError) or any(text in str(error) for text in known)
        if case is not entries.anywhere or not allowed:
            raise
        return case.__name__ + ", hostile"
    return case.__name__


def work(first, step, deadline, least, place, kinds, each):
    """Cases first, first + step, ...: a child process. `each`: of the kind that had the least time so far."""
    import warnings

    warnings.simplefilter("ignore")
    with open(place, "r+b") as file:
        at = mmap.mmap(file.fileno(), 24)
    done, seen, watched = 0, Counter(), 0.0
    kinds = list(dict.fromkeys(kinds)) if each else kinds
    turns, spent = LEAST * len(kinds), [0.0] * len(kinds)
    while done < (turns if each else least) or time.time() < deadline:
        begin = time.monotonic()
        if begin > watched + HANG / 12:
            watched = begin
            faulthandler.dump_traceback_later(HANG, exit=True)
            gc.collect()
        seed, turn = first + done * step, -1
        if each:
            turn = done % len(kinds) if done < turns else min(range(len(kinds)), key=spent.__getitem__)
        at[:24] = struct.pack("qqq", seed, done, turn)
        seen[one_case(Draw(seed), [kinds[turn]] if each else kinds)] += 1
        spent[turn] += time.monotonic() - begin
        done += 1
    print(dict(seen))


def run(seconds, cases, only, fixed, each=False):
    """All cores from seeds of this second, or one process from a fixed one."""
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    processes = 1 if fixed is not None else processes
    start = int(time.time())
    first = start * 1_000_000_000 % 2**62 if fixed is None else fixed
    step, children = processes + processes % 2, []
    same_kinds, distinct = [] if only is None else ["--only", ",".join(only)], list(dict.fromkeys(chosen(only)))
    for w in range(processes):
        place = Path(tempfile.mkstemp(dir=".")[1])
        place.write_bytes(bytes(24))
        command = [sys.executable, "-X", "faulthandler", __file__, *same_kinds, "--work", str(first + w), str(step),
                   str(time.time() + seconds), str(-(-cases // processes)), str(place), str(int(each))]  # fmt: skip
        children.append((subprocess.Popen(command, stdout=subprocess.PIPE, text=True), place))
    total, seen, failed = 0, Counter(), False
    running = {child.stdout: child for child, _ in children}
    while running:
        for stream in wait(list(running)):  # what a child has seen, as it ends
            if running.pop(stream).wait():  # one finding is enough
                for child in running.values():
                    child.terminate()
    for child, place in children:
        out = child.stdout.read()
        seed, done, turn = struct.unpack("qqq", place.read_bytes())
        place.unlink()
        total += done
        if child.returncode == 0:
            total += 1
            seen.update(eval(out))
        elif child.returncode != -signal.SIGTERM:
            failed = True
            of = ["--only", distinct[turn].__name__] if each else same_kinds
            again = " ".join(["ci/fuzz", *of, "--case", str(seed)])
            print(f"case {seed} ended the process with status {child.returncode}; this repeats it: {again}")
    for name, count in sorted(seen.items()):
        print(f"{count:>10,}  {name}")
    verdict = "FAILED" if failed else "no crash, no hang, no wrong number"
    print(f"{total:,} cases in {time.time() - start:.0f} s: {verdict}")
    return failed


def guided(seconds, kinds):
    import atheris

    for module in (measures, sys.modules["hitcurve.curves.counter"]):
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType):  # compiled ones report by themselves, or not at all
                setattr(module, name, atheris.instrument_func(value))

    def case(data):
        one_case(AtherisDraw(data), kinds)

    kinds = [kind for kind in kinds if kind not in states.IN_CHILDREN]  # where atheris does not look
    limits = [f"-max_total_time={seconds}", "-max_len=512", "-len_control=0", f"-timeout={HANG}"]
    atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1"], case)
    atheris.Fuzz()


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("limits", type=int, nargs="*")
    parser.add_argument("--only", type=lambda text: text.split(","))
    for name in ("--first", "--case", "--atheris", "--each"):
        parser.add_argument(name, type=int)
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--work", nargs=6, help=argparse.SUPPRESS)  # a child process
    asked = parser.parse_args()
    if len(asked.limits) > 2:
        parser.error("SECONDS and CASES are all the numbers there are")
    return asked


def main():
    asked = arguments()
    kinds = chosen(asked.only)
    if asked.work:
        first, step, deadline, least, place, each = asked.work
        work(int(first), int(step), float(deadline), int(least), place, kinds, int(each))
    elif asked.kinds:
        for kind, share in SHARES.items():
            print(f"{share / sum(SHARES.values()):8.2%}  {kind.__name__}: {kind.__doc__.partition(chr(10))[0]}")
    elif asked.case is not None:
        print(one_case(Draw(asked.case), kinds))
    elif asked.atheris is not None:
        guided(asked.atheris, kinds)
    elif asked.each is not None:
        return run(asked.each, 0, asked.only, asked.first, each=True)
    else:
        seconds, cases = {0: (600, 1_000_000), 1: (*asked.limits, 0)}.get(len(asked.limits), asked.limits)
        return run(seconds, cases, asked.only, asked.first)
    return 0


if __name__ == "__main__":
    sys.exit(main())
