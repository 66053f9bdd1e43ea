"""Judgments, runs, and the judged documents of a run."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.math cimport isnan
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from math import ceil

from collections.abc import ItemsView, KeysView, Mapping, ValuesView

import numpy as np

cimport cython
cimport numpy as cnp

from hitcurve._kernel.columns cimport SCORE_INT64
from hitcurve._kernel.memory cimport grow
from hitcurve._kernel.thresholds cimport sort_relevant
from hitcurve.retrieval.lines cimport (
    NO_TROUBLE, TROUBLE_MEMORY, TROUBLE_RANK, TROUBLE_TWICE, Doc, Docs, Parser, Trouble, line_number, mixed, parse_from,
    parse_query, passed_notes, raise_trouble, set_text, shown, start_parser, tag_of, trouble)
from hitcurve.retrieval.ranks cimport (
    DIGITS, ORDER_FILE, ORDER_RANK, ORDER_SCORE, Row, Work, check_twice, fill_table, find_integers, find_slot,
    id_text, place_in, rank_integers, rank_judged, table_mask)

from hitcurve._base.extras import frame_of
from hitcurve._base.words import many
from hitcurve._base.pickle import MAKERS as _MAKERS, judgments_of_subtopics, judgments_or_run

cnp.import_array()

cdef extern from "Python.h":
    unsigned long Py_TPFLAGS_MAPPING
    ctypedef struct PySequenceMethods:
        void* sq_item
    ctypedef struct PyTypeObject:
        unsigned long tp_flags
        PySequenceMethods* tp_as_sequence

cdef enum:
    LINES_AT_ONCE = 1 << 17    # between two looks for Ctrl-C
    QUERIES_AT_ONCE = 1 << 10

cdef int64_t MOST_LEVEL = 1LL << 62  # no level is so high


def whose(row, starts, list names, docs):
    """The query and the document of a row, for a message. They help where a row number does not, as in a dict."""
    query = names[int(np.searchsorted(starts, row, "right")) - 1]
    return f" (query {query!r}, document {docs[row] if isinstance(docs, list) else int(docs[row])!r})"


@cython.final
cdef class Names:
    """Distinct texts, numbered in the order in which they were added."""

    def __dealloc__(self):
        PyMem_RawFree(self.slots)
        PyMem_RawFree(self.docs.items)

    cdef Py_ssize_t find(self, const Doc* name) noexcept nogil:
        """The number of a name, or -1."""
        return -1 if self.slots is NULL else place_in(self.slots[find_slot(self.slots, self.mask, self.docs.items, name)])

    cdef Py_ssize_t add(self, const Doc* name) noexcept nogil:
        """The number of a name, which is added if it is new; -1 if there is no memory."""
        cdef Py_ssize_t found = self.find(name), none
        if found >= 0:
            return found
        if not grow(<void**>&self.docs.items, &self.docs.capacity, self.docs.size + 1, sizeof(Doc)):
            return -1
        self.docs.items[self.docs.size] = name[0]
        self.docs.size += 1
        if self.slots is NULL or <uint64_t>(2 * self.docs.size) > self.mask:
            PyMem_RawFree(self.slots)
            self.mask = 4 * self.mask + 3
            self.slots = <uint64_t*>PyMem_RawMalloc((self.mask + 1) * sizeof(uint64_t))
            if self.slots is NULL:
                return -1
            fill_table(self.docs.items, self.docs.size, self.slots, self.mask, &none)
        else:
            self.slots[find_slot(self.slots, self.mask, self.docs.items, name)] = (
                name.hash >> 32 << 32 | <uint64_t>self.docs.size)
        return self.docs.size - 1

    def all_texts(self):
        """The names as a list of bytes."""
        return [name_bytes(&self.docs.items[i]) for i in range(self.docs.size)]


@cython.final
cdef class Scratch:
    """Memory that is used again for each query."""

    def __dealloc__(self):
        PyMem_RawFree(self.work.memory)
        PyMem_RawFree(self.work.table)
        PyMem_RawFree(self.docs.items)


cdef bytes name_bytes(const Doc* name):
    return PyBytes_FromStringAndSize(name.text, name.length)


cdef str doc_text(const Doc* doc, const char* errors=b"surrogateescape"):
    """The id of a document. `errors` says what becomes of bytes that are not UTF-8."""
    cdef char[DIGITS] room
    cdef const char* text
    cdef int64_t length = id_text(doc, room, &text)
    return PyUnicode_DecodeUTF8(text, length, errors)


cdef object hold(object buffer, const char** begin, Py_ssize_t* length):
    """Sets the address and the length of a buffer; returns a view that keeps the buffer in memory."""
    cdef const uint8_t[::1] view = buffer
    begin[0] = b""
    length[0] = view.shape[0]
    if length[0] > 0:
        begin[0] = <const char*>&view[0]
    return view


cdef void set_integer(Doc* doc, int64_t number) noexcept nogil:
    doc.text = NULL
    doc.length = number
    doc.hash = mixed(<uint64_t>number)


cdef int set_object(Doc* doc, list texts, Py_ssize_t place, str source) except -1:
    """Sets `doc` to the id at `place` of the list. An id of a file that is not UTF-8 is replaced by its bytes."""
    cdef Py_ssize_t length
    cdef const char* data
    text = texts[place]
    if isinstance(text, str):
        try:
            data = PyUnicode_AsUTF8AndSize(text, &length)
            set_text(doc, data, length)
            return 0
        except UnicodeEncodeError:
            pass
        try:
            text = texts[place] = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise ValueError(f"{source}: an id is {text!r}: UTF-8 cannot encode its lone surrogate") from None
    if not isinstance(text, bytes):
        raise TypeError(f"{source}: an id is {text!r}: ids are strings or whole numbers")
    set_text(doc, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return 0


cdef void trouble_with(Parser* parser, Trouble problem, const Doc* doc, const Doc* other) noexcept nogil:
    parser.line = doc.text
    parser.other = other.text
    trouble(parser, problem, doc.text, doc.text + doc.length)


cdef int raise_document(str source, const char* begin, Py_ssize_t length, Trouble problem, bytes query, const Doc* doc,
                        const Doc* other) except -1:
    """Raises an error about a document of a query; it names the line if the document is from a text."""
    cdef Parser parser
    cdef char[DIGITS] room
    cdef const char* text
    cdef int64_t size
    if problem == TROUBLE_MEMORY:
        raise MemoryError
    if begin is not NULL:
        # The lines of a query may be in any order here: the later line is the error.
        if problem == TROUBLE_TWICE and other.text > doc.text:
            doc, other = other, doc
        start_parser(&parser, begin, length, True)
        trouble_with(&parser, problem, doc, other)
        raise_trouble(&parser, source)
    size = id_text(doc, room, &text)
    what = "has no rank" if problem == TROUBLE_RANK else "has the same rank as another document"
    what += ", but rank_by='rank' needs a rank for each document"
    if problem == TROUBLE_TWICE:
        what = (f"occurs twice in query {query.decode('utf-8', 'backslashreplace')!r}; duplicates='first' keeps the first row, "
                "duplicates='best' the best")
    raise ValueError(f"{source}: document {shown(text, size)!r} {what}")


# ----------------------------------------------------------------------------------------------- documents query by query

cdef Py_ssize_t place_of(Grouped self, object query) except -2:
    """The number of a query, or -1."""
    cdef Doc name
    if not isinstance(query, str):
        return -1
    try:
        text = query.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return -1
    set_text(&name, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return self.names.find(&name)


cdef dict docs_of(Grouped self, Py_ssize_t query):
    """The documents of a query with their levels or scores."""
    cdef Py_ssize_t i, first = self.offsets[query], end = self.offsets[query + 1]
    if isinstance(self, Qrels):
        if (<Qrels>self).scale is not None:
            levels = self.level_at(np.array([<int64_t>self.docs.items[i].score for i in range(first, end)], np.int64))
            return {doc_text(&self.docs.items[i]): levels[i - first] for i in range(first, end)}
        return {doc_text(&self.docs.items[i]): <int64_t>self.docs.items[i].score
                for i in range(first, end)}
    return {doc_text(&self.docs.items[i]): self.docs.items[i].score for i in range(first, end)}


cdef class Grouped:
    """The documents of many queries, query by query: a mapping of query ids to dicts of documents."""

    def __init__(self):
        raise TypeError("read_qrels and read_run make Qrels and Run")

    def __dealloc__(self):
        PyMem_RawFree(self.docs.items)
        PyMem_RawFree(self.segments)
        PyMem_RawFree(self.offsets)
        PyMem_RawFree(self.slots)
        PyMem_RawFree(self.first_slot)

    def __len__(self):
        return self.names.docs.size

    __reversed__ = None  # as of Mapping

    def __iter__(self):
        return iter(self.query_ids)

    def __contains__(self, query):
        return place_of(self, query) >= 0

    def __getitem__(self, query):
        cdef Py_ssize_t place = place_of(self, query)
        if place < 0:
            more = "" if isinstance(query, str) else ": query ids are strings"
            raise KeyError(f"{self.source} has no query {query!r}{more}")
        return docs_of(self, place)

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        return len(self) == len(other) and all(self[query] == other.get(query) for query in self)

    def __hash__(self):
        cdef Py_ssize_t q, i
        parts = []
        for q, query in enumerate(self.query_ids):
            most = max([self.docs.items[i].score for i in range(self.offsets[q], self.offsets[q + 1])], default=None)
            parts.append((query, self.offsets[q + 1] - self.offsets[q], most))
        return hash(frozenset(parts))

    def keys(self):
        """The ids of the queries."""
        return KeysView(self)

    def values(self):
        """The documents of each query, as dicts that are made on the way."""
        return ValuesView(self)

    def items(self):
        """The queries with their documents."""
        return ItemsView(self)

    def get(self, query, default=None):
        """The documents of a query, or `default`."""
        cdef Py_ssize_t place = place_of(self, query)
        return default if place < 0 else docs_of(self, place)

    def to_dict(self):
        """A copy in plain dicts: ``{query: {document: level or score}}``, in the order of the source.

        Returns
        -------
        dict

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.read_qrels([[4, 7], [2]]).to_dict()
        {'0': {'4': 1, '7': 1}, '1': {'2': 1}}
        """
        cdef Py_ssize_t q
        return {query: docs_of(self, q) for q, query in enumerate(self.query_ids)}

    def _columns(self):
        """The columns of a frame: a row for each document of each query. A frame holds UTF-8: other bytes are escaped."""
        cdef Py_ssize_t q, i, n = self.docs.size
        cdef cnp.ndarray values = np.empty(n), ranks = np.empty(n if self.ranks else 0)
        cdef double* numbers = <double*>cnp.PyArray_DATA(values)
        cdef double* places = <double*>cnp.PyArray_DATA(ranks)
        cdef list queries = []
        for q, name in enumerate(self.names.all_texts()):
            queries += [name.decode("utf-8", "backslashreplace")] * (self.offsets[q + 1] - self.offsets[q])
        for i in range(n):
            numbers[i] = self.docs.items[i].score
            if self.ranks:
                places[i] = self.docs.items[i].rank
        found = {"query_id": queries,
                 "doc_id": [doc_text(&self.docs.items[i], b"backslashreplace") for i in range(n)]}
        if isinstance(self, Qrels):
            return {**found, "relevance": self.level_at(values.astype(np.int64))}
        found["score"] = values
        if self.ranks and not np.isnan(ranks).any():
            found["rank"] = ranks.astype(np.int64) if (ranks == np.trunc(ranks)).all() else ranks
        return found

    def to_pandas(self):
        """A pandas.DataFrame with a row for each document of each query, in the order of the source.

        Judgments have the columns ``query_id``, ``doc_id`` and ``relevance``. A run has ``query_id``, ``doc_id`` and
        ``score``, and ``rank`` if each document has a rank. `read_qrels` and `read_run` take this frame. Ids are
        strings. Bytes of an id that are not UTF-8 are escaped.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.read_qrels({"q": {"a": 1, "b": 0}}).to_pandas().columns.tolist()
        ['query_id', 'doc_id', 'relevance']
        """
        return frame_of("pandas", self._columns())

    def to_polars(self):
        """A polars.DataFrame with the rows and columns of `to_pandas`.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.read_run({"q": {"a": 1.5, "b": 0.5}}).to_polars().rows()
        [('q', 'a', 1.5), ('q', 'b', 0.5)]
        """
        return frame_of("polars", self._columns())

    @property
    def num_docs(self):
        """The number of documents of all queries."""
        return self.docs.size

    @property
    def query_ids(self):
        """The query ids, in the order of the source."""
        return self.all_query_ids()

    cdef list all_query_ids(self):
        return [text.decode("utf-8", "surrogateescape") for text in self.names.all_texts()]

    cdef bint add_segment(self, const Doc* name, Py_ssize_t start) noexcept nogil:
        """Notes that the documents from `start` on are those of this query; False if there is no memory."""
        cdef Py_ssize_t query = self.names.add(name)
        if query < 0 or not grow(<void**>&self.segments, &self.room_segments, self.num_segments + 1, sizeof(Segment)):
            return False
        self.segments[self.num_segments] = Segment(query, start)
        self.num_segments += 1
        return True

    @classmethod
    def from_buffer(cls, buffer, str source, bint strict=True, str duplicates="raise"):
        """Parse the text of a file. The lines of a query may be anywhere in the text."""
        cdef Grouped self = cls.__new__(cls)
        cdef Parser parser
        cdef Doc name
        cdef bint more = True
        cdef Py_ssize_t start, stop
        cdef Trouble problem = NO_TROUBLE
        self.source = source
        self.names = Names()
        self.keep = hold(buffer, &self.begin, &self.length)
        self.strict = strict
        self.duplicates = duplicates
        start_parser(&parser, self.begin, self.length, strict)
        parser.qrels = cls is Qrels
        parser.ranks = self.ranks = not parser.qrels
        while more:
            with nogil:
                stop = self.docs.size + LINES_AT_ONCE
                while more and problem == NO_TROUBLE and self.docs.size < stop:
                    start = self.docs.size
                    problem = parse_query(&parser, &self.docs, &more)
                    set_text(&name, parser.query, parser.query_length)
                    if more and problem == NO_TROUBLE and not self.add_segment(&name, start):
                        problem = parser.trouble = TROUBLE_MEMORY
            if problem != NO_TROUBLE:
                raise_trouble(&parser, source)
            PyErr_CheckSignals()
        self.passed = passed_notes(&parser, source)
        self.tag = tag_of(&parser, "")
        self.finish()
        return self

    @classmethod
    def from_columns(cls, starts, list names, docs, const double[::1] values, str source, const double[::1] ranks=None,
                     bint listed=False, str tag=None, dict heads=None, notes=(), str duplicates="raise"):
        """Make it from arrays: query ``names[i]`` begins at ``starts[i]``. `listed`: queries stay in this order.

        A run leaves out queries without documents, as a file has no line for them. `heads`, `notes`: the columns of the
        source, and what there is to say of them.
        """
        cdef Grouped self = cls.__new__(cls)
        cdef bint qrels = cls is Qrels
        cdef Py_ssize_t i, n = values.shape[0]
        cdef const int64_t[::1] start, numbers
        cdef const double[::1] scores = values
        cdef Doc name
        cdef Doc* doc
        if not qrels:
            full = np.diff(starts, append=n) > 0
            names = [one for one, some in zip(names, full, strict=True) if some]
            starts = starts[full]
        self.source = source
        self.tag = source if tag is None else tag
        # Keeps the texts of the ids in memory.
        self.columns = (starts, names, docs, values, source, ranks, listed, self.tag, heads, tuple(notes), duplicates)
        self.heads, self.duplicates = heads, duplicates
        self.listed = listed
        self.names = Names()
        self.integers = not isinstance(docs, list)
        self.passed = list(notes)
        self.ranks = ranks is not None
        if qrels:
            scores = (<Qrels>self).set_scale(values)
        if len(docs) != n:
            raise ValueError(f"{source}: {many(len(docs), 'documents')} and {many(n, 'values')}")
        if not grow(<void**>&self.docs.items, &self.docs.capacity, n, sizeof(Doc)):
            raise MemoryError
        start = starts
        for i in range(len(names)):
            set_object(&name, names, i, source)
            if not self.add_segment(&name, start[i]):
                raise MemoryError
        if self.integers:
            numbers = docs
        for i in range(n):
            doc = &self.docs.items[i]
            if self.integers:
                set_integer(doc, numbers[i])
            else:
                set_object(doc, <list>docs, i, source)
            doc.score = scores[i]
            if isnan(doc.score) and not qrels:
                raise ValueError(f"{source}: the score in row {i} is NaN{whose(i, starts, names, docs)}")
            if ranks is not None:
                doc.rank = ranks[i]
        self.docs.size = n
        self.finish()
        return self

    cdef int finish(self) except -1:
        """Groups the documents by query, and raises if a document occurs twice. Qrels keep the hash tables for that."""
        cdef Py_ssize_t q, s, start, size, n = self.docs.size, queries = self.names.docs.size, bad = -1, before = 0
        cdef int64_t slot = 0
        cdef bint together = True, keep = isinstance(self, Qrels)
        cdef Doc* sorted_docs = NULL
        self.offsets = <int64_t*>PyMem_RawCalloc(queries + 2, sizeof(int64_t))
        self.first_slot = <int64_t*>PyMem_RawMalloc((queries + 1) * sizeof(int64_t))
        if self.offsets is NULL or self.first_slot is NULL:
            raise MemoryError
        for s in range(self.num_segments):
            self.offsets[self.segments[s].query + 2] += self.end_of(s) - self.segments[s].start
            together &= s == 0 or self.segments[s].query >= self.segments[s - 1].query
        for q in range(queries):
            self.offsets[q + 2] += self.offsets[q + 1]
        if not together:
            sorted_docs = <Doc*>PyMem_RawMalloc(n * sizeof(Doc))
            if sorted_docs is NULL:
                raise MemoryError
        for s in range(self.num_segments):
            q = self.segments[s].query
            start = self.segments[s].start
            size = self.end_of(s) - start
            if not together:
                memcpy(sorted_docs + self.offsets[q + 1], self.docs.items + start, size * sizeof(Doc))
            self.offsets[q + 1] += size
        if not together:
            PyMem_RawFree(self.docs.items)
            self.docs.items = sorted_docs
            self.docs.capacity = n
        PyMem_RawFree(self.segments)
        self.segments = NULL
        if self.duplicates != "raise":
            self.leave_out()
        for q in range(queries):
            self.first_slot[q] = slot if keep else 0
            size = <Py_ssize_t>table_mask(self.offsets[q + 1] - self.offsets[q]) + 1
            slot = slot + size if keep else max(slot, size)
        self.slots = <uint64_t*>PyMem_RawMalloc(slot * sizeof(uint64_t))
        if self.slots is NULL:
            raise MemoryError
        with nogil:
            for q in range(queries):
                n = self.offsets[q + 1] - self.offsets[q]
                bad = fill_table(self.docs.items + self.offsets[q], n, self.slots + self.first_slot[q], table_mask(n), &before)
                if bad >= 0:
                    break
        if bad >= 0:
            try:
                raise_document(self.source, self.begin, self.length, TROUBLE_TWICE, name_bytes(&self.names.docs.items[q]),
                               &self.docs.items[self.offsets[q] + bad], &self.docs.items[self.offsets[q] + before])
            except ValueError as error:
                if keep:
                    raise ValueError(f"{error}; subtopics=True reads judgments by subtopic, read_qrels(..., format='qrels_jg') "
                                     "those of several users") from None
                raise
        if not keep:
            PyMem_RawFree(self.slots)
            self.slots = NULL
        return 0

    cdef int leave_out(self) except -1:
        """Leaves out documents that are in their query already: all but the first, or all but the best."""
        cdef Py_ssize_t q, i, j, n, start = 0, stop, kept = 0, size = 2
        cdef uint64_t at, mask
        cdef bint best = self.duplicates == "best"
        cdef Doc* docs = self.docs.items
        cdef uint8_t* out = <uint8_t*>PyMem_RawCalloc(self.docs.size + 1, 1)
        cdef uint64_t* slots
        for q in range(self.names.docs.size):
            size = max(size, <Py_ssize_t>table_mask(self.offsets[q + 1] - self.offsets[q]) + 1)
        slots = <uint64_t*>PyMem_RawMalloc(size * sizeof(uint64_t))
        if out is NULL or slots is NULL:
            PyMem_RawFree(out)
            PyMem_RawFree(slots)
            raise MemoryError
        with nogil:
            for q in range(self.names.docs.size):
                stop = self.offsets[q + 1]
                n = stop - start
                mask = table_mask(n)
                memset(slots, 0, (mask + 1) * sizeof(uint64_t))
                for i in range(n):
                    at = find_slot(slots, mask, docs + start, &docs[start + i])
                    j = i if slots[at] == 0 else place_in(slots[at])
                    if j < i and not (best and docs[start + i].score > docs[start + j].score):
                        out[start + i] = True
                        continue
                    out[start + j] = j < i
                    slots[at] = (docs[start + i].hash >> 32 << 32) | <uint64_t>(i + 1)
                self.offsets[q] = kept
                for i in range(start, stop):
                    if not out[i]:
                        docs[kept] = docs[i]
                        kept += 1
                start = stop
            self.offsets[self.names.docs.size] = kept
        PyMem_RawFree(out)
        PyMem_RawFree(slots)
        self.left_out = self.docs.size - kept
        if self.left_out > 0:
            self.passed.append(f"{self.source}: {many(self.left_out, 'rows')} left out: the query has the document in "
                               f"another row (duplicates={self.duplicates!r})")
        self.docs.size = kept
        return 0

    cdef inline Py_ssize_t end_of(self, Py_ssize_t s) noexcept nogil:
        return self.segments[s + 1].start if s + 1 < self.num_segments else self.docs.size

    def as_text(self):
        """A copy that has the decimal text of each integer id."""
        if not self.integers:
            return self
        starts, names, docs, *others = self.columns
        return type(self).from_columns(starts, names, list(map(str, docs.tolist())), *others)

    def __reduce__(self):
        topics = getattr(self, "topics", None)
        if topics is not None:
            return judgments_of_subtopics, topics.parts
        if self.columns is not None:
            starts, names, docs, values, source, ranks, *rest = self.columns
            return judgments_or_run, (type(self).__name__, np.asarray(starts), names, docs, np.asarray(values), source,
                                      None if ranks is None else np.asarray(ranks), *rest)
        return judgments_or_run, (type(self).__name__, PyBytes_FromStringAndSize(self.begin, self.length), self.source,
                                  self.strict, self.duplicates)

    def __repr__(self):
        what = "judgments" if isinstance(self, Qrels) else "documents"
        topics = getattr(self, "topics", None)
        more = "" if topics is None else f", {many(len(topics.names), 'subtopics')}"
        return f"{type(self).__name__}({self.source!r}: {many(len(self), 'queries')}, {many(self.num_docs, what)}{more})"


@cython.final
cdef class Qrels(Grouped):
    """Relevance judgments: a mapping ``{query: {document: level}}``. `hitcurve.read_qrels` makes judgments.

    Ids are strings. Levels are whole numbers, or floats if the level of a document has a fraction. A query may have no
    documents. Each lookup makes a new dict, so the judgments never change. With judgments by subtopic a level is the
    highest level over the subtopics. Equality compares queries, documents and levels with those of any mapping.
    """

    def __dealloc__(self):
        PyMem_RawFree(self.levels)
        PyMem_RawFree(self.spare)

    cdef Names of_any(self):
        """The documents of all queries, each once. If two threads make them, the first are kept."""
        cdef Names made
        cdef Py_ssize_t i
        with cython.critical_section(self):
            made = self.union
        if made is None:
            made = Names()
            for i in range(self.docs.size):
                if made.add(&self.docs.items[i]) < 0:
                    raise MemoryError
            with cython.critical_section(self):
                if self.union is None:
                    self.union = made
                made = self.union
        return made

    cdef int32_t* take_places(self):
        """An array of zeros with an entry for each query; NULL if there is no memory.

        Runs that are judged one after the other share the array, so that the time for a run of one query does not grow with
        the qrels.
        """
        cdef int32_t* found
        with cython.critical_section(self):
            found = self.spare
            self.spare = NULL
        return <int32_t*>PyMem_RawCalloc(self.names.docs.size, sizeof(int32_t)) if found is NULL else found

    cdef void give_places(self, int32_t* places):
        """Takes back the array of `take_places`, whose entries are 0 again."""
        cdef int32_t* other
        with cython.critical_section(self):
            other = self.spare
            self.spare = places
        PyMem_RawFree(other)

    def as_text(self):
        """The copy of `Grouped.as_text`, made once. If two threads make a copy, the first copy is kept."""
        cdef Qrels texts, made
        if not self.integers:
            return self
        with cython.critical_section(self):
            texts = self.texts
        if texts is None:
            made = Grouped.as_text(self)
            with cython.critical_section(self):
                if self.texts is None:
                    self.texts = made
                texts = self.texts
        return texts

    cdef int finish(self) except -1:
        cdef Py_ssize_t q, i, n = self.docs.size
        cdef int64_t* spare
        if n == 0:
            raise ValueError(f"{self.source}: there are no judgments")
        Grouped.finish(self)
        n = self.docs.size
        self.levels = <int64_t*>PyMem_RawMalloc(n * sizeof(int64_t))
        spare = <int64_t*>PyMem_RawMalloc(n * sizeof(int64_t))
        if self.levels is NULL or spare is NULL:
            PyMem_RawFree(spare)
            raise MemoryError
        with nogil:
            for i in range(n):
                self.levels[i] = -<int64_t>self.docs.items[i].score
            for q in range(self.names.docs.size):
                sort_relevant(self.levels + self.offsets[q], self.offsets[q + 1] - self.offsets[q], SCORE_INT64, spare)
            for i in range(n):
                self.levels[i] = -self.levels[i]
        PyMem_RawFree(spare)
        return 0

    cdef object set_scale(self, values):
        """The values, or codes in place of levels that are not all whole."""
        levels = np.asarray(values)
        if (np.trunc(levels) == levels).all():
            return values
        self.scale = np.append(np.unique(np.append(levels, 0.0)), np.inf)
        self.zero = np.searchsorted(self.scale, 0.0)
        return (np.searchsorted(self.scale, levels) - self.zero).astype(np.float64)

    def code_from(self, level):
        """The lowest code of this level or a higher level."""
        if self.scale is None:
            return max(-MOST_LEVEL, min(ceil(level), MOST_LEVEL))
        return int(np.searchsorted(self.scale, float(level))) - self.zero

    def code_at(self, level):
        """The code of this level, or a code that no document has."""
        code = self.code_from(level)
        return code if self.scale is None or self.level_at(code) == level else MOST_LEVEL

    def level_at(self, code):
        """The level of a code, or of an array of codes; infinite for a code beyond the highest."""
        return code if self.scale is None else self.scale[code + self.zero].tolist()

    @property
    @cython.wraparound(True)
    def gains(self):
        """The level of each code from 0 up; None if levels are their own codes."""
        return None if self.scale is None else self.scale[self.zero:-1]

    cdef dict places(self):
        """The number of each query, by its id."""
        with cython.critical_section(self):
            if self.numbers is None:
                self.numbers = {text: q for q, text in enumerate(self.all_query_ids())}
                self.ids = [None] * len(self.numbers)
            return self.numbers

    cdef list ids_of(self, Py_ssize_t query):
        """The ids of a query's documents, as texts. Call `places` first."""
        cdef Py_ssize_t i
        with cython.critical_section(self):
            found = self.ids[query]
            if found is None:
                found = self.ids[query] = [
                    doc_text(&self.docs.items[i]) for i in range(self.offsets[query], self.offsets[query + 1])]
            return found

    @property
    def max_level(self):
        """The highest level of all judgments."""
        cdef Py_ssize_t q
        cdef int64_t most = INT64_MIN
        for q in range(self.names.docs.size):
            if self.offsets[q] < self.offsets[q + 1]:
                most = max(most, self.levels[self.offsets[q]])
        return self.level_at(most)

    def num_relevant(self, level):
        """The number of documents of each query with this level or a higher level."""
        cdef Py_ssize_t q, i
        cdef int64_t least = self.code_from(level)
        cdef cnp.ndarray found = cnp.PyArray_ZEROS(1, [self.names.docs.size], cnp.NPY_INT64, 0)
        cdef int64_t* numbers = <int64_t*>cnp.PyArray_DATA(found)
        with nogil:
            for q in range(self.names.docs.size):
                i = self.offsets[q]
                while i < self.offsets[q + 1] and self.levels[i] >= least:
                    i += 1
                numbers[q] = i - self.offsets[q]
        return found


@cython.final
cdef class Run(Grouped):
    """A run: a mapping ``{query: {document: score}}`` of what a system retrieved. `hitcurve.read_run` makes runs.

    Ids are strings, and scores are floats. Documents are in the order of the source. A query without documents is left
    out. Each lookup makes a new dict, so the run never changes. Equality compares queries, documents and scores with
    those of any mapping.
    """

    def documents(self, Py_ssize_t query):
        """The (id as bytes, score, rank) of each document of a query, as listed. Without a rank column the rank is 0."""
        cdef Py_ssize_t i
        cdef char[DIGITS] room
        cdef const char* text
        cdef int64_t length
        found = []
        for i in range(self.offsets[query], self.offsets[query + 1]):
            length = id_text(&self.docs.items[i], room, &text)
            found.append((PyBytes_FromStringAndSize(text, length), self.docs.items[i].score,
                          self.docs.items[i].rank if self.ranks else 0.0))
        return found


cdef void become_mapping(PyTypeObject* kind) noexcept:
    """Sets the flag that `match` asks for, and clears the slot by which numpy sees a sequence, as dicts have it."""
    kind.tp_flags |= Py_TPFLAGS_MAPPING
    kind.tp_as_sequence.sq_item = NULL


become_mapping(<PyTypeObject*>Grouped)
become_mapping(<PyTypeObject*>Qrels)
become_mapping(<PyTypeObject*>Run)
Mapping.register(Grouped)


# -------------------------------------------------------------------------------------------- judged documents of a run

cdef dict ORDERS = {"score": ORDER_SCORE, "listed": ORDER_FILE, "rank": ORDER_RANK}


@cython.final
cdef class Judged:
    """The judged documents of a run, query by query, with their ranks. The measures need nothing else of a run."""

    def __init__(self):
        raise TypeError("judge and judge_buffer make Judged")

    def __dealloc__(self):
        cdef Py_ssize_t i
        PyMem_RawFree(self.rows.items)
        if self.places is not NULL:
            for i in range(self.num_sections):
                self.places[self.sections[i].query] = 0
            self.qrels.give_places(self.places)
        PyMem_RawFree(self.sections)

    @staticmethod
    cdef Judged start(Qrels qrels, str source, str tag, str order, bint single):
        cdef Judged self = Judged.__new__(Judged)
        self.qrels = qrels
        self.source = source
        self.tag = tag
        self.others = []
        self.passed = []
        self.order = ORDERS[order]
        self.single = single
        self.places = qrels.take_places()
        if self.places is NULL:
            raise MemoryError
        return self

    cdef Section section(self, Py_ssize_t query) noexcept nogil:
        """The section of a query of the qrels."""
        cdef int32_t place = self.places[query]
        return Section(query, 0, 0, -1) if place == 0 else self.sections[place - 1]

    cdef bint add_section(self, Py_ssize_t query, int64_t first, int64_t retrieved) noexcept nogil:
        """Notes that the rows from `first` on are those of this query; False if there is no memory."""
        if not grow(<void**>&self.sections, &self.room_sections, self.num_sections + 1, sizeof(Section)):
            return False
        self.sections[self.num_sections] = Section(query, first, self.rows.size, retrieved)
        self.num_sections += 1
        self.places[query] = <int32_t>self.num_sections
        return True

    cdef Trouble add_query(self, Py_ssize_t query, const Doc* docs, Py_ssize_t n, Work* work) noexcept nogil:
        """Ranks the documents of a query. Query -1 has no judgments: only check that no document occurs twice."""
        cdef Trouble problem
        cdef int64_t begin, before = self.rows.size
        if query < 0:
            return check_twice(docs, n, work)
        begin = self.qrels.offsets[query]
        if self.union is not None:
            problem = rank_judged(docs, n, self.union.docs.items, self.union.slots, self.union.mask, self.order, self.single,
                                  work, &self.rows)
        else:
            problem = rank_judged(docs, n, self.qrels.docs.items + begin, self.qrels.slots + self.qrels.first_slot[query],
                                  table_mask(self.qrels.offsets[query + 1] - begin), self.order, self.single, work, &self.rows)
        if problem == NO_TROUBLE and not self.add_section(query, before, n):
            problem = TROUBLE_MEMORY
        if self.order != ORDER_SCORE and problem == NO_TROUBLE and work.rising:
            if self.contradicting == 0:
                self.contradicted = query
            self.contradicting += 1
        return problem

    cdef bint add_integers(self, Py_ssize_t query, const int64_t* ids, const double* scores, Py_ssize_t n,
                           Work* work) noexcept nogil:
        """Does what `add_query` does, for integer ids in arrays. If it cannot, it returns False and changes nothing."""
        cdef int64_t begin = self.qrels.offsets[max(query, 0)], judged = self.qrels.offsets[query + 1] - begin  # 0 for -1
        cdef Py_ssize_t before = self.rows.size, m
        m = find_integers(ids, scores, n, self.qrels.docs.items + begin, judged, work)
        if m < 0 or (m > 0 and not rank_integers(scores, n, m, work, &self.rows)):
            return False
        if query >= 0 and not self.add_section(query, before, n):
            self.rows.size = before
            return False
        return True

    def with_levels(self, Qrels qrels, const int64_t[::1] levels):
        """The same documents with other levels: level c becomes levels[c] if c is above 0. `qrels` has the same queries."""
        cdef Judged found = Judged.start(qrels, self.source, self.tag, "score", self.single)
        cdef Py_ssize_t i
        cdef int64_t first
        cdef Row row
        found.order, found.others, found.passed, found.by_any = self.order, self.others, self.passed, self.by_any
        found.contradicting, found.contradicted = self.contradicting, self.contradicted
        if not grow(<void**>&found.rows.items, &found.rows.capacity, self.rows.size, sizeof(Row)):
            raise MemoryError
        for i in range(self.num_sections):
            first = found.rows.size
            for row in self.rows.items[self.sections[i].first:self.sections[i].last]:
                if row.level > 0:
                    row.level = levels[row.level]
                found.rows.items[found.rows.size] = row
                found.rows.size += 1
            if not found.add_section(self.sections[i].query, first, self.sections[i].retrieved):
                raise MemoryError
        return found

    def num_retrieved(self):
        """The number of retrieved documents of each query of the qrels; -1 if the run does not have the query."""
        cdef Py_ssize_t i
        cdef cnp.ndarray found = np.full(self.qrels.names.docs.size, -1, np.int64)
        cdef int64_t* numbers = <int64_t*>cnp.PyArray_DATA(found)
        for i in range(self.num_sections):
            numbers[self.sections[i].query] = self.sections[i].retrieved
        return found

    def counts(self, const uint8_t[::1] chosen=None):
        """(the number of queries of the qrels that the run has, of their documents, and of those with a judgment).

        `chosen`: flags of the queries of the qrels that count. None: all.
        """
        cdef Py_ssize_t i, queries = 0, retrieved = 0, judged = 0
        for i in range(self.num_sections):
            if chosen is None or chosen[self.sections[i].query]:
                queries += 1
                retrieved += self.sections[i].retrieved
                judged += self.sections[i].last - self.sections[i].first
        return queries, retrieved, judged

    def table(self, Py_ssize_t query):
        """The rows (rank, above, tied, level) of a query."""
        cdef Py_ssize_t i
        cdef Section section = self.section(query)
        return [(self.rows.items[i].rank, self.rows.items[i].above, self.rows.items[i].tied,
                 self.qrels.level_at(self.rows.items[i].level)) for i in range(section.first, section.last)]

    @property
    def ties(self):
        """Whether a judged document shares its score with another document."""
        cdef Py_ssize_t i
        if self.by_any is not None and self.by_any.ties:
            return True
        for i in range(self.rows.size):
            if self.rows.items[i].tied > 1:
                return True
        return False


def judge(Qrels qrels, Run run, str order="score", bint single=False, bint by_any=False):
    """The judged documents of a run in memory. `by_any`: also the documents that are judged for any query."""
    cdef Judged judged
    if qrels.integers != run.integers:
        qrels = qrels.as_text()
        run = run.as_text()
    judged = judge_run(qrels, run, order, single, None)
    if by_any:
        judged.by_any = judge_run(qrels, run, order, single, qrels.of_any())
    return judged


cdef Judged judge_run(Qrels qrels, Run run, str order, bint single, Names union):
    """The judged documents of a run whose ids have the type of the judgments'; with `union`, those of all queries."""
    cdef Judged judged
    cdef Scratch scratch = Scratch()
    cdef const Doc* docs = NULL
    cdef Py_ssize_t r = 0, stop, query
    cdef Trouble problem = NO_TROUBLE
    judged = Judged.start(qrels, run.source, run.tag, order, single)
    judged.union = union
    judged.passed = run.passed
    if judged.order == ORDER_RANK and not run.ranks:
        raise ValueError(f"{run.source}: rank_by='rank' needs a rank column")
    while r < run.names.docs.size:
        stop = min(r + QUERIES_AT_ONCE, run.names.docs.size)
        with nogil:
            while r < stop and problem == NO_TROUBLE:
                query = qrels.names.find(&run.names.docs.items[r])
                docs = run.docs.items + run.offsets[r]
                if query >= 0:
                    problem = judged.add_query(query, docs, run.offsets[r + 1] - run.offsets[r], &scratch.work)
                else:
                    with gil:
                        judged.others.append(name_bytes(&run.names.docs.items[r]))
                r += 1
        if problem != NO_TROUBLE:
            raise_document(run.source, run.begin, run.length, problem, name_bytes(&run.names.docs.items[r - 1]),
                           &docs[scratch.work.bad], &docs[scratch.work.other])
        PyErr_CheckSignals()
    return judged


# Why `judge_lines` stopped: after many lines, at the end, in a query that the piece cuts, at a query that came before, at a
# line with trouble.
cdef enum Ended:
    ENDED_AFTER_SOME, ENDED_AT_END, ENDED_IN_QUERY, ENDED_APART, ENDED_TROUBLE


cdef bint met_before(dict names, const Doc* name) except -1:
    """Whether a name is among `names`; adds the name."""
    cdef bytes own = name_bytes(name)
    cdef bint met = own in names
    names[own] = None
    return met


cdef int judge_lines(Judged judged, Parser* parser, Parser* before, bint last, Scratch scratch, dict others) except -1 nogil:
    """Judges the next queries, and returns why it stopped.

    `before` becomes the parser at the beginning of the last query. `others` are the queries without judgments.
    """
    cdef Docs* docs = &scratch.docs
    cdef Doc name
    cdef bint more = True, apart
    cdef Py_ssize_t lines = 0, query
    cdef Trouble problem
    while lines < LINES_AT_ONCE:
        before[0] = parser[0]
        docs.size = 0
        if parse_query(parser, docs, &more) != NO_TROUBLE:
            return ENDED_TROUBLE
        if parser.p >= parser.end and not last:
            return ENDED_IN_QUERY
        if not more:
            return ENDED_AT_END
        lines += docs.size
        set_text(&name, parser.query, parser.query_length)
        query = judged.qrels.names.find(&name)
        if query >= 0:
            apart = judged.section(query).retrieved >= 0
        else:
            with gil:
                apart = met_before(others, &name)
        if apart:
            return ENDED_APART
        problem = judged.add_query(query, docs.items, docs.size, &scratch.work)
        if problem != NO_TROUBLE:
            trouble_with(parser, problem, &docs.items[scratch.work.bad], &docs.items[scratch.work.other])
            return ENDED_TROUBLE
    return ENDED_AFTER_SOME


def judge_buffer(Qrels qrels, text, str source, str order="score", bint single=False, bint strict=True, progress=None):
    """The judged documents of a run in the text of a file. Only the documents of the current query are in memory.

    `text` is the whole text, or has a method `more(done)` that gives the text piece by piece. The result is None if the lines
    of a query are not together: the caller must then read the text as a whole. `progress(offset)` is called from time to
    time.
    """
    cdef Judged judged
    cdef Scratch scratch = Scratch()
    cdef Parser parser, before
    cdef const char* begin
    cdef Py_ssize_t length, offset = 0
    cdef bint last = True
    cdef int ended = ENDED_AFTER_SOME
    cdef dict others = {}
    if qrels.integers:
        qrels = qrels.as_text()
    pieces = getattr(text, "more", None)
    if pieces is not None:
        text, last = pieces(0)
    _keep = hold(text, &begin, &length)
    judged = Judged.start(qrels, source, "", order, single)
    start_parser(&parser, begin, length, strict)
    parser.ranks = judged.order == ORDER_RANK
    while ended != ENDED_AT_END:
        with nogil:
            ended = judge_lines(judged, &parser, &before, last, scratch, others)
        if ended == ENDED_APART:
            return None
        if ended == ENDED_TROUBLE:
            raise_trouble(&parser, source)
        PyErr_CheckSignals()
        if progress is not None:
            progress(offset + parser.p - begin)
        if ended == ENDED_IN_QUERY:  # read the query again, with the next piece
            parser = before
            judged.tag = tag_of(&parser, judged.tag)
            parser.lines = line_number(&parser, parser.p) - 1
            length = parser.p - begin
            offset += length
            text, last = pieces(length)
            _keep = hold(text, &begin, &length)
            parse_from(&parser, begin, length, offset == 0)
    judged.tag = tag_of(&parser, judged.tag)
    judged.passed = passed_notes(&parser, source)
    judged.others = list(others)
    return judged


def judge_integers(Qrels qrels, const int64_t[::1] starts, list names, const int64_t[::1] ids,
                   const double[::1] scores, str source, str order="score", bint single=False,
                   str tag=None, list notes=None):
    """The judged documents of a run in arrays. Each query occurs once. The last entry of `starts` is the end."""
    cdef Judged judged = Judged.start(qrels, source, source if tag is None else tag, order, single)
    cdef Scratch scratch = Scratch()
    cdef Docs* docs = &scratch.docs
    cdef Doc name
    cdef Py_ssize_t s, i, n, query
    cdef int64_t begin
    cdef Trouble problem = NO_TROUBLE
    judged.passed = notes or []
    for s in range(len(names)):
        set_object(&name, names, s, source)
        query = qrels.names.find(&name)
        begin = starts[s]
        n = starts[s + 1] - begin
        if n == 0:  # a run leaves out queries without documents
            continue
        with nogil:
            if not single and judged.order == ORDER_SCORE and judged.add_integers(
                    query, &ids[begin], &scores[begin], n, &scratch.work):
                pass
            elif not grow(<void**>&docs.items, &docs.capacity, n, sizeof(Doc)):
                problem = TROUBLE_MEMORY
            else:
                for i in range(n):
                    set_integer(&docs.items[i], ids[begin + i])
                    docs.items[i].score = scores[begin + i]
                    if isnan(scores[begin + i]):
                        with gil:
                            row = begin + i
                            raise ValueError(f"{source}: the score in row {row} is NaN{whose(row, starts, names, ids)}")
                problem = judged.add_query(query, docs.items, n, &scratch.work)
        if problem != NO_TROUBLE:
            raise_document(source, NULL, 0, problem, name_bytes(&name), &docs.items[scratch.work.bad],
                           &docs.items[scratch.work.other])
        if query < 0:
            judged.others.append(name_bytes(&name))
        if s % 64 == 0:
            PyErr_CheckSignals()
    return judged


def _from_parts(str kind, *parts):
    """Make judgments or a run from a pickle: from the text of a file, or from columns."""
    cls = {"Qrels": Qrels, "Run": Run}[kind]
    return cls.from_buffer(*parts) if isinstance(parts[0], bytes) else cls.from_columns(*parts)


_MAKERS["judgments_or_run"] = _from_parts
