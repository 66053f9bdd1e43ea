# cython: wraparound=True
"""The boundary: Python objects are checked here, tables and numbers come out.

Everything public is a ``def`` that looks at an ndarray through numpy's C API and coerces only when that look fails: a
Python function or a memoryview in front of the kernel costs more than ranking a hundred items. The GIL is given up
where there is enough to do to pay for it.
"""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
)
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

cimport numpy as cnp

import operator

import numpy as np

from hitcurve._kernel.count cimport (
    KIND_F16,
    KIND_F32,
    KIND_F64,
    KIND_I8,
    KIND_I16,
    KIND_I32,
    KIND_I64,
    KIND_U8,
    KIND_U16,
    KIND_U32,
    KIND_U64,
    NAN_OMIT,
    NAN_RAISE,
    NAN_WORST,
    SCORE_DOUBLE,
    SCORE_FLOAT,
    SCORE_INT64,
    STRATEGY_AUTO,
    STRATEGY_BUCKETS,
    STRATEGY_COMPARE,
    STRATEGY_PARTS,
    STRATEGY_SEARCH,
    Column,
    Index,
    Items,
    Kind,
    NanPolicy,
    ScoreType,
    Strategy,
    Tally,
    build_index,
    choose_strategy,
    count_items,
    count_labels,
    emit_scores,
    gather_relevant,
    good_piece,
    index_size,
    keep_distinct,
    look_for_nan,
    scratch_size,
    sort_relevant,
    tally_clear,
)
from hitcurve._kernel.formulas cimport (
    INTERPOLATION_11_POINT,
    INTERPOLATION_11_POINT_FLOAT,
    INTERPOLATION_101_POINT,
    INTERPOLATION_101_POINT_FLOAT,
    INTERPOLATION_ALL_POINT,
    INTERPOLATION_CONTINUOUS,
    INTERPOLATION_NONE,
    INTERPOLATION_TRAPEZOID,
    NO_CUTOFF,
    NORMALIZE_HITS,
    NORMALIZE_MIN,
    NORMALIZE_RELEVANT,
    TIES_BEST,
    TIES_EXPECTED,
    TIES_THRESHOLD,
    TIES_WORST,
    Interpolation,
    Normalize,
    Reading,
    Ties,
)
from hitcurve._kernel.table cimport (
    SMALL,
    STATUS_BAD_LABEL,
    STATUS_BAD_SCORE,
    STATUS_NO_MEMORY,
    STATUS_OK,
    Ranking,
    SmallSpace,
    Status,
    Tables,
    Workspace,
    finish_ranking,
    index_relevant,
    num_rows,
    prefer_huge_pages,
    query_done,
    rank_items,
    rank_queries,
    ranking_average_precision,
    ranking_rows,
    ranking_scores,
    release,
    reserve_relevant,
    small_workspace,
    workspace_free,
    workspace_init,
)

cnp.import_array()

cdef enum:
    PIECE = 1 << 22          # items between two looks at Ctrl-C
    ENDLESS = 1 << 30        # items that a BlockCounter is made for

cdef Py_ssize_t NARROW = <Py_ssize_t>((<uint64_t>1 << 32) - 1)  # items that 32-bit counts can hold
cdef int64_t LARGEST = (<int64_t>1) << 62


# --------------------------------------------------------------------------------------------------------- the options

cdef object unknown(str name, object value, str known):
    if not isinstance(value, str):
        return TypeError(f"{name} must be one of {known}, got {value!r} of type {type(value).__name__}")
    return ValueError(f"{name}={value!r} is unknown: must be one of {known}")


cdef int parse_ties(object ties) except -1:
    if isinstance(ties, str):
        if ties == "expected":
            return TIES_EXPECTED
        if ties == "threshold":
            return TIES_THRESHOLD
        if ties == "best":
            return TIES_BEST
        if ties == "worst":
            return TIES_WORST
    raise unknown("ties", ties, "'expected', 'best', 'worst', 'threshold'")


cdef int parse_normalize(object normalize) except -1:
    if isinstance(normalize, str):
        if normalize == "min":
            return NORMALIZE_MIN
        if normalize == "relevant":
            return NORMALIZE_RELEVANT
        if normalize == "hits":
            return NORMALIZE_HITS
    raise unknown("normalize", normalize, "'min', 'relevant', 'hits'")


cdef int parse_interpolation(object interpolation) except -1:
    if interpolation is None:
        return INTERPOLATION_NONE
    if isinstance(interpolation, str):
        if interpolation == "11-point":
            return INTERPOLATION_11_POINT
        if interpolation == "101-point":
            return INTERPOLATION_101_POINT
        if interpolation == "all-point":
            return INTERPOLATION_ALL_POINT
        if interpolation == "trapezoid":
            return INTERPOLATION_TRAPEZOID
        if interpolation == "continuous":
            return INTERPOLATION_CONTINUOUS
        if interpolation == "11-point-float":
            return INTERPOLATION_11_POINT_FLOAT
        if interpolation == "101-point-float":
            return INTERPOLATION_101_POINT_FLOAT
    raise unknown("interpolation", interpolation,
                  "None, '11-point', '101-point', 'all-point', 'trapezoid', 'continuous', '11-point-float', "
                  "'101-point-float'")


cdef object whole_number(object value, str name):
    """A Python int; bool and fractions are no whole numbers."""
    if cnp.PyArray_Check(value):
        no_masked(value, name)
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r} of type {type(value).__name__}") from None


cdef int64_t parse_k(object k) except -2:
    cdef object rank
    if k is None:
        return NO_CUTOFF
    rank = whole_number(k, "k")
    if rank < 1:
        raise ValueError(f"k is {rank}: ranks start at 1")
    return <int64_t>min(rank, LARGEST)


cdef int parse_reading(object k, object ties, object interpolation, object normalize, Reading* reading) except -1:
    reading.k = parse_k(k)
    reading.ties = <Ties>parse_ties(ties)
    reading.normalize = <Normalize>parse_normalize(normalize)
    reading.interpolation = <Interpolation>parse_interpolation(interpolation)
    reading.x = 0.0
    if k is not None and interpolation is not None:
        raise interpolated_cutoff(k, interpolation)
    return 0


cdef object interpolated_cutoff(object k, object interpolation):
    return ValueError(f"k={k!r} with interpolation={interpolation!r}: an interpolated average precision has no cutoff")


cdef str relevant_items(object number):
    return "1 relevant item" if number == 1 else f"{number} relevant items"


cdef int64_t parse_num_relevant(object num_relevant, int64_t num_hits) except -1:
    cdef object number
    if num_relevant is None:
        return num_hits
    number = whole_number(num_relevant, "num_relevant")
    if number < num_hits:
        raise ValueError(f"num_relevant is {number}, but the ranking holds {relevant_items(num_hits)}")
    if number > LARGEST:
        raise ValueError(f"num_relevant is {number}: more than 2**62 cannot be counted")
    return <int64_t>number


cdef bint parse_lower(object lower_is_better) except -1:
    if isinstance(lower_is_better, (bool, np.bool_)):
        return bool(lower_is_better)
    raise TypeError(f"lower_is_better must be True or False, got {lower_is_better!r}")


cdef NanPolicy parse_nan_policy(object nan_policy) except *:
    if isinstance(nan_policy, str):
        if nan_policy == "raise":
            return NAN_RAISE
        if nan_policy == "worst":
            return NAN_WORST
        if nan_policy == "omit":
            return NAN_OMIT
    raise unknown("nan_policy", nan_policy, "'raise', 'worst', 'omit'")


cdef Py_ssize_t parse_workers(object workers) except -1:
    if workers is 1:
        return 1
    from hitcurve import _workers as cores
    return cores.check_workers(workers)


cdef Strategy parse_strategy(object strategy) except *:
    if strategy is None:
        return STRATEGY_AUTO
    if strategy == "compare":
        return STRATEGY_COMPARE
    if strategy == "search":
        return STRATEGY_SEARCH
    if strategy == "buckets":
        return STRATEGY_BUCKETS
    if strategy == "parts":
        return STRATEGY_PARTS
    raise unknown("_strategy", strategy, "None, 'compare', 'search', 'buckets', 'parts'")


# ---------------------------------------------------------------------------------------------------------- the arrays

cdef int kind_of(int type_number) noexcept nogil:
    """The kernels' word for a numpy type; -1 where they have none."""
    if type_number == cnp.NPY_DOUBLE:
        return KIND_F64
    if type_number == cnp.NPY_FLOAT:
        return KIND_F32
    if type_number == cnp.NPY_FLOAT16:
        return KIND_F16
    if type_number == cnp.NPY_BOOL or type_number == cnp.NPY_UBYTE:
        return KIND_U8
    if type_number == cnp.NPY_BYTE:
        return KIND_I8
    if type_number == cnp.NPY_SHORT:
        return KIND_I16
    if type_number == cnp.NPY_USHORT:
        return KIND_U16
    if type_number == cnp.NPY_INT:
        return KIND_I32
    if type_number == cnp.NPY_UINT:
        return KIND_U32
    if type_number == cnp.NPY_LONG:
        return KIND_I64 if sizeof(long) == 8 else KIND_I32
    if type_number == cnp.NPY_ULONG:
        return KIND_U64 if sizeof(long) == 8 else KIND_U32
    if type_number == cnp.NPY_LONGLONG:
        return KIND_I64
    if type_number == cnp.NPY_ULONGLONG:
        return KIND_U64
    return -1


cdef inline ScoreType type_of(int kind) noexcept nogil:
    if kind == KIND_F32:
        return SCORE_FLOAT
    if kind == KIND_I64 or kind == KIND_U64:
        return SCORE_INT64
    return SCORE_DOUBLE


cdef ScoreType compared_as(object origin) except *:
    """The type in which scores of this origin are compared (see ``as_scores``)."""
    if isinstance(origin, np.ndarray):
        return SCORE_INT64
    return type_of(kind_of((<cnp.dtype>origin).type_num))


cdef inline void set_column(Column* column, cnp.ndarray array, int kind) noexcept:
    column.data = cnp.PyArray_BYTES(array)
    column.stride = cnp.PyArray_STRIDE(array, 0)
    column.kind = <Kind>kind


cdef inline int plain_kind(object array) noexcept:
    """The kind of a one-dimensional ndarray that the kernels can read as it lies, else -1."""
    if not cnp.PyArray_CheckExact(array) or cnp.PyArray_NDIM(<cnp.ndarray>array) != 1:
        return -1
    if not cnp.PyArray_ISBEHAVED_RO(<cnp.ndarray>array):  # aligned, in this machine's byte order
        return -1
    return kind_of(cnp.PyArray_TYPE(<cnp.ndarray>array))


cdef object not_a_number(object array, str name, str what):
    """The error for an array of objects; the first that is no real number is named."""
    for i, value in enumerate(array.ravel().tolist()):
        if not isinstance(value, (bool, int, float, np.number, np.bool_)):
            return TypeError(f"{name}[{i}] is {value!r} of type {type(value).__name__}: {what}")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            return TypeError(f"{name}[{i}] is {value}, beyond 64 bits: {what} of a numpy type")
    return TypeError(f"{name} has dtype object: {what}")


cdef object unrounded(object values, object array):
    """The array that numpy made of these values; if it rounded integers to floats, one of uint64 or of objects instead.

    It rounds integers beyond 2**53 beside fractions, and those beyond int64 beside smaller ones.
    """
    cdef object exact, elements
    if array.dtype != np.float64 or not (np.abs(array) >= 2.0**53).any():
        return array
    exact = np.array(values, dtype=object)
    elements = exact.ravel().tolist()
    for number, value in zip(array.ravel().tolist(), elements, strict=True):
        if isinstance(value, (int, np.integer)) and int(number) != value:
            break
    else:
        return array
    if all(isinstance(value, (int, np.integer)) and value >= 0 for value in elements):
        return np.array([int(value) for value in elements], np.uint64).reshape(array.shape)
    return exact


cdef object rounded_integer(object exact, str name):
    """The error for numbers that no type holds together; the first that is no float64 is named."""
    for place, value in enumerate(exact.ravel().tolist()):
        if isinstance(value, (int, np.integer)) and int(float(value)) != value:
            shown = ", ".join(str(i) for i in np.unravel_index(place, exact.shape))
            return ValueError(f"{name}[{shown}] is {value}: no array type holds all of {name} exactly")


cdef Py_ssize_t masked_entries(object values, int depth=0) except -1:
    """How many entries are masked, of an array or of those in lists: numpy unmasks what it reads from a list."""
    cdef Py_ssize_t total = 0
    if cnp.PyArray_Check(values):
        mask = None if cnp.PyArray_CheckExact(values) else getattr(values, "mask", None)
        if mask is not None:
            return np.count_nonzero(mask)
        if cnp.PyArray_TYPE(<cnp.ndarray>values) != cnp.NPY_OBJECT:
            return 0
        values = cnp.PyArray_Ravel(<cnp.ndarray>values, cnp.NPY_CORDER).tolist()
    if depth < 64 and isinstance(values, (list, tuple)):  # as deep as numpy looks
        for value in values:
            if cnp.PyArray_Check(value) or isinstance(value, (list, tuple)):
                total += masked_entries(value, depth + 1)
    return total


cdef int no_masked(object values, str name) except -1:
    cdef Py_ssize_t masked = masked_entries(values)
    if masked > 0:
        raise ValueError(f"{name} is a masked array with {masked} masked entries: leave them out, or fill them")
    return 0


def checked_unmasked(values, name):
    """An error if any entry is masked."""
    no_masked(values, name)


cdef object as_array(object values, str name):
    """An ndarray of whatever the object holds, by whatever protocol it offers: every array argument comes through here."""
    cdef object array
    no_masked(values, name)
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        try:
            return np.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise TypeError(f"{name} of type {type(values).__name__} cannot be read through DLPack: {error}") from None
    try:
        array = np.asanyarray(values)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as an array: {error}") from None
    except (TypeError, RuntimeError) as error:
        raise TypeError(f"{name} of type {type(values).__name__} cannot be read as an array: {error}") from None
    no_masked(array, name)
    array = np.asarray(array)
    return array if hasattr(values, "__array__") else unrounded(values, array)


cdef object array_or_none(object values, str name):
    """The array that the values are, or None for a single value."""
    if isinstance(values, (int, float, str, bytes, np.generic)):
        return None
    array = as_array(values, name)
    return array if array.ndim > 0 or isinstance(values, np.ndarray) else None


cdef object as_column(object values, str name):
    """Ids, keys or weights as an array of any type in which different ones stay different.

    numpy by itself rounds a list of integers from 2**63 up beside smaller ones, makes text of numbers beside texts,
    and cuts NUL characters off the end of a text.
    """
    cdef object array = as_array(values, name), exact, elements
    if array.dtype.kind in "SU" and not hasattr(values, "__array__"):
        exact = np.array(values, dtype=object)
        elements = exact.ravel().tolist()
        kind = str if array.dtype.kind == "U" else bytes
        for i, value in enumerate(elements):
            if not isinstance(value, kind):
                if value is None or value != value:
                    raise ValueError(f"{name}[{i}] is {value!r}, among texts")
                raise TypeError(f"{name}[{i}] is {value!r} of type {type(value).__name__}, among others that are "
                                f"{kind.__name__}: they cannot be ordered together")
        if any(value[-1:] in ("\0", b"\0") for value in elements):
            return exact
    return array


def checked_column(values, name):
    """See `as_column`."""
    return as_column(values, name)


cdef object as_ndarray(object values, str name, str what):
    """An ndarray of a real type in this machine's byte order."""
    cdef object array, exact
    if values is None or isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is {values!r}: {what}")
    array = as_array(values, name)
    if array.dtype.kind == "O":
        if array.ndim == 0:
            raise TypeError(f"{name} is of type {type(values).__name__}: {what}")
        exact = array
        try:
            array = np.array(array.tolist())
        except (ValueError, TypeError):
            pass
        if array.dtype.kind not in "biuf":
            raise not_a_number(np.asarray(values, dtype=object), name, what)
        array = unrounded(exact, array)
        if array.dtype.kind == "O":
            raise rounded_integer(exact, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}: {what}")
    if not (array.flags.aligned and array.dtype.isnative):
        array = array.astype(array.dtype.newbyteorder("="))
    return array


cdef object one_dimension(object array, str name):
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    return array


cdef str LABELS = "labels must be 0 or 1, False or True (or graded, with relevance_level=)"
cdef str SCORES = "scores must be real numbers"
cdef str WHOLE = "must be whole numbers"


cdef object graded(object array, object level):
    """Graded labels as flags: relevant from this level up.

    Whole labels compare exactly; with float labels the level is rounded to their type, whatever its own.
    """
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, float, np.integer, np.floating)):
        raise TypeError(f"relevance_level must be a number, got {level!r} of type {type(level).__name__}")
    if level != level:
        raise ValueError("relevance_level is nan")
    if array.dtype.kind == "f" and np.isnan(array).any():
        place = int(np.argmax(np.isnan(array)))
        raise ValueError(f"y_true[{place}] is nan: a graded label must be a number")
    real = isinstance(level, (float, np.floating))
    if not real and abs(int(level)) >> 1024:
        level, real = (np.inf if level > 0 else -np.inf), True  # as a float
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array >= array.dtype.type(level if real else np.longdouble(level))
    if real and np.isinf(level):
        return np.full(array.shape, level < 0)
    # Whole labels reach a level where they reach the next whole number.
    top, bottom = level.as_integer_ratio() if real else (int(level), 1)
    least = -(-top // bottom)
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    limits = np.iinfo(array.dtype)
    if least > limits.max:
        return np.zeros(array.shape, bool)
    return array >= array.dtype.type(max(least, limits.min))


cdef object as_labels(object y_true, object relevance_level, Items* items):
    """Sets the label column; the returned object keeps its memory alive."""
    cdef int kind
    cdef object array = y_true
    if relevance_level is None:
        kind = plain_kind(y_true)
        if kind >= 0 and kind != KIND_F16:
            set_column(&items.label, <cnp.ndarray>y_true, kind)
            items.n = cnp.PyArray_DIM(<cnp.ndarray>y_true, 0)
            return y_true
    array = one_dimension(as_ndarray(y_true, "y_true", LABELS), "y_true")
    if relevance_level is not None:
        array = graded(array, relevance_level)
    kind = kind_of(array.dtype.num)
    if kind < 0 or kind == KIND_F16:
        array = array.astype(np.float64)
        kind = KIND_F64
    set_column(&items.label, <cnp.ndarray>array, kind)
    items.n = array.shape[0]
    return array


cdef object as_scores(object y_score, object name, Items* items):
    """Sets the score column; the returned object keeps its memory alive.

    It is an ndarray, or a pair (ranks, values) for a type that no kernel compares: scores as places among the sorted
    distinct values.
    """
    cdef int kind = plain_kind(y_score)
    cdef Py_ssize_t n
    cdef object array = y_score, kept
    if kind < 0:
        array = one_dimension(as_ndarray(y_score, name, SCORES), name)
        kind = kind_of(array.dtype.num)
    kept = array
    if kind < 0:
        if np.isnan(array).any():
            raise ValueError(f"{name}[{int(np.argmax(np.isnan(array)))}] is nan: scores of dtype {array.dtype} "
                             "take no nan_policy")
        values, places = np.unique(array, return_inverse=True)
        array = places.astype(np.int64)
        kept = (array, values)
        kind = KIND_I64
    set_column(&items.score, <cnp.ndarray>array, kind)
    items.type = type_of(kind)
    n = cnp.PyArray_DIM(<cnp.ndarray>array, 0)
    if n != items.n:
        raise ValueError(f"y_true has {items.n} items, {name} has {n}")
    return kept


cdef object origin_of(object kept):
    return kept[1] if isinstance(kept, tuple) else kept.dtype


cdef object scores_as(const void* score, Py_ssize_t rows, ScoreType type, object origin):
    """Scores of the kernels' type as an array of the type they had when they came in."""
    cdef cnp.npy_intp shape = rows
    cdef object array
    if type == SCORE_FLOAT:
        array = cnp.PyArray_SimpleNewFromData(1, &shape, cnp.NPY_FLOAT, <void*>score)
    elif type == SCORE_DOUBLE:
        array = cnp.PyArray_SimpleNewFromData(1, &shape, cnp.NPY_DOUBLE, <void*>score)
    else:
        array = cnp.PyArray_SimpleNewFromData(1, &shape, cnp.NPY_INT64, <void*>score)
    if isinstance(origin, np.ndarray):
        return origin[array]
    if type == SCORE_INT64 and origin.kind == "u":
        return array.view(np.uint64) ^ np.uint64(1 << 63)
    return array.astype(origin)


cdef object bad_label(object y_true, object y_score, Py_ssize_t place, object shown):
    cdef object labels = np.asarray(y_true), scores = np.asarray(y_score)
    hint = ""
    if scores.size > 0 and scores.dtype.kind in "biuf" and np.isin(scores, (0, 1)).all():
        hint = "; y_score holds only 0 and 1: were y_true and y_score swapped?"
    return ValueError(f"y_true[{shown}] is {labels.reshape(-1)[place]}: {LABELS}{hint}")


cdef object bad_score(object name, object shown):
    return ValueError(f"{name}[{shown}] is nan: give nan_policy='worst' to rank it below all other scores, "
                      "or 'omit' to leave it out")


cdef int raise_status(Status status, const Tally* tally, object y_true, object y_score) except -1:
    if status == STATUS_BAD_LABEL:
        raise bad_label(y_true, y_score, tally.bad_label, tally.bad_label)
    if status == STATUS_NO_MEMORY:
        raise MemoryError("not enough memory to rank the items")
    raise bad_score("y_score", tally.bad_score)


# --------------------------------------------------------------------------------------------------------- one ranking


cdef inline bint fits_small(const Items* items, Strategy strategy) noexcept nogil:
    return items.n < SMALL and strategy <= STRATEGY_SEARCH


@cython.final
cdef class Counting:
    """A long count, in pieces: between them Ctrl-C is noticed, and workers take their share of the items."""
    cdef Items items
    cdef Index index
    cdef uint32_t* narrow
    cdef int64_t* wide
    cdef Tally tally
    cdef bint cancelled
    cdef object lock

    def __dealloc__(self):
        PyMem_RawFree(self.narrow)
        PyMem_RawFree(self.wide)

    def count(self, Py_ssize_t start, Py_ssize_t stop):
        """Counts the items from start to stop, and adds what it counted to the total."""
        cdef Py_ssize_t size = 2 * self.index.m + 2, piece = max(PIECE, good_piece(&self.index)), end, since = 0
        cdef uint32_t* counts
        cdef void* scratch
        cdef Tally tally
        cdef bint fine = True
        tally_clear(&tally)
        counts = <uint32_t*>PyMem_RawCalloc(size, sizeof(uint32_t))
        scratch = PyMem_RawMalloc(scratch_size(&self.index, min(piece, stop - start)))
        prefer_huge_pages(counts, size * sizeof(uint32_t))
        prefer_huge_pages(scratch, scratch_size(&self.index, min(piece, stop - start)))
        try:
            if counts is NULL or scratch is NULL:
                raise MemoryError("not enough memory to count the items")
            while start < stop and fine and not self.cancelled:
                end = min(stop, start + piece)
                with nogil:
                    fine = count_items(&self.items, start, end, &self.index, scratch, counts, &tally)
                PyErr_CheckSignals()
                since += end - start
                start = end
                if since > NARROW - piece:
                    counts = self.add(counts, &tally)
                    memset(counts, 0, size * sizeof(uint32_t))
                    since = 0
            counts = self.add(counts, &tally)
        finally:
            PyMem_RawFree(counts)
            PyMem_RawFree(scratch)

    cdef uint32_t* add(self, uint32_t* counts, Tally* tally) except? NULL:
        """Adds counts to the total, or makes them the total if there is none yet; what is left to free."""
        cdef Py_ssize_t i
        with self.lock:
            if self.wide is not NULL:
                for i in range(2 * self.index.m + 2):
                    self.wide[i] += counts[i]
            elif self.narrow is not NULL:
                for i in range(2 * self.index.m + 2):
                    self.narrow[i] += counts[i]
            else:
                self.narrow = counts
                counts = NULL
            self.tally.nan_items += tally.nan_items
            tally.nan_items = 0
            if tally.bad_score >= 0 and (self.tally.bad_score < 0 or tally.bad_score < self.tally.bad_score):
                self.tally.bad_score = tally.bad_score
        return counts

    cdef int run(self, Py_ssize_t workers) except -1:
        cdef Py_ssize_t size = 2 * self.index.m + 2, share, w, n = self.items.n
        import threading
        self.lock = threading.Lock()
        tally_clear(&self.tally)
        if n >= NARROW:
            self.wide = <int64_t*>PyMem_RawCalloc(size, sizeof(int64_t))
            if self.wide is NULL:
                raise MemoryError("not enough memory to count the items")
        share = (n + workers - 1) // workers
        in_threads(self.count, [(min(n, w * share), min(n, (w + 1) * share)) for w in range(workers)], self.cancel)
        return 0

    def cancel(self):
        self.cancelled = True


def in_threads(function, list calls, cancel):
    """Calls of a function side by side, the first in this thread; an error or Ctrl-C in one ends them all."""
    if len(calls) == 1:
        function(*calls[0])
        return
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(len(calls) - 1) as pool:
        try:
            futures = [pool.submit(function, *call) for call in calls[1:]]
            function(*calls[0])
            for future in futures:
                future.result()
        except BaseException:
            cancel()
            raise


cdef Status rank_long(const Items* items, bint lower, Strategy strategy, Py_ssize_t workers, Py_ssize_t capacity,
                      Workspace* work, Ranking* ranking, Tally* tally, Counting counting) except *:
    """As rank_items, in pieces between which Ctrl-C is noticed, by several workers if so wanted.

    The counts stay with ``counting``, which the caller keeps until the ranking has been walked down.
    """
    cdef Py_ssize_t start = 0, stop, found = 0
    cdef bint fine
    tally_clear(tally)
    while start < items.n and not counting.cancelled:
        stop = min(items.n, start + 4 * PIECE)
        with nogil:
            found = gather_relevant(items, start, stop, work.relevant.memory, found, capacity, tally)
        if tally.bad_label >= 0:
            return STATUS_BAD_LABEL
        if tally.bad_score >= 0:
            return STATUS_BAD_SCORE
        PyErr_CheckSignals()
        start = stop
    with nogil:
        fine = index_relevant(items, items.n, found, strategy, work, &counting.index)
    if not fine:
        return STATUS_NO_MEMORY
    release(&work.counts)  # workers have their own
    counting.items = items[0]
    counting.run(max(1, min(workers, items.n // SMALL)))
    tally.nan_items = counting.tally.nan_items
    tally.bad_score = counting.tally.bad_score
    if tally.bad_score >= 0:
        return STATUS_BAD_SCORE
    ranking.counts.narrow = counting.narrow
    ranking.counts.wide = counting.wide
    finish_ranking(items, items.n, found, lower, &counting.index, tally, ranking)
    return STATUS_OK


cdef Status rank_large(const Items* items, bint lower, Strategy strategy, Py_ssize_t workers, Py_ssize_t capacity,
                       Workspace* work, Ranking* ranking, Tally* tally, Counting counting) except *:
    """Ranks in memory from the heap, without the GIL, at most so many relevant items; ``counting`` keeps the counts."""
    cdef Status status = STATUS_OK
    cdef Py_ssize_t relevant
    workspace_init(work)
    with nogil:
        tally_clear(tally)
        relevant = count_labels(&items.label, 0, items.n, tally)
        if relevant < 0:
            status = STATUS_BAD_LABEL
        else:
            relevant = min(relevant, capacity)
            if not reserve_relevant(items, relevant, work):
                status = STATUS_NO_MEMORY
            elif items.n <= PIECE and workers == 1:
                status = rank_items(items, 0, items.n, lower, strategy, relevant, work, ranking, tally)
    if status == STATUS_OK and (items.n > PIECE or workers > 1):
        status = rank_long(items, lower, strategy, workers, relevant, work, ranking, tally, counting)
    return status


cdef int allocate_table(Py_ssize_t rows, OwnTable* table) except -1:
    table.block = PyMem_RawMalloc(32 * rows + 1)
    prefer_huge_pages(table.block, 32 * rows)
    if table.block is NULL:
        raise MemoryError(f"not enough memory for a table of {rows} rows")
    table.above = <int64_t*>table.block
    table.tied = table.above + rows
    table.hits = table.tied + rows
    table.score = table.hits + rows
    table.rows = rows
    return 0


cdef int write_table(const Items* items, const Workspace* work, Ranking* ranking, OwnTable* table) except -1:
    allocate_table(num_rows(ranking), table)
    ranking_rows(ranking, table.rows, table.above, table.tied, table.hits)
    ranking_scores(items, work, ranking, table.score)
    table.num_items = ranking.num_items
    table.num_hits = ranking.num_hits
    return 0


cdef object rank_table(object y_true, object y_score, object relevance_level, object lower_is_better,
                       object nan_policy, object workers, object strategy, OwnTable* table):
    """The table of one ranking; returns the scores' origin, from which ``scores_as`` restores their type."""
    cdef Items items
    cdef SmallSpace space
    cdef Workspace work
    cdef Ranking ranking
    cdef Tally tally
    cdef Status status
    cdef bint lower = parse_lower(lower_is_better)
    cdef Strategy way = parse_strategy(strategy)
    cdef Py_ssize_t threads = parse_workers(workers)
    items.nan_policy = parse_nan_policy(nan_policy)
    _labels = as_labels(y_true, relevance_level, &items)
    scores = as_scores(y_score, "y_score", &items)
    if fits_small(&items, way):
        small_workspace(&space, &work)
        status = rank_items(&items, 0, items.n, lower, way, SMALL, &work, &ranking, &tally)
        if status != STATUS_OK:
            raise_status(status, &tally, y_true, y_score)
        write_table(&items, &work, &ranking, table)
    else:
        counting = Counting.__new__(Counting)
        try:
            status = rank_large(&items, lower, way, threads, items.n, &work, &ranking, &tally, counting)
            if status != STATUS_OK:
                raise_status(status, &tally, y_true, y_score)
            write_table(&items, &work, &ranking, table)
        finally:
            workspace_free(&work)
    return origin_of(scores)


cdef double rank_average_precision(object y_true, object y_score, object relevance_level, object lower_is_better,
                                   object nan_policy, object workers, object strategy, object num_relevant,
                                   const Reading* reading) except? -1:
    """Average precision of one ranking, without a table in memory."""
    cdef Items items
    cdef SmallSpace space
    cdef Workspace work
    cdef Ranking ranking
    cdef Tally tally
    cdef Status status
    cdef bint lower = parse_lower(lower_is_better)
    cdef Strategy way = parse_strategy(strategy)
    cdef Py_ssize_t threads = parse_workers(workers)
    items.nan_policy = parse_nan_policy(nan_policy)
    # Names with an underscore only keep memory alive.
    _labels = as_labels(y_true, relevance_level, &items)
    _scores = as_scores(y_score, "y_score", &items)
    if fits_small(&items, way):
        small_workspace(&space, &work)
        status = rank_items(&items, 0, items.n, lower, way, SMALL, &work, &ranking, &tally)
        if status != STATUS_OK:
            raise_status(status, &tally, y_true, y_score)
        return ranking_average_precision(&ranking, reading, parse_num_relevant(num_relevant, ranking.num_hits))
    counting = Counting.__new__(Counting)
    try:
        status = rank_large(&items, lower, way, threads, items.n, &work, &ranking, &tally, counting)
        if status != STATUS_OK:
            raise_status(status, &tally, y_true, y_score)
        return ranking_average_precision(&ranking, reading, parse_num_relevant(num_relevant, ranking.num_hits))
    finally:
        workspace_free(&work)


# -------------------------------------------------------------------------------------------------------- many rankings

cdef object as_ids(object qid, Py_ssize_t n, str whole):
    """Ids as an array, none of them missing; `whole` says how many there must be."""
    cdef object ids = as_column(qid, "qid")
    if ids.ndim != 1 or ids.shape[0] != n:
        raise ValueError(f"{whole.format(n)}, qid has shape {ids.shape}")
    if ids.dtype.kind == "O":
        for i, value in enumerate(ids.tolist()):
            if value is None or value != value:
                raise ValueError(f"qid[{i}] is {value!r}: every item needs a query id")
    elif ids.dtype.kind in "fc" and np.isnan(ids).any():
        raise ValueError(f"qid[{int(np.argmax(np.isnan(ids)))}] is nan: every item needs a query id")
    elif ids.dtype.kind in "mM" and np.isnat(ids).any():
        raise ValueError(f"qid[{int(np.argmax(np.isnat(ids)))}] is NaT: every item needs a query id")
    return ids


cdef object group_by_id(object qid, Py_ssize_t n):
    """(ids, codes, counts): the distinct ids ascending, each item's place among them, items of each."""
    cdef object ids = as_ids(qid, n, "y_true has {} items"), codes, low, high
    if n > 0 and ids.dtype.kind in "iu":
        low, high = int(ids.min()), int(ids.max())
        if high - low < 4 * n + 1024:
            kind = ids.dtype
            if kind.itemsize < 8:
                ids = ids.astype(np.int64)  # the difference of two int8 may be none
            codes = (ids - ids.dtype.type(low)).astype(np.int64, copy=False)
            counts = np.bincount(codes, minlength=high - low + 1)
            present = np.flatnonzero(counts)
            if present.shape[0] < counts.shape[0]:
                dense = np.cumsum(counts > 0) - 1
                codes = dense[codes]
                counts = counts[present]
            return present.astype(kind) + kind.type(low), codes, counts
    try:
        ids, codes, counts = np.unique(ids, return_inverse=True, return_counts=True)
    except TypeError:
        raise TypeError("qid holds ids that cannot be ordered, such as numbers and strings together") from None
    return ids, codes.astype(np.int64, copy=False), counts


cdef object as_offsets(object offsets, Py_ssize_t n, str name="offsets", str whole="y_true"):
    # A copy: what is checked here must not change under the kernels.
    cdef object array = np.array(as_ndarray(offsets, name, WHOLE))
    if array.ndim != 1 or array.shape[0] == 0:
        raise ValueError(f"{name} must be one-dimensional with one entry more than there are queries, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}: {WHOLE}")
    if array[0] != 0:
        raise ValueError(f"{name}[0] is {array[0]}: must be 0")
    falls = np.flatnonzero(array[1:] < array[:-1])
    if falls.shape[0] > 0:
        i = int(falls[0]) + 1
        raise ValueError(f"{name}[{i}] is {array[i]}, less than {name}[{i - 1}] = {array[i - 1]}: {name} must not fall")
    if array[-1] != n:
        raise ValueError(f"{name}[{array.shape[0] - 1}] is {array[-1]}, but {whole} has {n} items")
    return np.ascontiguousarray(array, dtype=np.int64)


cdef object scatter(object array, object places):
    """The array with item i moved to places[i]."""
    cdef object out = np.empty(array.shape[0], array.dtype)
    cdef Py_ssize_t start
    for start in range(0, array.shape[0], PIECE):
        out[places[start:start + PIECE]] = array[start:start + PIECE]
        PyErr_CheckSignals()
    return out


@cython.final
cdef class Queries:
    """The items of many rankings, query by query."""

    def __init__(self, y_true, y_score, qid, offsets, relevance_level, nan_policy):
        labels = as_ndarray(y_true, "y_true", LABELS)
        scores = as_ndarray(y_score, "y_score", SCORES)
        self.width = 0
        self.columns = 0
        self.step = 0
        self.order = None
        self.qid = None
        if labels.ndim == 2 or scores.ndim == 2:
            if qid is not None or offsets is not None:
                raise ValueError(f"{'qid' if offsets is None else 'offsets'} goes with one-dimensional y_true and y_score; "
                                 f"in two dimensions a row is a query, got shapes {labels.shape} and {scores.shape}")
            if labels.ndim == 1 and scores.shape[0] == labels.shape[0]:
                # One ranking of the same items for each column.
                self.columns = scores.shape[1]
                scores = scores.T
                if scores.size > 0 and kind_of(scores.dtype.num) >= 0 and scores.strides[0] != 0:
                    self.share_labels(labels, scores, relevance_level, parse_nan_policy(nan_policy))
                    return
                labels = np.broadcast_to(labels, scores.shape)
            if labels.shape != scores.shape:
                raise ValueError(f"y_true has shape {labels.shape}, y_score has shape {scores.shape}")
            self.width = max(1, scores.shape[1])
            self.offsets = np.arange(scores.shape[0] + 1, dtype=np.int64) * scores.shape[1]
            labels = labels.reshape(-1)
            scores = scores.reshape(-1)
        else:
            one_dimension(labels, "y_true")
            one_dimension(scores, "y_score")
            if labels.shape[0] != scores.shape[0]:
                raise ValueError(f"y_true has {labels.shape[0]} items, y_score has {scores.shape[0]}")
            if qid is not None and offsets is not None:
                raise ValueError("qid and offsets both given: one of them says which query an item belongs to")
            if qid is not None:
                self.qid, codes, counts = group_by_id(qid, labels.shape[0])
                self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
                if (codes[1:] < codes[:-1]).any():
                    places = np.empty(codes.shape[0], np.int64)
                    stable_places(codes, self.offsets, places)
                    labels = scatter(labels, places)
                    scores = scatter(scores, places)
                    self.order = places
            elif offsets is not None:
                self.offsets = as_offsets(offsets, labels.shape[0])
            else:
                raise ValueError("one-dimensional y_true and y_score need qid or offsets to say which query an item belongs to")
        self.items.nan_policy = parse_nan_policy(nan_policy)
        self.labels = as_labels(labels, relevance_level, &self.items)
        self.scores = as_scores(scores, "y_score", &self.items)
        self.num_queries = self.offsets.shape[0] - 1

    cdef int share_labels(self, object labels, object scores, object relevance_level, NanPolicy nan_policy) except -1:
        """The rows of `scores` as rankings of the same items; nothing is copied."""
        self.items.nan_policy = nan_policy
        self.labels = as_labels(labels, relevance_level, &self.items)
        as_scores(scores[0], "y_score", &self.items)
        self.scores = scores
        self.step = cnp.PyArray_STRIDE(<cnp.ndarray>scores, 0)
        # A single row may have been given any stride.
        set_column(&self.items.score, <cnp.ndarray>scores[0], kind_of(scores.dtype.num))
        self.num_queries = scores.shape[0]
        self.width = scores.shape[1]
        self.offsets = np.arange(self.num_queries + 1, dtype=np.int64) * self.width
        return 0

    cdef object flat_labels(self):
        return np.tile(self.labels, self.num_queries) if self.columns > 0 and self.step != 0 else self.labels

    cdef object where(self, Py_ssize_t place):
        """The caller's index for an item."""
        if self.columns > 0:
            return f"{place % self.width}, {place // self.width}"
        if self.width > 0:
            return f"{place // self.width}, {place % self.width}"
        if self.order is not None:
            return int(np.flatnonzero(self.order == place)[0])
        return place

    cdef int raise_status(self, Status status, const Tally* tally) except -1:
        if status == STATUS_BAD_LABEL:
            shown = self.where(tally.bad_label)
            if self.columns > 0:
                shown = tally.bad_label % self.width
            raise bad_label(self.labels, self.scores if not isinstance(self.scores, tuple) else self.scores[0],
                            tally.bad_label % self.labels.shape[0], shown)
        if status == STATUS_NO_MEMORY:
            raise MemoryError("not enough memory to rank the items")
        raise bad_score("y_score", self.where(tally.bad_score))

    cdef object origin(self):
        return origin_of(self.scores)

    cdef object laid_out(self, object values, str name):
        """Another value for each item, in the order of the items here."""
        array = as_column(values, name)
        if self.columns > 0:
            if array.ndim == 1:
                array = np.broadcast_to(array, (self.columns, array.shape[0]))
            else:
                array = array.T
        if array.size != int(self.offsets[-1]) or (self.width == 0 and array.ndim != 1):
            raise ValueError(f"{name} has shape {np.shape(values)}: must be one for each of the {self.offsets[-1]} items")
        array = array.reshape(-1)
        return array if self.order is None else scatter(array, self.order)

    cdef object first_to_last(self):
        """The order in which the caller gave the items, as a key."""
        return np.arange(self.offsets[-1])  # laying them out query by query keeps it

    cdef object real_scores(self):
        if isinstance(self.scores, tuple):
            return self.scores[1][self.scores[0]]
        return self.scores.reshape(-1)

    cdef object per_query(self, object num_relevant):
        """num_relevant as one number for each query, or None."""
        if num_relevant is None:
            return None
        array = array_or_none(num_relevant, "num_relevant")
        if array is None or array.ndim == 0:
            number = whole_number(num_relevant, "num_relevant")
            if number > LARGEST:
                raise ValueError(f"num_relevant is {number}: more than 2**62 cannot be counted")
            return np.full(self.num_queries, max(number, -LARGEST), dtype=np.int64)
        array = as_ndarray(array, "num_relevant", WHOLE)
        if array.dtype.kind not in "iu":
            raise TypeError(f"num_relevant has dtype {array.dtype}: {WHOLE}")
        if array.shape != (self.num_queries,):
            raise ValueError(f"num_relevant has shape {array.shape}, but there are {self.num_queries} queries")
        large = np.flatnonzero(array > LARGEST)
        if large.shape[0] > 0:
            q = int(large[0])
            raise ValueError(f"num_relevant[{q}] is {array[q]}: more than 2**62 cannot be counted")
        return array.astype(np.int64)

    cdef object checked_relevant(self, object num_relevant, object num_hits):
        """num_relevant for each query, not below the relevant items found."""
        if num_relevant is None:
            return num_hits
        low = np.flatnonzero(num_relevant < num_hits)
        if low.shape[0] > 0:
            q = int(low[0])
            name = f"query {q}" if self.qid is None else f"query {self.qid[q:q + 1].tolist()[0]!r}"
            raise ValueError(f"num_relevant[{q}] is {num_relevant[q]}, but {name} holds {relevant_items(num_hits[q])}")
        return num_relevant

    cdef object shares(self, Py_ssize_t workers):
        """Ranges of queries, enough for all workers: few items, so that Ctrl-C is noticed between them, or one query."""
        piece = PIECE
        if workers > 1:
            piece = max(1, min(piece, int(self.offsets[-1]) // (4 * workers)))
        cuts = np.searchsorted(self.offsets, np.arange(piece, max(int(self.offsets[-1]), 1), piece))
        alone = np.flatnonzero(np.diff(self.offsets) > PIECE)
        cuts = np.unique(np.concatenate([[0], cuts, alone, alone + 1, [self.num_queries]]))
        return [(int(a), int(b)) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]


def stable_places(const int64_t[::1] codes, const int64_t[::1] offsets, int64_t[::1] places):
    """Where each item goes when the items are laid out code by code, their order kept."""
    cdef int64_t[::1] free = np.array(offsets, dtype=np.int64)
    cdef Py_ssize_t i, start
    for start in range(0, codes.shape[0], PIECE):
        with nogil:
            for i in range(start, min(start + PIECE, codes.shape[0])):
                places[i] = free[codes[i]]
                free[codes[i]] += 1
        PyErr_CheckSignals()


@cython.final
cdef class QueryRanking:
    """One pass over many rankings, some queries at a time."""
    cdef Queries queries
    cdef bint lower
    cdef Strategy strategy
    cdef const Reading* reading
    cdef Tables tables
    cdef bint whole_tables
    cdef object num_relevant
    cdef object average_precision
    cdef object num_items
    cdef object num_hits
    cdef bint cancelled
    cdef list running  # the Counting of each long query

    def rank(self, list ranges):
        cdef Py_ssize_t first, last, bad, q
        cdef Items items
        cdef Tables tables
        cdef Tally tally
        cdef Status status
        cdef const int64_t* offsets = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.queries.offsets)
        cdef int64_t* num_items = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.num_items)
        cdef int64_t* num_hits = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.num_hits)
        cdef const int64_t* num_relevant = NULL
        cdef const int64_t* wanted
        cdef double* average_precision = NULL
        if self.num_relevant is not None:
            num_relevant = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.num_relevant)
        if self.average_precision is not None:
            average_precision = <double*>cnp.PyArray_DATA(<cnp.ndarray>self.average_precision)
        for first, last in ranges:
            if self.cancelled:
                return
            if offsets[first + 1] - offsets[first] > PIECE:
                self.rank_alone(first, offsets, num_relevant, average_precision, num_items, num_hits)
                continue
            if self.queries.step == 0:
                with nogil:
                    status = rank_queries(&self.queries.items, offsets, first, last, self.lower, self.strategy,
                                          self.reading, num_relevant, average_precision, num_items, num_hits,
                                          &self.tables if self.whole_tables else NULL, &tally, &bad)
                if status != STATUS_OK:
                    self.queries.raise_status(status, &tally)
                PyErr_CheckSignals()
                continue
            for q in range(first, last):
                items = self.queries.items
                items.score.data += q * self.queries.step
                wanted = num_relevant
                if wanted is not NULL:
                    wanted += q
                tables = self.tables
                tables.place += q
                tables.rows += q
                with nogil:
                    status = rank_queries(&items, offsets, 0, 1, self.lower, self.strategy, self.reading,
                                          wanted, average_precision + (q if average_precision is not NULL else 0),
                                          num_items + q, num_hits + q, &tables if self.whole_tables else NULL, &tally,
                                          &bad)
                if status != STATUS_OK:
                    if tally.bad_score >= 0:
                        tally.bad_score += q * self.queries.width
                    self.queries.raise_status(status, &tally)
                PyErr_CheckSignals()

    cdef int rank_alone(self, Py_ssize_t q, const int64_t* offsets, const int64_t* num_relevant, double* average_precision,
                        int64_t* num_items, int64_t* num_hits) except -1:
        """A query of so many items that it is ranked in pieces."""
        cdef Items items = self.queries.items
        cdef Py_ssize_t start = <Py_ssize_t>offsets[q]
        cdef Workspace work
        cdef Ranking ranking
        cdef Tally tally
        cdef Status status
        cdef Counting counting = Counting.__new__(Counting)
        if self.queries.step == 0:
            items.label.data += start * items.label.stride
            items.score.data += start * items.score.stride
        else:
            items.score.data += q * self.queries.step
        items.n = <Py_ssize_t>offsets[q + 1] - start
        capacity = items.n
        if self.whole_tables:
            capacity = <Py_ssize_t>(self.tables.place[q + 1] - self.tables.place[q])
        self.running.append(counting)
        counting.cancelled = self.cancelled
        try:
            status = rank_large(&items, self.lower, self.strategy, 1, capacity, &work, &ranking, &tally, counting)
            if status != STATUS_OK:
                tally.bad_label += start
                tally.bad_score += start
                self.queries.raise_status(status, &tally)
            with nogil:
                query_done(&items, &work, &ranking, q, self.reading, num_relevant, average_precision, num_items, num_hits,
                           &self.tables if self.whole_tables else NULL)
        finally:
            workspace_free(&work)
            self.running.remove(counting)
        return 0

    def cancel(self):
        cdef Counting counting
        self.cancelled = True
        for counting in list(self.running):
            counting.cancel()

    cdef int run(self, Py_ssize_t workers) except -1:
        cdef object ranges = self.queries.shares(workers)
        self.running = []
        self.num_items = np.zeros(self.queries.num_queries, np.int64)
        self.num_hits = np.zeros(self.queries.num_queries, np.int64)
        if self.queries.num_queries == 0:
            return 0
        in_threads(self.rank, [(ranges[w::workers],) for w in range(min(workers, len(ranges)))], self.cancel)
        return 0


cdef object queries_average_precision(Queries queries, object lower_is_better, object workers, object strategy,
                                      object num_relevant, const Reading* reading):
    """Average precision of each query, without tables in memory."""
    cdef QueryRanking ranking = QueryRanking.__new__(QueryRanking)
    ranking.queries = queries
    ranking.lower = parse_lower(lower_is_better)
    ranking.strategy = parse_strategy(strategy)
    ranking.reading = reading
    ranking.whole_tables = False
    ranking.num_relevant = queries.per_query(num_relevant)
    ranking.average_precision = np.empty(queries.num_queries, np.float64)
    ranking.run(parse_workers(workers))
    queries.checked_relevant(ranking.num_relevant, ranking.num_hits)
    return ranking.average_precision


cdef object queries_tables(Queries queries, object lower_is_better, object workers, object strategy,
                           object num_relevant):
    """(row offsets, score, above, tied, hits, items, hits and relevant items of each query)."""
    cdef QueryRanking ranking = QueryRanking.__new__(QueryRanking)
    cdef Py_ssize_t num_queries = queries.num_queries, q, total, relevant = 0
    cdef Tally tally
    cdef int64_t[::1] place = np.zeros(num_queries + 1, np.int64)
    cdef int64_t[::1] rows = np.zeros(num_queries + 1, np.int64)
    cdef const int64_t[::1] offsets = queries.offsets
    cdef object columns, score
    ranking.queries = queries
    ranking.lower = parse_lower(lower_is_better)
    ranking.strategy = parse_strategy(strategy)
    ranking.reading = NULL
    ranking.whole_tables = True
    ranking.num_relevant = queries.per_query(num_relevant)
    # Room for as many rows as relevant items.
    total = 0
    tally_clear(&tally)
    with nogil:
        for q in range(num_queries):
            place[q] = total
            if queries.step == 0 or q == 0:
                relevant = count_labels(&queries.items.label, <Py_ssize_t>offsets[q], <Py_ssize_t>offsets[q + 1], &tally)
            total += relevant
            if tally.bad_label >= 0:
                break
    if tally.bad_label >= 0:
        queries.raise_status(STATUS_BAD_LABEL, &tally)
    place[num_queries] = total
    columns = np.empty((3, total), np.int64)
    score = np.empty(total, np.float32 if queries.items.type == SCORE_FLOAT
                     else np.float64 if queries.items.type == SCORE_DOUBLE else np.int64)
    ranking.tables.above = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>columns)
    ranking.tables.tied = ranking.tables.above + total
    ranking.tables.hits = ranking.tables.tied + total
    ranking.tables.score = cnp.PyArray_DATA(<cnp.ndarray>score)
    ranking.tables.place = &place[0]
    ranking.tables.rows = &rows[0]
    ranking.run(parse_workers(workers))
    starts = np.asarray(place)
    lengths = np.asarray(rows)[:num_queries]
    row_offsets = np.zeros(num_queries + 1, np.int64)
    np.cumsum(lengths, out=row_offsets[1:])
    if row_offsets[num_queries] < total:
        # Some relevant items share a row: close the gaps.
        keep = np.repeat(starts[:num_queries] - row_offsets[:num_queries], lengths) + np.arange(row_offsets[num_queries])
        columns = columns[:, keep]
        score = score[keep]
    return (row_offsets, scores_as(cnp.PyArray_DATA(<cnp.ndarray>score), score.shape[0], queries.items.type, queries.origin()),
            columns[0], columns[1], columns[2], ranking.num_items, ranking.num_hits,
            queries.checked_relevant(ranking.num_relevant, ranking.num_hits))


# ---------------------------------------------------------------------------------------- rankings that must be sorted

cdef object as_flags(object y_true, object y_score, object relevance_level):
    """Labels as an array of bool; the scores are looked at only for the error."""
    array = as_ndarray(y_true, "y_true", LABELS)
    if relevance_level is not None:
        return graded(array, relevance_level)
    flags = array == 1
    fine = flags | (array == 0)
    if not fine.all():
        place = int(np.argmin(fine.reshape(-1)))
        raise bad_label(array, y_score, place, ", ".join(str(i) for i in np.unravel_index(place, array.shape)))
    return flags


cdef object as_real(object values, str name):
    return as_ndarray(values, name, SCORES)


cdef object as_key(object tiebreak, Py_ssize_t n):
    """The secondary key of each item, or None for the order of the items."""
    if isinstance(tiebreak, str):
        if tiebreak == "order":
            return None
        raise unknown("tiebreak", tiebreak, "None, 'order', an array of keys")
    key = as_column(tiebreak, "tiebreak")
    if key.ndim != 1 or key.shape[0] != n:
        raise ValueError(f"y_true has {n} items, tiebreak has shape {key.shape}")
    if key.dtype.kind in "OT":
        return places_of(key.tolist())
    if key.dtype.kind == "f" and np.isnan(key).any():
        raise ValueError(f"tiebreak[{int(np.argmax(np.isnan(key)))}] is nan: keys must be ordered")
    if key.dtype.kind not in "biufSU":
        raise TypeError(f"tiebreak has dtype {key.dtype}: keys must be numbers or strings")
    return key


cdef object places_of(list keys):
    """Numbers or texts of Python as places in their order."""
    for i, key in enumerate(keys):
        if not isinstance(key, (str, bytes, int, float, np.number)):
            raise TypeError(f"tiebreak[{i}] is {key!r} of type {type(key).__name__}: keys must be numbers or strings")
        if key != key:
            raise ValueError(f"tiebreak[{i}] is nan: keys must be ordered")
    try:
        return np.unique(np.array(keys, dtype=object), return_inverse=True)[1]
    except TypeError:
        raise TypeError("tiebreak holds keys that cannot be ordered, such as numbers and strings together") from None


cdef object as_weight(object sample_weight, Py_ssize_t n):
    weight = as_ndarray(sample_weight, "sample_weight", "weights must be real numbers").astype(np.float64)
    if weight.shape != (n,):
        raise ValueError(f"y_true has {n} items, sample_weight has shape {weight.shape}")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(f"sample_weight[{place}] is {weight[place]}: weights must be finite and not negative")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight has a sum beyond the greatest float64: divide all weights by one number")
    return weight


cdef object apply_nan_policy(object nan_policy, object score, Queries queries):
    """Which items stay, or None for all."""
    cdef NanPolicy policy = parse_nan_policy(nan_policy)
    if score.dtype.kind != "f":
        return None
    missing = np.isnan(score)
    if policy == NAN_WORST or not missing.any():
        return None
    if policy == NAN_RAISE:
        place = int(np.argmax(missing))
        raise bad_score("y_score", place if queries is None else queries.where(place))
    return ~missing


# ------------------------------------------------------------------------------------------------------ counted in blocks

def checked_whole(value, name):
    return whole_number(value, name)


def checked_array(values, name, what):
    """An array of one dimension and a real type that holds all values exactly, none wider than float64."""
    return as_double(one_dimension(as_ndarray(values, name, what), name), name)


def checked_scores(values, name):
    """Scores of any real type, as a ranking reads them."""
    return as_real(values, name)


def checked_flags(y_true, y_score, relevance_level):
    """Which items are relevant, as a ranking reads the labels."""
    return as_flags(y_true, y_score, relevance_level)


def checked_sorted(values, name, lower_is_better, nan_policy):
    """Thresholds or edges: distinct and ascending, of a type in which scores are compared."""
    parse_lower(lower_is_better)
    cdef NanPolicy policy = parse_nan_policy(nan_policy)
    array = one_dimension(as_real(values, name), name)
    if array.dtype.kind == "f":
        missing = np.isnan(array)
        if missing.any():
            if policy == NAN_RAISE or name == "edges":
                raise ValueError(f"{name}[{int(np.argmax(missing))}] is nan")
            array = array[~missing]
        array = as_double(array, name)
        array = array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64) + 0
    elif array.dtype.kind == "u" and array.dtype.itemsize == 8:
        array = array.astype(np.uint64)
    else:
        array = array.astype(np.int64)
    if name == "edges":
        falls = np.flatnonzero(~(array[1:] > array[:-1]))
        if falls.shape[0] > 0:
            i = int(falls[0]) + 1
            raise ValueError(f"edges[{i}] is {array[i]}, after {array[i - 1]}: edges must increase")
        return array
    return np.unique(array)


cdef object as_double(object array, str name):
    """A type wider than float64 as float64, where that changes no value."""
    if array.dtype.itemsize <= 8:
        return array
    narrow = unchanged(array, np.dtype(np.float64))
    if narrow is None:
        raise TypeError(f"{name} of dtype {array.dtype} holds values that no float64 has: blocks are compared in float64")
    return narrow


def unchanged(array, dtype):
    """The numbers in another type, or None if one of them would be another number."""
    with np.errstate(invalid="ignore", over="ignore"):
        there = array.astype(dtype)
        back = there.astype(array.dtype)
    if not np.array_equal(back, array, equal_nan=array.dtype.kind == "f"):
        return None
    # What is beyond an integer type may come back as if it were not: wrapped, or on some machines cut off.
    for numbers, type in ((array, dtype), (there, array.dtype)):
        if type.kind in "iu" and numbers.shape[0] > 0:
            limits = np.iinfo(type)
            if not (limits.min <= numbers.min().item() and numbers.max().item() <= limits.max):
                return None
    return there


def equal_numbers(a, b):
    """Where two arrays of one shape hold the same number, whatever their types; NaN is NaN."""
    if a.dtype != b.dtype:
        a, b = a.astype(object), b.astype(object)  # Python compares an integer and a float exactly, numpy as floats
    return ((a == b) | ((a != a) & (b != b))).astype(bool)


def checked_block(y_true, y_score, cuts):
    """(relevant, score, cuts), the last two in one type that holds both exactly."""
    relevant = one_dimension(as_flags(y_true, y_score, None), "y_true")
    score = as_double(one_dimension(as_real(y_score, "y_score"), "y_score"), "y_score")
    if score.shape[0] != relevant.shape[0]:
        raise ValueError(f"y_true has {relevant.shape[0]} items, y_score has {score.shape[0]}")
    if score.dtype == cuts.dtype:
        return relevant, score, cuts
    wide = np.promote_types(score.dtype, cuts.dtype)
    for array, name in ((score, "y_score"), (cuts, "thresholds")):
        if unchanged(array, wide) is None:
            raise TypeError(f"{name} of dtype {array.dtype} cannot be compared exactly with scores of dtype "
                            f"{cuts.dtype if name == 'y_score' else score.dtype}")
    if wide.kind == "f" and cuts.dtype.kind == "f" and score.dtype.itemsize > cuts.dtype.itemsize and score.dtype.kind == "f":
        raise TypeError(f"y_score has dtype {score.dtype}, but the thresholds have {cuts.dtype}: rounded thresholds would "
                        "miss the scores they were made from")
    if wide == np.float16:
        wide = np.dtype(np.float32)
    return relevant, score.astype(wide), cuts.astype(wide)


def distinct_scores(scores):
    """Sorts scores of a compared type, none NaN, in an array that nobody else sees: distinct ones, how often each."""
    cdef Py_ssize_t m, n = scores.shape[0]
    cdef ScoreType type
    turned = scores.dtype == np.uint64
    if turned:
        scores ^= np.uint64(1 << 63)
        scores = scores.view(np.int64)
    type = type_of(kind_of((<cnp.dtype>scores.dtype).type_num))
    scratch = np.empty_like(scores)
    cdef void* data = cnp.PyArray_DATA(<cnp.ndarray>scores)
    cdef void* room = cnp.PyArray_DATA(<cnp.ndarray>scratch)
    with nogil:
        m = sort_relevant(data, n, type, room)
    scratch = None
    hits = np.empty(m, np.int64)
    room = cnp.PyArray_DATA(<cnp.ndarray>hits)
    with nogil:
        keep_distinct(data, n, type, <int64_t*>room)
    if turned:
        scores = scores.view(np.uint64)
        scores ^= np.uint64(1 << 63)
    return scores[:m], hits


@cython.final
cdef class BlockCounter:
    """Counts blocks of scores against sorted thresholds, which siblings share, each with counts of its own.

    What the kernels need of the thresholds is made once, so that a small block costs nothing that grows with their
    number.
    """

    def __cinit__(self):
        self.taken = PyThread_allocate_lock()
        if self.taken is NULL:
            raise MemoryError("not enough memory for a counter")

    def __init__(self, cuts):
        cdef Items items
        cdef Py_ssize_t m = cuts.shape[0]
        cdef Strategy strategy
        items.n = m
        as_scores(cuts, "thresholds", &items)
        self.type = items.type
        self.thresholds = np.append(cuts, cuts.dtype.type(0))
        if cuts.dtype == np.uint64:
            self.cuts = cuts
            self.thresholds = (self.thresholds ^ np.uint64(1 << 63)).view(np.int64)
        else:
            self.cuts = self.thresholds[:m]
        strategy = choose_strategy(self.type, m, PIECE)
        self.memory = np.empty(index_size(strategy, m, ENDLESS), np.uint8)
        build_index(strategy, self.type, cnp.PyArray_DATA(<cnp.ndarray>self.thresholds), m, ENDLESS,
                    cnp.PyArray_DATA(<cnp.ndarray>self.memory), &self.index)
        self.index.others_only = False
        self.nan_items = 0

    def __dealloc__(self):
        PyMem_RawFree(self.narrow)
        PyMem_RawFree(self.wide)
        PyMem_RawFree(self.scratch)
        if self.taken is not NULL:
            PyThread_free_lock(self.taken)

    def sibling(self):
        """Without counts yet, for another thread."""
        cdef BlockCounter other = BlockCounter.__new__(BlockCounter)
        other.cuts, other.thresholds, other.memory = self.cuts, self.thresholds, self.memory
        other.type, other.index = self.type, self.index
        other.nan_items = 0
        return other

    cdef int prepare(self) except -1:
        """Room for the counts."""
        cdef Py_ssize_t size = 2 * self.cuts.shape[0] + 2
        if self.scratch is NULL:
            self.scratch = PyMem_RawMalloc(scratch_size(&self.index, PIECE))
            prefer_huge_pages(self.scratch, scratch_size(&self.index, PIECE))
        if self.narrow is NULL:
            self.narrow = <uint32_t*>PyMem_RawCalloc(size, sizeof(uint32_t))
            prefer_huge_pages(self.narrow, size * sizeof(uint32_t))
        if self.scratch is NULL or self.narrow is NULL:
            raise MemoryError("not enough memory to count the items")
        return 0

    cdef int widen(self) except -1:
        cdef Py_ssize_t i, size = 2 * self.cuts.shape[0] + 2
        if self.wide is NULL:
            self.wide = <int64_t*>PyMem_RawCalloc(size, sizeof(int64_t))
            if self.wide is NULL:
                raise MemoryError("not enough memory to count the items")
        with nogil:
            for i in range(size):
                self.wide[i] += self.narrow[i]
            memset(self.narrow, 0, size * sizeof(uint32_t))
        self.since = 0
        return 0

    def add(self, score, nan_policy, bint checked=False):
        """Counts a block of the thresholds' type; a NaN that is not allowed is found before anything is counted.

        `checked`: there is none.
        """
        if not PyThread_acquire_lock(self.taken, NOWAIT_LOCK):
            raise RuntimeError("another thread counts with this counter: each needs one of its own, which merge")
        try:
            self.add_block(score, nan_policy, checked)
        finally:
            PyThread_release_lock(self.taken)

    cdef int add_block(self, score, nan_policy, bint checked) except -1:
        cdef Items items
        cdef Index index
        cdef Tally tally
        cdef Py_ssize_t start = 0, stop
        cdef bint missing
        items.n = score.shape[0]
        items.nan_policy = parse_nan_policy(nan_policy)
        _kept = as_scores(score, "y_score", &items)
        if items.type != self.type:
            raise TypeError(f"y_score has dtype {score.dtype}, but is counted against {self.cuts.dtype}")
        with nogil:
            missing = not checked and look_for_nan(&items, 0, items.n)
        if missing and items.nan_policy == NAN_RAISE:
            raise bad_score("y_score", int(np.argmax(np.isnan(score))))
        tally_clear(&tally)
        tally.no_nan = not missing
        self.prepare()
        index = self.index
        if items.n < (index.m if index.strategy == STRATEGY_BUCKETS else <Py_ssize_t>index.buckets.number):
            index.strategy = STRATEGY_SEARCH  # the others have a cost that grows with the number of buckets or parts
        while start < items.n:
            stop = min(items.n, start + PIECE)
            if self.since > NARROW - (stop - start):
                self.widen()
            with nogil:
                count_items(&items, start, stop, &index, self.scratch, self.narrow, &tally)
            self.since += stop - start
            PyErr_CheckSignals()
            start = stop
        if items.nan_policy == NAN_WORST:
            self.nan_items += tally.nan_items
        return 0

    def absorb(self, BlockCounter other):
        """Takes over the counts of a sibling, which has none afterwards."""
        cdef Py_ssize_t i, size = 2 * self.cuts.shape[0] + 2
        self.nan_items += other.nan_items
        other.nan_items = 0
        if other.narrow is NULL:
            return
        if self.narrow is NULL:
            self.narrow, self.wide, self.since = other.narrow, other.wide, other.since
            other.narrow = NULL
        else:
            if other.wide is not NULL or self.since + other.since > NARROW:
                self.widen()
                other.widen()
                with nogil:
                    for i in range(size):
                        self.wide[i] += other.wide[i]
            else:
                with nogil:
                    for i in range(size):
                        self.narrow[i] += other.narrow[i]
                self.since += other.since
            PyMem_RawFree(other.narrow)
            PyMem_RawFree(other.wide)
            other.narrow = NULL
        other.wide = NULL
        other.since = 0

    cdef int write_table(self, const int64_t* hits, bint lower, int64_t nan_hits, OwnTable* table) except -1:
        """The table of all that was counted, in memory of its own; hits are the relevant items at each threshold."""
        cdef Ranking ranking
        cdef Py_ssize_t i, row, m = self.cuts.shape[0]
        cdef Py_ssize_t bad = -1
        PyMem_RawFree(self.scratch)
        self.scratch = NULL
        if self.narrow is NULL:
            self.prepare()
        if self.wide is not NULL:
            self.widen()
        memset(&ranking, 0, sizeof(Ranking))
        ranking.counts.narrow = self.narrow
        ranking.counts.wide = self.wide
        ranking.counts.num_thresholds = m
        ranking.counts.lower_is_better = lower
        ranking.nan_items = self.nan_items
        ranking.nan_hits = nan_hits
        ranking.num_items = self.num_items()
        ranking.num_hits = nan_hits
        allocate_table(num_rows(&ranking), table)
        with nogil:
            ranking_rows(&ranking, table.rows, table.above, table.tied, table.hits)
            for row in range(m):
                i = row if lower else m - 1 - row
                table.hits[row] = hits[i]
                ranking.num_hits += hits[i]
                if table.tied[row] < hits[i]:
                    bad = i
        emit_scores(&ranking.counts, cnp.PyArray_DATA(<cnp.ndarray>self.thresholds), self.type, nan_hits > 0, table.score)
        if bad >= 0 or ranking.nan_items < nan_hits:
            PyMem_RawFree(table.block)
            score = self.cuts[bad] if bad >= 0 else np.nan
            raise ValueError(f"the source changed between the passes: of the relevant items with score {score}, some "
                             "are gone")
        table.num_items = ranking.num_items
        table.num_hits = ranking.num_hits
        return 0

    cdef int64_t num_items(self) noexcept:
        """All that were counted, NaN included where they have a rank."""
        cdef Py_ssize_t i
        cdef int64_t total = self.nan_items
        for i in range(2 * self.cuts.shape[0] + 1):
            total += self.narrow[i] if self.wide is NULL else self.wide[i]
        return total

    def counts(self):
        """Items between and at the thresholds, 2 * m + 1 numbers."""
        cdef Py_ssize_t i, size = 2 * self.cuts.shape[0] + 1
        cdef int64_t[::1] total = np.zeros(size, np.int64)
        for i in range(size):
            if self.wide is not NULL:
                total[i] = self.wide[i]
            if self.narrow is not NULL:
                total[i] += self.narrow[i]
        return np.asarray(total)
