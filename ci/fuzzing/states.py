"""What comes from outside and may lie or change: pickled states, files cut off while they are read, sources that differ
from pass to pass. What may crash runs in a child."""

import os
import pickle
import signal
import tempfile
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np

import hitcurve as hc

from .draws import PROMISED, small_ranking
from .gains import measures_of

SECONDS = 5  # that a child may take
ROOM = 4 << 30  # bytes that a child may map


def in_child(call):
    """Raises what went wrong in a child that calls `call(say)`: an error, a signal, no end within `SECONDS`.

    What `say` was told last is part of the message.
    """
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: none of theirs is used in the child
        child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            import resource  # not on Windows

            resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            call(lambda text: os.write(write, text.encode()[:2000] + b"\0"))
            status = 0
        except BaseException as error:
            os.write(write, f"{error!r}: ".encode()[:2000])
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        *told, after = [b"", *pipe.read().split(b"\0")]
    _, status = os.waitpid(child, 0)
    if status:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else after.decode(errors="replace")
        raise AssertionError(f"{how} {(told or [b''])[-1].decode(errors='replace')}")


# --- pickled states -----------------------------------------------------------------------------------------

LIES = (-1, 0, 1, 2, 3, 5, -(10**9), 10**9, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**64, 0.5, float("nan"),
        float("inf"), None, True, "x", b"x", [], [1], (), {}, np.int8(1), 1j)  # fmt: skip
WHOLE_LIES = [one for one in LIES if type(one) is int]


def a_lie(draw, value):
    """Something else in place of a part of a state."""
    kind = draw.whole(0, 9)
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        return draw.pick(LIES) if kind else np.array([draw.pick([0, 1, -1])])
    if kind <= 3 and value.size and value.dtype.kind in "iuf":
        value = value.copy()
        limits = np.iinfo(value.dtype if value.dtype.kind in "iu" else "i8")
        value[draw.whole(0, len(value) - 1)] = draw.pick([one for one in WHOLE_LIES if limits.min <= one <= limits.max])
        return value
    if kind == 4:
        return value[: draw.whole(0, len(value))]
    if kind == 5:
        return np.append(value, value[-1:] if draw.chance(2) else [draw.pick([0, 1, -1, 10**9])])
    if kind == 6:
        with np.errstate(all="ignore"):
            return value.astype(draw.pick(["i1", "i2", "i4", "u8", "f4", "f8", ">i8", "O", "?", "U3", "c16"]))
    if kind == 7:
        return draw.pick([value[::-1], np.repeat(value, 2)[::2], value[:, None], value[None], value.tolist()])
    if kind == 8:
        return np.array(draw.pick([0, 1, -1, 10**9]))
    return draw.pick(LIES)


UNREADABLE = (*PROMISED, LookupError, AttributeError, ArithmeticError)  # what an unpickler may raise


def a_state(draw):
    """The call and the state of some object, with one or two lies."""
    label, score = small_ranking(draw, 9)
    score = score.astype("f8") if score.dtype == np.longdouble else score
    kind = draw.whole(0, 5)
    if kind >= 4:
        levels = label * np.array([draw.whole(1, 3) for _ in label], label.dtype)
        cuts = [0, len(label) // 2, len(label)]
        many = hc.GainCurves(levels, score, offsets=cuts, unretrieved=[[1], [2, 2.5]])
        function, arguments, *rest = (many if kind == 5 else many[0]).__reduce__()
    elif kind == 0:
        function, arguments, *rest = hc.HitCurve(label, score).__reduce__()
    elif kind == 1:
        middle = draw.whole(0, len(label))
        function, arguments, *rest = hc.HitCurves(label, score, offsets=[0, middle, middle, len(label)]).__reduce__()
    elif kind == 2:
        known = {"thresholds": score[label == 1]} if draw.whole(0, 1) else {"edges": np.unique(score)}
        counter = hc.HitCounter(**known)
        counter.update(label, score)
        function, arguments, *rest = counter.__reduce_ex__(2)
    else:
        levels = {f"d{i}": int(flag) for i, flag in enumerate(label)} | {"d": 1}
        run = {f"d{i}": float(one) for i, one in enumerate(score)} | {"d": 2.0}
        found = hc.evaluate({"q": levels}, {"q": run}, ["AP", "nDCG@3"])
        function, arguments, *rest = found.__reduce_ex__(2)
    state = rest[0] if rest else None
    for _ in range(draw.pick([1, 1, 2])):
        if isinstance(state, dict):
            name = draw.pick(list(state))
            state = {**state, name: a_lie(draw, state[name])}
            if draw.chance(20):
                del state[name]
        else:
            place = draw.whole(0, len(arguments) - 1)
            arguments = (*arguments[:place], a_lie(draw, arguments[place]), *arguments[place + 1 :])
            if draw.chance(20):
                arguments = arguments[:-1]
    return function, arguments, state


def use(found):
    """Calls of an object whose state was taken: they neither crash nor give a count that no table holds."""
    if isinstance(found, hc.GainCurve | hc.GainCurves):
        use_gains(found)
        return
    if not isinstance(found, hc.HitCounter | hc.HitCurve | hc.HitCurves):
        for call in (found.__repr__, found.level_strings, found.tie_report, found.to_dict):
            with suppress(*UNREADABLE):  # it is plain Python: it has nothing to crash
                call()
        return
    repr(found), found == found
    if isinstance(found, hc.HitCounter):
        cuts = found.thresholds if found.edges is None else found.edges
        if not (cuts[1:] > cuts[:-1]).all():
            raise AssertionError(f"cuts {cuts} are not sorted")
        curve = found.curve()
        if not 0 <= found.num_hits <= found.num_items or curve.num_items != found.num_items:
            raise AssertionError(f"{found.num_hits} hits among {found.num_items} items")
        found.update([0] * len(cuts), cuts)
        found.merge(pickle.loads(pickle.dumps(found)))
    else:
        curves = [found] if isinstance(found, hc.HitCurve) else found
        for curve in curves:
            # What from_table refuses is no state of a curve.
            again = hc.HitCurve.from_table(
                curve.score, curve.above, curve.tied, curve.hits, num_items=curve.num_items,
                num_relevant=curve.num_relevant, lower_is_better=curve.lower_is_better,
            )  # fmt: skip
            if again != curve:
                raise AssertionError(f"{again!r}, not {curve!r}")
        ties = "threshold" if found.weighted else "expected"
        found.average_precision(ties=ties)
        if isinstance(found, hc.HitCurve):
            found.precision_recall_curve(ties=ties)
        if not found.weighted:
            found.hits_at(2), found.tie_report(), found.reciprocal_rank()
        pickle.loads(pickle.dumps(found))


def use_gains(found):
    """The same of curves of levels; a level may be greater than a measure can take."""
    repr(found), found == found, hash(found)
    for curve in [found] if isinstance(found, hc.GainCurve) else found:
        again = hc.GainCurve.from_table(
            curve.score, curve.above, curve.tied, curve.level_offsets, curve.level, curve.level_count,
            num_items=curve.num_items, unretrieved=curve.unretrieved, lower_is_better=curve.lower_is_better,
        )  # fmt: skip
        if again != curve:
            raise AssertionError(f"{again!r}, not {curve!r}")
    for name, taken in measures_of(found):
        for ties in ("expected", "best", "worst") if "ties" in taken else (None,):
            with suppress(*UNREADABLE):
                getattr(found, name)(**({} if ties is None else {"ties": ties}), **({"k": 3} if "k" in taken else {}))
    found.at_level(1)
    pickle.loads(pickle.dumps(found))


def lying_states(draw):
    """Pickled states that lie: refused, or what from_table takes."""
    states = [a_state(draw) for _ in range(20)]

    def every(say):
        for function, arguments, state in states:
            say(f"{getattr(function, '__name__', function)}{arguments}, state {state}")
            try:
                found = function(*arguments)
                if state is not None:
                    found.__setstate__(state)
            except UNREADABLE:
                continue
            use(found)

    in_child(every)


def live_views(draw):
    """What a counter gives away is no way to change it."""
    label, score = small_ranking(draw, 9)
    counter = hc.HitCounter(score[label == 1]) if draw.whole(0, 1) else hc.HitCounter(edges=np.unique(score))
    counter.update(label, score)
    before, state = counter.curve(), counter.__getstate__()
    given = [counter.thresholds, counter.edges, counter.curve().above, *(
        one for one in state.values() if isinstance(one, np.ndarray))]  # fmt: skip
    for array in given:
        if array is not None and array.size and array.flags.writeable:
            array[0] = 1 if array.dtype.kind == "b" else array.max() + 1 if array.dtype.kind in "iu" else 99
    if counter.curve() != before or pickle.loads(pickle.dumps(counter)).curve() != before:
        raise AssertionError(f"{counter!r} has changed with what it gave away")


# --- files and sources that change --------------------------------------------------------------------------

TEXTS = {}


def text_of(kind, lines):
    """A run, qrels or a table of many lines."""
    if (kind, lines) not in TEXTS:
        row = {"run": "q{0} Q0 d{1} 1 {1} t\n", "qrels": "q{0} 0 d{1} 1\n", "csv": "{0},{1},q{1}\n"}[kind]
        rows = (row.format(i % 2 if kind == "csv" else i // 1000, i) for i in range(lines))
        TEXTS[kind, lines] = ("y,s,g\n" if kind == "csv" else "") + "".join(rows)
    return TEXTS[kind, lines]


def changing_files(draw):
    """A file that is cut off while it is read: what the whole file gives, or an error, and no signal."""
    kind = draw.pick(["run", "run", "qrels", "csv"])
    text = text_of(kind, draw.pick([3000, 200_000]))
    at_progress = kind == "run" and draw.chance(2)
    cut, wait = draw.pick([0, 1, 4096, len(text) // 2, len(text) - 1]), draw.pick([0, 0.0005, 0.002, 0.01])
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / f"file.{kind}"
        path.write_text(text)
        qrels = {f"q{i}": {f"d{i * 1000 + 5}": 1} for i in range(max(1, text.count("\n") // 1000))}

        def read(progress=None):
            if kind == "run":
                return hc.evaluate(qrels, str(path), "P@1000", progress=progress).counts
            if kind == "qrels":
                return hc.read_qrels(str(path)).num_docs
            return hc.scan(str(path), "y", "s", progress=False)

        def cut_off(say):
            say(f"{kind} of {len(text)} bytes cut off to {cut}, after {wait} s or at progress={at_progress}")
            whole = read()

            def cut_it(*_):
                os.truncate(path, cut)

            writer = threading.Timer(wait, cut_it)
            if not at_progress:
                writer.start()
            try:
                found = read(cut_it if at_progress else None)
            except (*PROMISED, OSError):
                return
            finally:
                if not at_progress:
                    writer.join()
            # The part itself where it was cut off before it was opened.
            if found != whole and (at_progress or found != read()):
                raise AssertionError(f"{found}, not {whole} as of the whole")

        in_child(cut_off)


def changing_sources(draw):
    """A source that differs from pass to pass: what one of the passes holds, or an error."""
    label, score = small_ranking(draw, 9)
    if not len(label) or score.dtype == np.longdouble or score.dtype == np.float16:
        return
    passes = []

    def source():
        flags, values = label.copy(), score.copy()
        if passes and draw.whole(0, 5):
            place = draw.whole(0, len(label) - 1)
            if draw.chance(2):
                flags[place] = not flags[place]
            else:
                values[place] = draw.whole(0, 1)
            if draw.chance(3):
                flags, values = flags[:-1], values[:-1]
        passes.append((flags, values))
        yield from zip(np.array_split(flags, 2), np.array_split(values, 2), strict=True)

    try:
        found = hc.scan(source, progress=False, workers=draw.pick([1, 2]))
    except PROMISED:
        return
    if not any(len(one[0]) and found == hc.HitCurve(*one) for one in passes):
        raise AssertionError(f"{found!r} is of none of {passes}")


SHARES = {live_views: 0.5, changing_sources: 1}
IN_CHILDREN = {lying_states: 0.2, changing_files: 0.02} if hasattr(os, "fork") else {}
