# cython: wraparound=True
"""Checks of arguments and the texts of their errors, and conversions to the arrays that the kernels read."""
from cpython.number cimport PyNumber_Index
from libc.math cimport INFINITY, NAN, isfinite
from libc.stdint cimport int64_t

cimport numpy as cnp

import numpy as np

from hitcurve._kernel.columns cimport (
    KIND_F16, KIND_F32, KIND_F64, KIND_I8, KIND_I16, KIND_I32, KIND_I64, KIND_U8, KIND_U16, KIND_U32, KIND_U64, NAN_RAISE,
    NAN_WORST, Items, NanPolicy,
)
from hitcurve._kernel.groups cimport whole_but_for_rounding
from hitcurve._kernel.formulas cimport NO_CUTOFF, TIES_THRESHOLD, Interpolation, Normalize, Reading, Ties

from hitcurve._base.words import are, many

cnp.import_array()

LARGEST = (<int64_t>1) << 62
LARGE = 2.0**53  # from here on, several integers round to the same float64
cdef double GREATEST = np.finfo(np.float64).max

# In the order of the kernels' enums.
TIES = ("expected", "best", "worst", "threshold")
cdef tuple NORMALIZATIONS = ("min", "relevant", "hits")
cdef tuple INTERPOLATIONS = (
    None, "11-point", "101-point", "all-point", "trapezoid", "continuous", "11-point-float", "101-point-float",
    "trapezoid-from-1")
NAN_POLICIES = ("raise", "worst", "omit")
STRATEGIES = (None, "compare", "search", "buckets", "parts", "throw")

# Parts of error texts that several checks share.
LABEL_RULE = "labels must be 0 or 1, False or True"
LABELS = LABEL_RULE + " (or graded, with relevance_level=)"
SCORES = "scores must be real numbers"
cdef str WHOLE = "must be whole numbers"
NO_RANK = "give nan_policy='worst' to rank it below all other scores, or nan_policy='omit' to leave it out"


# ------------------------------------------------------------------------------------------------------- single values

def quoted(value):
    """The repr of a value for an error, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


cdef object not_a(object value, str name, str what):
    return TypeError(f"{name} must be {what}, got {quoted(value)} of type {type(value).__name__}")


cdef int other_choice(object value, str name, tuple choices) except -1:
    if isinstance(value, str) and value in choices:
        return choices.index(value)
    known = "one of " + ", ".join(map(repr, choices))
    if not isinstance(value, str):
        raise not_a(value, name, known)
    raise ValueError(f"{name}={quoted(value)} is unknown: must be {known}")


def check_choice(value, name, choices):
    """The choice that equals the value. Raises an error if there is none."""
    return choices[choice(value, name, choices)]


cpdef bint check_flag(object value, str name) except -1:
    if not isinstance(value, (bool, np.bool_)):
        raise not_a(value, name, "True or False")
    return bool(value)


def check_empty(empty):
    return check_choice(empty, "empty", ("skip", "zero", "one", "raise"))


def check_options(lower_is_better=False, nan_policy="raise"):
    parse_lower(lower_is_better)
    parse_nan_policy(nan_policy)


cpdef object whole_number(object value, str name):
    """The value as an int. A bool or a float is an error."""
    if cnp.PyArray_Check(value):
        no_masked(value, name)
    if not isinstance(value, (bool, np.bool_)):
        try:
            return PyNumber_Index(value)
        except TypeError:
            pass
    raise not_a(value, name, "a whole number")


cpdef object check_rank(object value, str name):
    rank = whole_number(value, name)
    if rank < 1:
        raise ValueError(f"{name} is {rank}: ranks start at 1")
    return countable(rank, name)


cpdef object check_count(object value, str name, object most=2147483648):
    number = whole_number(value, name)
    if not 1 <= number < most:
        raise ValueError(f"{name} is {number}: must be " + (
            "1 or more" if number < 1 else f"less than 2**{most.bit_length() - 1}"))
    return number


cdef object countable(object number, str name):
    """Checks a number of items, because the kernels add such numbers up in 64 bits."""
    if number > LARGEST:
        raise ValueError(f"{name} is {number}: must be at most 2**62")
    return number


cpdef object check_number(object value, str name):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise not_a(value, name, "a number")
    return value


cdef object check_within(object value, str name, str domain, double low, double high, bint with_low=False):
    """A finite number strictly between low and high. `with_low` also allows low itself."""
    check_number(value, name)
    if not ((low < value or with_low and low == value) and value < high and (
            abs(value) <= GREATEST if isinstance(value, int) else isfinite(<double>value))):
        raise ValueError(f"{name} is {value}: must be {domain}")
    return value


cdef object not_negative(object value, str name):
    return check_within(value, name, "finite and not negative", 0.0, INFINITY, True)


def check_level(confidence_level, name="confidence_level"):
    return float(check_within(confidence_level, name, "between 0 and 1", 0.0, 1.0))


def checked_seed(rng):
    """Checks that numpy can make a random generator from `rng`, and returns it."""
    if isinstance(rng, (bool, np.bool_)):
        raise not_a(rng, "rng", "a seed or a numpy.random.Generator")
    try:
        np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rng={quoted(rng)} is neither a seed nor a numpy.random.Generator: {str(error)[:200]}") from None
    return rng


cdef int parse_reading(object k, object ties, object interpolation, object normalize, Reading* reading) except -1:
    reading.k = NO_CUTOFF if k is None else <int64_t>check_rank(k, "k")
    reading.ties = <Ties>parse_ties(ties)
    reading.normalize = <Normalize>choice(normalize, "normalize", NORMALIZATIONS)
    reading.interpolation = <Interpolation>choice(interpolation, "interpolation", INTERPOLATIONS)
    reading.x = 0.0
    reading.most = 1.0
    if k is not None and interpolation is not None:
        raise interpolated_cutoff(k, interpolation)
    return 0


cdef object interpolated_cutoff(object k, object interpolation):
    return ValueError(f"k={k!r} and interpolation={interpolation!r} are both given: an interpolated average precision has no "
                      "cutoff")


cdef int64_t parse_num_relevant(object num_relevant, int64_t num_hits) except -1:
    if num_relevant is None:
        return num_hits
    number = countable(whole_number(num_relevant, "num_relevant"), "num_relevant")
    if number < num_hits:
        raise ValueError(f"num_relevant is {number}, but the ranking holds {many(num_hits, 'relevant items')}")
    return <int64_t>number


cdef int no_threshold(str name, int ties) except -1:
    if ties == TIES_THRESHOLD:
        raise ValueError(f"{name} is not defined for ties='threshold': use 'expected', 'best' or 'worst'")
    return ties


cdef int all_ranked(str name, object num_relevant, object num_hits) except -1:
    """Raises an error if relevant items of a ranking, or of one of many rankings, were never retrieved."""
    for q in np.flatnonzero(np.greater(num_relevant, num_hits))[:1]:
        several = isinstance(num_relevant, np.ndarray)
        said = (f"num_relevant[{q}] is {num_relevant[q]}, but that ranking holds {many(num_hits[q], 'relevant items')}"
                if several else
                f"num_relevant is {num_relevant}, but the ranking holds {many(num_hits, 'relevant items')}")
        raise ValueError(f"{name} needs the rank of every relevant item: {said} (nan_policy='worst' ranks items "
                         "whose score is NaN)")
    return 0


# ---------------------------------------------------------------------------------------------------------- the arrays

cdef int[32] KIND_OF  # by numpy's type number; -1 for types that the kernels do not read
for number in range(32):
    KIND_OF[number] = -1
KINDS = dict(zip("b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split(), (
    KIND_U8, KIND_I8, KIND_I16, KIND_I32, KIND_I64, KIND_U8, KIND_U16, KIND_U32, KIND_U64, KIND_F16, KIND_F32, KIND_F64)))
for type_ in map(np.dtype, "?bBhHiIlLqQefd"):
    KIND_OF[type_.num] = KINDS[type_.str[1:]]
del number, type_, KINDS


cdef int kind_of(int type_number) noexcept nogil:
    return KIND_OF[type_number] if 0 <= type_number < 32 else -1


cdef inline int plain_kind(object array) noexcept:
    """The kind of a one-dimensional ndarray that the kernels can read without a copy, else -1."""
    if cnp.PyArray_CheckExact(array) and cnp.PyArray_NDIM(<cnp.ndarray>array) == 1 and (
            cnp.PyArray_ISBEHAVED_RO(<cnp.ndarray>array)):  # aligned, in this machine's byte order
        return kind_of(cnp.PyArray_TYPE(<cnp.ndarray>array))
    return -1


cdef Py_ssize_t first(object flags) except? -1:
    """The place of the first flag that is True, -1 if no flag is."""
    return flags.argmax() if flags.any() else -1


cdef object not_a_number(object array, str name, str what):
    """The error for an array of objects. It names the first object that is not a real number."""
    for i, value in enumerate(array.ravel().tolist()):
        if not isinstance(value, (bool, int, float, np.number, np.bool_)):
            value = value.item() if isinstance(value, np.generic) else value
            return TypeError(f"{place_of(name, i, array.shape)} is {value!r} of type {type(value).__name__}: {what}")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            return TypeError(f"{place_of(name, i, array.shape)} is {value}, beyond 64 bits: {what} of a numpy type")
    return TypeError(f"{name} has dtype object: {what}")


cdef object unrounded(object values, object array, str name):
    """The array that numpy made of these values, or an array of uint64 or objects if numpy rounded integers to floats.

    numpy rounds integers above 2**53 if there are fractions too, and integers above int64 if there are smaller integers too.
    """
    cdef object exact, elements
    if array.dtype != np.float64 or not (np.abs(array) >= LARGE).any():
        return array
    if isinstance(values, (list, tuple)):  # of the columns of frames, perhaps
        values = [as_array(value, f"{name}[{i}]") if hasattr(value, "__array__") else value for i, value in enumerate(values)]
    exact = np.array(values, dtype=object)
    elements = exact.ravel().tolist()
    whole = [isinstance(value, (int, np.integer)) for value in elements]
    rounded = zip(elements, array.ravel().tolist(), whole)
    if not any(is_whole and int(number) != value for value, number, is_whole in rounded):
        return array
    return exact.astype(np.uint64) if all(whole) and min(elements) >= 0 else exact


cdef int no_rounded(object values, object array, str name) except -1:
    """Raises an error if an integer of a column or frame was rounded, because missing values made the column float64."""
    cdef object columns = [values], column, exact, place
    for way in ("iter_columns", "itercolumns", "items"):  # of polars, pyarrow and pandas
        if array.ndim == 2 and hasattr(values, way):
            columns = [pair[1] if way == "items" else pair for pair in getattr(values, way)()]
            break
    array = np.atleast_1d(array)
    array = array.reshape(array.shape[0], -1)
    for j, column in enumerate(columns[:array.shape[1]]):
        if "int" not in str(getattr(column, "dtype", getattr(column, "type", ""))).lower():
            continue
        exact = getattr(column, "to_pylist", getattr(column, "tolist", getattr(column, "to_list", None)))
        exact = [] if exact is None else exact()
        for i in np.flatnonzero(np.abs(array[:, j]) >= LARGE)[:len(exact)].tolist():
            if int(exact[i]) != array[i, j].item():
                place = place_of(name, i, (array.shape[0],)) if len(columns) == 1 else f"{name}[{i}, {j}]"
                raise ValueError(f"{place} is {exact[i]}: integers beside missing values or fractions become float64, which "
                                 "cannot hold this integer")
    return 0


cdef Py_ssize_t masked_entries(object values, int depth=0) except -1:
    """The number of masked entries in an array or in lists of arrays. numpy drops the masks of arrays in a list."""
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


cpdef int no_masked(object values, str name) except -1:
    cdef Py_ssize_t masked = masked_entries(values)
    if masked > 0:
        raise ValueError(f"{name} is a masked array with {many(masked, 'masked entries')}: leave them out, or fill them")
    return 0


def readable(values):
    """Converts values of torch and polars that numpy cannot read, also tensors in lists. Other values are returned as they are.

    A tensor loses its gradient. bfloat16 and 8-bit floats become float32, which holds all their values. 128-bit integers of
    polars become a list, and frames of such integers become lists of rows. A missing value becomes NaN.
    """
    if isinstance(values, (list, tuple)):
        found = [readable(value) for value in values]
        return found if any(new is not old for new, old in zip(found, values)) else values
    if str(getattr(values, "dtype", "")) in ("Int128", "UInt128"):
        return [NAN if value is None else value for value in values.to_list()]
    if "Int128" in str(getattr(values, "schema", "")):
        return list(map(list, zip(*[readable(column) for column in values.iter_columns()])))
    if getattr(values, "requires_grad", False) is True:
        values = values.detach()
    if str(getattr(values, "dtype", "")).startswith(("torch.bfloat16", "torch.float8")):
        values = values.float()
    return values


cdef object as_array(object values, str name):
    """Converts an object to an ndarray by any protocol that it offers. Every array argument goes through this function."""
    cdef object array, other
    cdef bint by_numpy = hasattr(values, "__array__") or not hasattr(values, "__dlpack__")
    no_masked(values, name)
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    try:
        array = np.asanyarray(values) if by_numpy else np.from_dlpack(values)
    except Exception as error:
        # The errors of polars are not subclasses of Python's errors.
        if not isinstance(error, (BufferError, RuntimeError, TypeError, ValueError)) and "polars" not in type(error).__module__:
            raise
        other = readable(values)
        if other is not values:
            return as_array(other, name)
        if by_numpy and isinstance(error, ValueError) and "inhomogeneous" in str(error):
            raise ValueError(f"{name} holds lists of different lengths: give " + (
                "one flat list with qid= or offsets=, or " if name.startswith("y_") else "")
                + "lists of the same length") from None
        if by_numpy and isinstance(error, ValueError):
            raise ValueError(f"{name} cannot be read as an array: {error}") from None
        raise TypeError(f"{name} of type {type(values).__name__} cannot be read "
                        f"{'as an array' if by_numpy else 'through DLPack'}: {error}") from None
    no_masked(array, name)
    array = np.asarray(array)
    if by_numpy and not hasattr(values, "__array__"):
        return unrounded(values, array, name)
    if array.dtype == np.float64 and (np.abs(array) >= LARGE).any():
        no_rounded(values, array, name)
    return array


cdef object array_or_none(object values, str name):
    """The values as an array, or None for a single value."""
    if isinstance(values, (int, float, str, bytes, np.generic)):
        return None
    array = as_array(values, name)
    return array if array.ndim > 0 or isinstance(values, np.ndarray) else None


cpdef object as_column(object values, str name):
    """Ids, keys or weights as an array of any type in which different values stay different.

    numpy alone rounds integers of 2**63 and more if a list also holds smaller integers, turns numbers beside strings into
    strings, and drops NUL characters at the end of a string.
    """
    cdef object array = as_array(values, name), exact, elements
    if array.dtype.kind in "SU" and not hasattr(values, "__array__"):
        exact = np.array(values, dtype=object)
        no_nan(exact, name, ", but other entries are strings: an entry must not be missing")
        elements = exact.ravel().tolist()
        kind = str if array.dtype.kind == "U" else bytes
        for i, value in enumerate(elements):
            if not isinstance(value, kind):
                raise TypeError(f"{name}[{i}] is {value!r} of type {type(value).__name__}, but other entries are of type "
                                f"{kind.__name__}: the two types cannot be ordered together")
        if [value for value in elements if value[-1:] in ("\0", b"\0")]:
            return exact
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


cdef object as_ndarray(object values, str name, str what):
    """An ndarray of a real type in this machine's byte order."""
    cdef object array, exact
    if values is None or isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is {quoted(values)}: {what}")
    array = as_array(values, name)
    if array.dtype.kind == "O":
        if array.ndim == 0:
            dense = "; a sparse matrix has toarray()" if hasattr(values, "toarray") else ""
            raise TypeError(f"{name} is of type {type(values).__name__}: {what}{dense}")
        exact = array
        try:
            array = np.array(array.tolist())
        except (ValueError, TypeError):
            pass
        if array.dtype.kind not in "biuf":
            raise not_a_number(exact, name, what)
        array = unrounded(exact, array, name)
        if array.dtype.kind == "O":
            place, value = [(i, value) for i, value in enumerate(exact.ravel().tolist())
                            if isinstance(value, (int, np.integer)) and int(float(value)) != value][0]
            raise ValueError(f"{place_of(name, place, exact.shape)} is {value}: no array type holds all of {name} exactly")
    if array.dtype.kind in "SU":
        raise not_a_number(np.asarray(values, dtype=object), name, what)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}: {what}")
    if not (array.flags.aligned and array.dtype.isnative):
        array = array.astype(array.dtype.newbyteorder("="))
    return array


cpdef object as_real(object values, str name, str what=SCORES):
    """Real numbers of any type as an array. `what` is the rule that an error states."""
    return as_ndarray(values, name, what)


cpdef object as_whole(object values, str name):
    array = as_ndarray(values, name, WHOLE)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"{name} has dtype {array.dtype}: {WHOLE}")
    return array


cpdef int no_nan(object array, str name, str why, object where=None) except -1:
    """Raises an error if a value is NaN or NaT, or, among objects, None."""
    cdef Py_ssize_t place
    if array.dtype.kind in "fcmMO":
        missing = array != array
        place = first(missing | np.equal(array, None) if array.dtype.kind == "O" else missing)
        if place >= 0:
            raise ValueError(f"{shown_place(name, place, array.shape, where)} is {array.flat[place]}{why}")
    return 0


cdef object frozen(object array):
    if array is not None:
        array.flags.writeable = False
    return array


cdef int same_items(Py_ssize_t n, Py_ssize_t m, str name="y_score") except -1:
    if m != n:
        raise ValueError(f"y_true has {many(n, 'items')}, {name} has {m}")
    return 0


cpdef object one_dimension(object array, str name):
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    return array


cdef object graded(object array, object level, object where=None):
    """Graded labels as flags: a label is relevant if it is this level or higher.

    Whole labels are compared exactly. For float labels the level is rounded to the type of the labels.
    """
    if check_number(level, "relevance_level") != level:
        raise ValueError("relevance_level is nan: must be a number")
    no_nan(array, "y_true", ": a graded label must be a number", where)
    real = isinstance(level, (float, np.floating))
    if not real and abs(int(level)) >> 1024:
        level, real = (np.inf if level > 0 else -np.inf), True  # as a float
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array >= array.dtype.type(level if real else np.longdouble(level))
    if real and np.isinf(level):
        return np.full(array.shape, level < 0)
    # A whole label is at least the level if it is at least the level rounded up. numpy compares with an int of any size.
    top, bottom = level.as_integer_ratio() if real else (int(level), 1)
    return (array.view(np.uint8) if array.dtype.kind == "b" else array) >= -(-top // bottom)


cdef object as_labels(object y_true, object relevance_level, Items* items, object where=None):
    """Sets the label column. The returned object owns the memory of the column."""
    cdef int kind = plain_kind(y_true) if relevance_level is None else -1
    cdef object array = y_true
    if kind < 0 or kind == KIND_F16:
        array = one_dimension(as_ndarray(y_true, "y_true", LABELS), "y_true")
        if relevance_level is not None:
            array = graded(array, relevance_level, where)
        kind = kind_of(array.dtype.num)
        if kind < 0 or kind == KIND_F16:
            array, kind = array.astype(np.float64), KIND_F64
    set_column(&items.label, <cnp.ndarray>array, kind)
    items.n = cnp.PyArray_DIM(<cnp.ndarray>array, 0)
    return array


cdef object as_scores(object y_score, str name, Items* items, object where=None):
    """Sets the score column. The returned object owns the memory of the column.

    It is an ndarray. For a type that the kernels cannot compare, it is a pair (places, values): the sorted distinct values,
    and the place of each score among them.
    """
    cdef int kind = plain_kind(y_score)
    cdef object array = y_score, kept
    if kind < 0:
        array = one_dimension(as_ndarray(y_score, name, SCORES), name)
        kind = kind_of(array.dtype.num)
    kept = array
    if kind < 0:
        no_nan(array, name, f": scores of dtype {array.dtype} must not be NaN, whatever nan_policy is", where)
        values, places = np.unique(array, return_inverse=True)
        array = places.astype(np.int64)
        kept = (array, values)
        kind = KIND_I64
    set_column(&items.score, <cnp.ndarray>array, kind)
    items.type = type_of(kind)
    same_items(items.n, cnp.PyArray_DIM(<cnp.ndarray>array, 0), name)
    return kept


cdef object bad_label(object y_true, object y_score, Py_ssize_t place, str where):
    cdef object labels = as_array(y_true, "y_true"), scores = as_array(y_score, "y_score")
    hint = ""
    if scores.size > 0 and scores.dtype.kind in "biuf" and np.isin(scores, (0, 1)).all():
        hint = "; y_score holds only 0 and 1: were y_true and y_score swapped?"
    return ValueError(f"{where} is {labels.reshape(-1)[place]}: {LABELS}{hint}")


cdef object bad_score(object name, object shown):
    return ValueError(f"{name}[{shown}] is nan: {NO_RANK}")


cpdef int no_flags(object values, object array, str name) except -1:
    """Raises an error if only some values are bool: True equals 1, and numpy would make it a number."""
    elements = values if isinstance(values, (list, tuple)) else array.tolist() if array.dtype.kind == "O" else ()
    kinds = set(map(type, elements))
    flags = kinds & {bool, np.bool_}
    if flags and kinds - flags:
        i = [type(value) in flags for value in elements].index(True)
        other = [value for value in elements if type(value) not in flags][0]
        raise TypeError(f"{name}[{i}] is {elements[i]!r}, but another id is {other!r}: True equals 1 and False equals 0; "
                        "give all ids one type")
    return 0


cdef object as_ids(object qid, Py_ssize_t n, str unit):
    """Ids as an array, with an id for each of the `unit` ("items" or "queries"). No id may be missing."""
    cdef object ids = as_column(qid, "qid")
    if ids.ndim != 1 or ids.shape[0] != n:
        whole = "y_true has" if unit == "items" else f"there {are(n)}"
        raise ValueError(f"{whole} {many(n, unit)}, qid has shape {ids.shape}")
    no_nan(ids, "qid", ": every item needs a query id")
    no_flags(qid, ids, "qid")
    return ids


cdef object as_offsets(object offsets, Py_ssize_t n, str name="offsets", str whole="y_true"):
    # A copy, so that the offsets cannot change after this check.
    cdef object array = np.array(as_whole(offsets, name))
    if array.ndim != 1 or array.shape[0] == 0:
        raise ValueError(f"{name} must be one-dimensional with one entry more than there are queries, got shape {array.shape}")
    if array[0] != 0:
        raise ValueError(f"{name}[0] is {array[0]}: must be 0")
    i = first(array[1:] < array[:-1]) + 1
    if i > 0:
        raise ValueError(f"{name}[{i}] is {array[i]}, less than {name}[{i - 1}] = {array[i - 1]}: {name} must not fall")
    if array[-1] != n:
        raise ValueError(f"{name}[{array.shape[0] - 1}] is {array[-1]}, but {whole} has {many(n, 'items')}")
    return np.ascontiguousarray(array, dtype=np.int64)


cpdef object as_flags(object y_true, object y_score, object relevance_level, object where=None):
    """Labels as an array of bool. Only the error uses the scores."""
    array = as_ndarray(y_true, "y_true", LABELS)
    if relevance_level is not None:
        return graded(array, relevance_level, where)
    flags = array == 1
    fine = flags | (array == 0)
    place = first(~fine)
    if place >= 0:
        raise bad_label(array, y_score, place, shown_place("y_true", place, array.shape, where))
    return flags


cdef object as_key(object tiebreak, Py_ssize_t n, object where=None):
    """The secondary key of each item, or None for the order of the items."""
    if isinstance(tiebreak, str):
        if tiebreak == "order":
            return None
        raise ValueError(f"tiebreak={quoted(tiebreak)} is unknown: must be one of None, 'order', an array of keys")
    key = as_column(tiebreak, "tiebreak")
    if key.ndim != 1 or key.shape[0] != n:
        raise ValueError(f"y_true has {many(n, 'items')}, tiebreak has shape {key.shape}")
    if key.dtype.kind == "T":
        key = key.astype(object)
    if key.dtype.kind == "O":
        for i, value in enumerate(key.tolist()):
            if not isinstance(value, (str, bytes, int, float, np.number)):
                raise TypeError(f"{shown_place('tiebreak', i, key.shape, where)} is {value!r} of type "
                                f"{type(value).__name__}: keys must be numbers or strings")
    elif key.dtype.kind not in "biufSU":
        raise TypeError(f"tiebreak has dtype {key.dtype}: keys must be numbers or strings")
    no_nan(key, "tiebreak", ": a key must not be missing", where)
    try:
        return np.unique(key, return_inverse=True)[1] if key.dtype.kind == "O" else key
    except TypeError:
        raise TypeError("tiebreak holds keys that cannot be ordered, such as numbers and strings together") from None


cdef object as_weight(object values, Py_ssize_t n, object where=None, str name="sample_weight",
                      str whole=""):
    weight = as_ndarray(values, name, "weights must be real numbers").astype(np.float64)
    if weight.shape != (n,):
        raise ValueError(f"{whole or 'y_true has ' + many(n, 'items')}, {name} has shape {weight.shape}")
    place = first(~(np.isfinite(weight) & (weight >= 0)))
    if place >= 0:
        shown = shown_place(name, place, weight.shape, where)
        raise ValueError(f"{shown} is {weight[place]}: weights must be finite and not negative")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(f"{name} has a sum beyond the greatest float64: divide all weights by the same number")
    return weight


cdef object apply_nan_policy(object nan_policy, object score, object where):
    """A mask of the items that stay, or None if all stay. `where` translates a place into the caller's index."""
    cdef NanPolicy policy = parse_nan_policy(nan_policy)
    if score.dtype.kind != "f":
        return None
    missing = np.isnan(score)
    place = first(missing)
    if policy == NAN_WORST or place < 0:
        return None
    if policy == NAN_RAISE:
        raise bad_score("y_score", place if where is None else where(place))
    return ~missing


def checked_array(values, name, what):
    """A one-dimensional array of a real type, at most as wide as float64, that holds all values exactly."""
    return as_double(one_dimension(as_ndarray(values, name, what), name), name)


def checked_sorted(values, name, nan_policy="raise"):
    """Thresholds or edges, distinct and ascending, in a type in which scores are compared."""
    array = one_dimension(as_real(values, name), name)
    if array.dtype.kind == "f":
        if nan_policy == "raise" or name == "edges":
            no_nan(array, name, ": must be a number")
        array = as_double(array[~np.isnan(array)], name)
        array = array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64) + 0
    else:
        array = array.astype(np.uint64 if array.dtype.kind == "u" and array.dtype.itemsize == 8 else np.int64)
    if name != "edges":
        return np.unique(array)
    i = first(~(array[1:] > array[:-1])) + 1
    if i > 0:
        raise ValueError(f"edges[{i}] is {array[i]}, after {array[i - 1]}: edges must increase")
    return array


cdef object as_double(object array, str name):
    """Converts an array wider than float64 to float64. Raises an error if this changes a value."""
    if array.dtype.itemsize <= 8:
        return array
    narrow = unchanged(array, np.dtype(np.float64))
    if narrow is None:
        raise TypeError(f"{name} has dtype {array.dtype} and values that float64 cannot hold exactly: counters compare float64")
    return narrow


def unchanged(array, dtype):
    """The numbers converted to another type, or None if a number would change."""
    with np.errstate(invalid="ignore", over="ignore"):
        there = array.astype(dtype)
        back = there.astype(array.dtype)
    if not np.array_equal(back, array, equal_nan=array.dtype.kind == "f"):
        return None
    # A number beyond an integer type may wrap, or on some machines saturate, and still come back unchanged.
    for numbers, type in ((array, dtype), (there, array.dtype)):
        if type.kind in "iu" and numbers.shape[0] > 0:
            limits = np.iinfo(type)
            if not (limits.min <= numbers.min().item() and numbers.max().item() <= limits.max):
                return None
    return there


def equal_numbers(a, b):
    """A mask of the places where two arrays of the same shape hold the same number, whatever their types. NaN equals NaN."""
    if a.dtype != b.dtype:
        a, b = a.astype(object), b.astype(object)  # Python compares an int and a float exactly; numpy compares both as floats
    return ((a == b) | ((a != a) & (b != b))).astype(bool)


def checked_block(y_true, y_score, cuts):
    """(relevant, score, cuts). Scores and cuts have the same type, which holds both exactly."""
    relevant = one_dimension(as_flags(y_true, y_score, None), "y_true")
    score = checked_array(y_score, "y_score", SCORES)
    same_items(relevant.shape[0], score.shape[0])
    if score.dtype == cuts.dtype:
        return relevant, score, cuts
    wide = np.promote_types(score.dtype, cuts.dtype)
    for array, name in ((score, "y_score"), (cuts, "thresholds")):
        if unchanged(array, wide) is None:
            raise TypeError(f"{name} of dtype {array.dtype} cannot be compared exactly with scores of dtype "
                            f"{cuts.dtype if name == 'y_score' else score.dtype}")
    if cuts.dtype.kind == score.dtype.kind == "f" and score.dtype.itemsize > cuts.dtype.itemsize:
        raise TypeError(f"y_score has dtype {score.dtype}, but the thresholds have {cuts.dtype}: rounded thresholds would "
                        "miss the scores they were made from")
    return relevant, score.astype(wide), cuts.astype(wide)


# ------------------------------------------------------------------------------------------- values, one or an array

cdef object ratio(object value, str name, bint zero):
    """A number in (0, 1] as (numerator, denominator), exact for the decimal as written: 0.07 is 7/100. `zero` allows 0."""
    from fractions import Fraction
    real = isinstance(value, (float, np.floating))
    try:
        if isinstance(value, (bool, np.bool_, str)):
            raise TypeError
        exact = Fraction(str(value) if real else int(value) if isinstance(value, np.integer) else value)
    except (TypeError, ValueError, OverflowError):
        if not real:
            raise not_a(value, name, "a number") from None
        exact = -1  # infinite or NaN
    if not 0 <= exact <= 1 or exact == 0 and not zero:
        raise ValueError(f"{name} is {value}: must lie in {'[' if zero else '('}0, 1]")
    return exact.numerator, exact.denominator


cdef str shown_place(str name, Py_ssize_t i, object shape, object where):
    """The name of a value of an array, such as "y_true[3]". `where` translates the place into the caller's index."""
    return place_of(name, i, shape) if where is None else f"{name}[{where(i)}]"


cdef str place_of(str name, Py_ssize_t i, object shape):
    """The name of a value of an array, such as "y_true[0, 3]"."""
    return f"{name}[{', '.join(str(j) for j in np.unravel_index(i, shape))}]"


cdef object each(object values, str name):
    """([(value, its name)], shape of the values). The shape is None for a single value."""
    array = array_or_none(values, name)
    if array is None:
        return [(values, name)], None
    if isinstance(values, (list, tuple)):  # numpy would turn a bool beside numbers into a number
        array = np.array(values, dtype=object).reshape(array.shape)
    return [(value, place_of(name, i, array.shape)) for i, value in enumerate(array.reshape(-1))], array.shape


cdef object quotients(object values, str name, object whole, bint zero=False):
    """(whole numbers, rests, shape of the values): numerator * whole / denominator for each value and each `whole`.

    The rests lie between -1/2 and 1/2. `whole` is a number, or an array with a number for each query. The shape of the
    results is the shape of `whole`, followed by the number of values.
    """
    numbers, shape = each(values, name)
    nearest = np.empty((*np.shape(whole), len(numbers)), np.int64)
    rests = np.empty(nearest.shape)
    for i, (value, where) in enumerate(numbers):
        top, bottom = ratio(value, where, zero)
        counts = whole
        if isinstance(whole, np.ndarray) and whole.shape[0] > 0 and max(top * int(whole.max()), bottom) >= 1 << 53:
            counts = whole.astype(object)
        found = (2 * top * counts + bottom) // (2 * bottom)
        nearest[..., i] = found
        rests[..., i] = (top * counts - found * bottom) / bottom
    return nearest, rests, shape


cdef object ranks_from(object k, object fraction, object num_items):
    """(cutoff ranks, their shape) from k or from a fraction of the items. Without a cutoff, (None, None)."""
    cdef int64_t* rank
    cdef const double* rest
    cdef Py_ssize_t i
    if fraction is not None:
        if k is not None:
            raise ValueError(f"k={k!r} and fraction={fraction!r} are both given: only one of them can set the cutoff")
        nearest, rests, shape = quotients(fraction, "fraction", num_items)
        rank = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>nearest)
        rest = <const double*>cnp.PyArray_DATA(<cnp.ndarray>rests)
        for i in range(nearest.size):
            rank[i] += rest[i] > 0.0 and not whole_but_for_rounding(rank[i], rest[i])
        return nearest, shape
    return (None, None) if k is None else whole_ranks(k)


def rank_of_share(fraction, num_items):
    """The rank that a fraction of the items stands for."""
    return int(ranks_from(None, fraction, num_items)[0][0])


cdef object whole_ranks(object k):
    """(ranks, their shape)."""
    numbers, shape = each(k, "k")
    return np.array([check_rank(value, where) for value, where in numbers], dtype=np.int64), shape


cdef object parameters(object values, str name, str domain, double low, double high):
    """(numbers as float64, their shape), each checked to lie strictly between low and high."""
    numbers, shape = each(values, name)
    return np.array([check_within(value, where, domain, low, high) for value, where in numbers], dtype=np.float64), shape


# -------------------------------------------------------------------------------------------- tables from other programs

cdef object checked_items(object num_items):
    number = whole_number(num_items, "num_items")
    if not 0 <= number <= LARGEST:
        raise ValueError(f"num_items is {number}: must lie between 0 and 2**62")
    return number


cdef list table_columns(object score, object above, object tied, object hits):
    """[above, tied, hits], and the scores if given, as arrays of the same length."""
    names = ("above", "tied", "hits", "score")
    columns = [as_real(column, name) for column, name in zip((above, tied, hits, score)[:3 if score is None else 4], names)]
    for column, name in zip(columns, names):
        if column.ndim != 1 or column.shape[0] != columns[0].shape[0]:
            raise ValueError(f"{name} has shape {column.shape}, above has shape {columns[0].shape}: "
                             "must be one number for each row")
    return [column.astype(np.int64) if column.dtype.kind in "iu" and column.dtype.itemsize < 8 else column
            for column in columns[:3]] + columns[3:]  # a narrow type might not hold their sums


cdef int check_rows(object above, object tied, object hits, object num_items, bint weighted, object lengths=None) except -1:
    """Raises an error that names the first impossible row. `lengths` holds the number of rows of each of many tables."""
    if not weighted:
        for column, name in ((above, "above"), (tied, "tied"), (hits, "hits")):
            as_whole(column, name)
    # If a number is 2**62 or more, sums use Python's unbounded integers.
    large = not weighted and max([int(column.max(initial=0)) for column in (above, tied, hits)]) >= LARGEST
    kind = np.float64 if weighted else object if large else np.int64
    above, tied, hits = [column.astype(kind, copy=False) for column in (above, tied, hits)]
    ends, slack = above + tied, 1e-12 if weighted else 0
    before = np.append(np.zeros(1, kind), ends)[:above.shape[0]]
    if lengths is not None:
        before[1:][~within(lengths)] = 0
        num_items = np.repeat(num_items, lengths)
    faults = [~(hits > 0), ~(tied >= hits), ~(above >= before * (1 - slack)), ~(ends <= num_items * (1 + slack))]
    i = first(np.any(faults, axis=0))
    if i >= 0:
        texts = (f"hits[{i}] is {hits[i]}: every row must hold a relevant item",
                 f"tied[{i}] is {tied[i]}, less than hits[{i}] = {hits[i]}",
                 f"above[{i}] is {above[i]}, but the rows before it hold {many(before[i], 'items')}",
                 f"row {i} ends at item {ends[i]} (above + tied), but num_items is "
                 f"{num_items if lengths is None else num_items[i]}")
        raise ValueError([text for fault, text in zip(faults, texts) if fault[i]][0])
    return 0


cdef object within(object lengths):
    """For each row but the first, whether the row before it is in the same table."""
    table = np.repeat(np.arange(len(lengths)), lengths)
    return table[1:] == table[:-1]


cdef int check_scores(object score, bint lower, object same=None) except -1:
    """Raises an error if the scores do not fall (or rise) down the table. NaN may only come last."""
    cdef object missing = score != score
    if same is None:
        same = True
    i = first(missing[:-1] & ~missing[1:] & same)
    if i >= 0:
        raise ValueError(f"score[{i}] is nan, but score[{i + 1}] is {score[i + 1]}: NaN must be the last score")
    i = first((score[1:] < score[:-1] if lower else score[1:] > score[:-1]) & same) + 1
    if i > 0:
        raise ValueError(f"score[{i}] is {score[i]}, after {score[i - 1]}: rows must go from the best score to the worst"
                         + ("" if lower else " (with lower_is_better=True, the lowest score is the best)"))
    return 0


cdef object query_totals(object values, str name, Py_ssize_t n, bint weighted):
    """Checks num_items, num_hits or num_relevant of many queries and returns a copy."""
    array = one_dimension(as_real(values, name) if weighted else as_whole(values, name), name)
    if array.shape[0] != n:
        raise ValueError(f"{name} has {many(array.shape[0], 'entries')}, but there {are(n)} {many(n, 'queries')}")
    array = np.array(array, np.float64) if weighted else np.array(array)
    q = first(~((array >= 0) & (array <= (GREATEST if weighted else LARGEST))))
    if q >= 0:
        raise ValueError(f"{name}[{q}] is {array[q]}: must be " + (
            "finite and not negative" if weighted else "between 0 and 2**62"))
    return array.astype(np.float64 if weighted else np.int64, copy=False)
