"""The judged documents of a run in nested dicts, without a copy of the ids.

Only the scores of a run are copied. The judged documents are looked up in the dicts, and their ranks are counted among the
scores. Ids are compared only if a judged document shares its score with another document.
"""
from cpython.dict cimport PyDict_Next
from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_CheckExact, PyUnicode_Compare
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from collections import OrderedDict, defaultdict

cimport cython
cimport numpy as cnp

import numpy as np

from hitcurve._kernel.memory cimport grow
from hitcurve.retrieval.lines cimport NO_TROUBLE, Doc, Docs, set_text
from hitcurve.retrieval.ranks cimport KeyedPlace, Row, Way, Work, place_score, reserve_work, sort_items, way_to_place
from hitcurve.retrieval.runs cimport Judged, Qrels, Scratch

cnp.import_array()

cdef extern from "_decimal.h" nogil:
    uint64_t read_big_endian "hitcurve_read_big_endian"(const char* p)

cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(object, object) except? NULL
    bint is_ascii "PyUnicode_IS_ASCII"(object text)

cdef enum:
    DOCS_AT_ONCE = 1 << 20  # between two looks for Ctrl-C
    COMPARED_MOST = 128     # comparisons of ids for each document of a query; if ties need more, the documents are sorted

# For these types the C functions for dicts give what the methods give. Other subclasses may override the methods.
cdef frozenset DICTS = frozenset((dict, defaultdict, OrderedDict))

cdef tuple SINGLE = (np.float32, np.float16)
cdef long MOST = 10**9  # the highest level


cdef inline bint as_score(object value, double* score) except -1:
    """Whether a value is a number that a double certainly holds. Other values are left to the general reader."""
    if PyFloat_Check(value):
        score[0] = PyFloat_AS_DOUBLE(value)
    elif PyLong_CheckExact(value) and -(1 << 53) < value < 1 << 53:  # a double holds all of these
        score[0] = PyLong_AsDouble(value)
    elif isinstance(value, SINGLE):
        score[0] = PyFloat_AsDouble(value)
    else:
        return False
    return True


cdef inline object key_at(const Work* work, Py_ssize_t place):
    """A key of the dict, which holds it as long as no other thread changes the dict."""
    return <object><PyObject*>work.found[place]


cdef Py_ssize_t read_scores(object docs, bint single, Work* work, bint* falling) except -2:
    """Puts the scores and the keys into the work; returns their number, or -1 if an id is no text or a score no number."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t at = 0, i = 0, n = len(docs), length
    cdef double score, last = 0.0
    cdef bint falls = True, numbers = True
    if not reserve_work(work, n):
        raise MemoryError
    while i < n and PyDict_Next(docs, &at, &key, &value):
        if not PyUnicode_CheckExact(<object>key):
            return -1
        if not is_ascii(<object>key):
            try:
                PyUnicode_AsUTF8AndSize(<object>key, &length)
            except UnicodeEncodeError:
                return -1
        if not as_score(<object>value, &score):
            return -1
        if single:
            score = <double><float>score
        numbers &= score == score
        falls &= i == 0 or score <= last
        last = work.scores[i] = score
        work.found[i] = <int64_t>key
        i += 1
    falling[0] = falls
    return i if numbers else -1


cdef inline uint64_t head_of(const char* text, Py_ssize_t length) noexcept nogil:
    """The first eight bytes as an integer: integers compare as the bytes do."""
    cdef char[8] head
    if length >= 8:
        return read_big_endian(text)
    memset(head, 0, 8)
    memcpy(head, text, length)
    return read_big_endian(head)


cdef Py_ssize_t tied_ids(Py_ssize_t start, Py_ssize_t equal, double score, Py_ssize_t n, bint falling, Work* work) except -1:
    """Puts the documents of a score into the work, each with its head: the eight bytes after the prefix that all ids share.

    Returns the length of the prefix. `start`: the place of the first of these documents, if scores fall.
    """
    cdef KeyedPlace* tied = work.spare
    cdef uint64_t* heads = work.seen
    cdef Py_ssize_t i, size = 0, length, shared
    cdef const char* first
    cdef const char* text
    if falling:
        for i in range(equal):
            tied[i].place = start + i
    else:
        for i in range(n):
            if work.scores[i] == score:
                tied[size].place = i
                size += 1
    first = PyUnicode_AsUTF8AndSize(key_at(work, tied[0].place), &shared)
    for i in range(1, equal):
        text = PyUnicode_AsUTF8AndSize(key_at(work, tied[i].place), &length)
        shared = min(shared, length)
        if memcmp(text, first, shared) != 0:
            shared = 0
            while text[shared] == first[shared]:
                shared += 1
    for i in range(equal):
        text = PyUnicode_AsUTF8AndSize(key_at(work, tied[i].place), &length)
        heads[i] = head_of(text + shared, length - shared)
    return shared


cdef int64_t ids_before(object doc, Py_ssize_t shared, Py_ssize_t equal, const Work* work) except -1:
    """The number of tied documents with a greater id. trec_eval ranks these documents first."""
    cdef Py_ssize_t i, length
    cdef const char* text = PyUnicode_AsUTF8AndSize(doc, &length)
    cdef uint64_t head = head_of(text + shared, length - shared)
    cdef int64_t greater = 0, same = 0
    for i in range(equal):
        greater += work.seen[i] > head
        same += work.seen[i] == head
    if same > 1:
        # The order of the characters is the order of the bytes in UTF-8.
        for i in range(equal):
            greater += work.seen[i] == head and PyUnicode_Compare(key_at(work, work.spare[i].place), doc) > 0
    return greater


cdef bint add_looked_up(Judged judged, Py_ssize_t query, list ids, object docs, Py_ssize_t n, bint falling,
                        Work* work) except -1:
    """Adds the rows of a query; returns False and adds none if many judged documents are in large ties."""
    cdef Py_ssize_t i, m = 0, shared = 0, most = min(n, len(ids))
    cdef int64_t above, equal, last = -1, compared = 0
    cdef double score = 0.0
    cdef PyObject* value
    cdef Way way
    cdef double* scores = <double*>(work.seen + n)  # the scores of the judged documents; the memory before them is for heads
    cdef Row* rows
    cdef Row* row
    cdef const Doc* judgments = judged.qrels.docs.items + judged.qrels.offsets[query]
    if not grow(<void**>&judged.rows.items, &judged.rows.capacity, judged.rows.size + 2 * most, sizeof(Row)):
        raise MemoryError
    rows = judged.rows.items + judged.rows.size + most
    for i in range(len(ids)):
        value = PyDict_GetItemWithError(docs, ids[i])
        if value is not NULL and m < most:
            as_score(<object>value, &score)  # `read_scores` has checked that the value is a number
            if judged.single:
                score = <double><float>score
            scores[m] = score
            work.levels[m] = i
            m += 1
    # No `nogil` from here on, so that no other thread changes the dict between two lookups.
    if m > 0 and not falling:
        for i in range(n):
            work.rounded[i] = <float>work.scores[i]
    way = way_to_place(work.scores, n, falling, m, work)
    for i in range(m):
        place_score(work.scores, n, way, work, scores[i], &above, &equal)
        compared += equal if equal > 1 else 0
        rows[i] = Row(above + 1, above, equal, <int64_t>judgments[work.levels[i]].score)
        work.items[i].key = ~<uint64_t>above
        work.items[i].place = i
    if compared > COMPARED_MOST * <int64_t>n:
        return False
    if compared > 0:
        sort_items(work.items, work.spare, m, NULL)
        for i in range(m):
            row = &rows[work.items[i].place]
            if row.tied > 1:
                doc = ids[work.levels[work.items[i].place]]
                if row.above != last:
                    last = row.above
                    shared = tied_ids(row.above, row.tied, scores[work.items[i].place], n, falling, work)
                row.rank += ids_before(doc, shared, row.tied, work)
            work.items[i].key = ~<uint64_t>row.rank
    sort_items(work.items, work.spare, m, NULL)
    for i in range(m):
        judged.rows.items[judged.rows.size] = rows[work.items[i].place]
        judged.rows.size += 1
    return True


cdef int add_sorted(Judged judged, Py_ssize_t query, object docs, Scratch scratch, Py_ssize_t n) except -1:
    """Adds the rows of a query with many ties, by sorting the documents."""
    cdef Docs* all = &scratch.docs
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t at = 0, i = 0, length
    cdef const char* text
    if not grow(<void**>&all.items, &all.capacity, n, sizeof(Doc)):
        raise MemoryError
    while i < n and PyDict_Next(docs, &at, &key, &value):
        text = PyUnicode_AsUTF8AndSize(<object>key, &length)
        set_text(&all.items[i], text, length)
        all.items[i].score = scratch.work.scores[i]
        i += 1
    if judged.add_query(query, all.items, n, &scratch.work) != NO_TROUBLE:
        raise MemoryError  # the only possible error: the keys of a dict are distinct
    return 0


def judge_nested(Qrels qrels, run, bint single=False):
    """The judged documents of a run in dicts of texts and numbers; None if the dicts have values of other types."""
    cdef Judged judged
    cdef Scratch scratch = Scratch()
    cdef Work* work = &scratch.work
    cdef Py_ssize_t n, query, first, since = 0
    cdef bint falling = False
    if type(run) not in DICTS:
        return None
    if qrels.integers:
        qrels = qrels.as_text()
    judged = Judged.start(qrels, "run", "run", "score", single)
    places = qrels.places()
    for name, docs in run.items():
        if type(name) is not str or type(docs) not in DICTS:
            return None
        place = places.get(name)
        ids = None if place is None else qrels.ids_of(place)  # before `docs` is locked: waiting for a lock releases the others
        with cython.critical_section(docs):
            n = read_scores(docs, single, work, &falling)
            if n > 0 and place is not None:
                query = place
                first = judged.rows.size
                if not add_looked_up(judged, query, ids, docs, n, falling, work):
                    add_sorted(judged, query, docs, scratch, n)
                elif not judged.add_section(query, first, n):
                    raise MemoryError
        if n < 0:
            return None
        if n > 0 and place is None:
            try:
                judged.others.append(name.encode())
            except UnicodeEncodeError:
                return None
        since += n + 64
        if since > DOCS_AT_ONCE:
            since = 0
            PyErr_CheckSignals()
    return judged


def judgments_of(source, str name):
    """Judgments in dicts of texts and whole numbers; None if the dicts have values of other types."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t at, size = 0, i = 0
    cdef list docs = []
    cdef double* levels
    cdef int64_t* starts
    cdef bint fits = True
    if type(source) not in DICTS:
        return None
    for of in source.values():
        if type(of) not in DICTS:
            return None
        size += len(of)
    values = np.empty(size)
    first = np.empty(len(source), np.int64)
    levels, starts = <double*>cnp.PyArray_DATA(<cnp.ndarray>values), <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>first)
    for q, (query, of) in enumerate(source.items()):
        if type(query) is not str or q >= first.shape[0]:
            return None
        starts[<Py_ssize_t>q] = i
        with cython.critical_section(of):
            at = 0
            while i < size and PyDict_Next(of, &at, &key, &value):
                if not PyUnicode_CheckExact(<object>key) or not PyLong_CheckExact(<object>value):
                    fits = False
                    break
                levels[i] = PyLong_AsDouble(<object>value) if -MOST <= <object>value <= MOST else 2.0 * MOST
                fits &= levels[i] <= MOST
                docs.append(<object>key)  # an OrderedDict may list its keys in another order
                i += 1
        if not fits:
            return None
    return Qrels.from_columns(first, list(source), docs, values, name) if i == size else None
