"""TREC files read, judged documents found, their ranks counted: all that an evaluation needs of a run.

Why a reader of our own: TREC separates columns by any mix of blanks and tabs, which the readers of pyarrow and polars
do not take, nor do they name a wrong line; and importing one takes longer than reading a million lines does here.

A run is never sorted as a whole. Of each query, the judged documents are looked up by hash (and compared byte by
byte), and only where scores do not already fall are they sorted, for the ranks of those few documents.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.math cimport NAN, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdio cimport snprintf
from libc.string cimport memchr, memcmp, memcpy, memset

import numpy as np

cimport cython
cimport numpy as cnp

from hitcurve._kernel.count cimport SCORE_DOUBLE, sort_relevant
from hitcurve._kernel cimport formulas as _read
from hitcurve.retrieval cimport formulas as _retrieval
from hitcurve.retrieval.formulas cimport Asked, Query, Reading, Room, Row, arrange, free_room, measure_query

cnp.import_array()

cdef extern from "_decimal.h" nogil:
    uint64_t read_u64 "hitcurve_read_u64"(const char* p)
    uint64_t big_endian "hitcurve_big_endian"(uint64_t word)
    int scaled_double "hitcurve_scaled_double"(uint64_t digits, int places, double* value)

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* s, char** endptr, PyObject* overflow_exception) except? -1.0

cdef struct Doc:
    uint64_t hash
    const char* text     # NULL: an integer id, which `length` then holds
    int64_t length
    double score         # in qrels: the level
    double rank          # the rank column, where it is asked for; while grouping, the query

cdef struct Docs:
    Doc* items
    Py_ssize_t size
    Py_ssize_t capacity

cdef struct Rows:
    Row* items
    Py_ssize_t size
    Py_ssize_t capacity

# What orders the documents of a query.
cdef enum Order:
    ORDER_SCORE
    ORDER_FILE
    ORDER_RANK

cdef enum Trouble:
    NO_TROUBLE
    TROUBLE_MEMORY
    TROUBLE_COLUMNS
    TROUBLE_SCORE
    TROUBLE_RANGE
    TROUBLE_NAN
    TROUBLE_LEVEL
    TROUBLE_PART_LEVEL     # a number, but not a whole one
    TROUBLE_TWICE
    TROUBLE_RANK
    TROUBLE_SAME_RANK

# What strict=False lets pass, as trec_eval does.
cdef enum Passed:
    PASSED_COLUMNS         # more than six columns in a run
    PASSED_SCORE           # the number that a score begins with, 0 if with none
    PASSED_LEVEL           # the whole number that a relevance begins with, 0 if with none
    PASSED_KINDS


# -------------------------------------------------------------------------------------------------------------- memory

cdef inline bint grow(void** memory, Py_ssize_t* capacity, Py_ssize_t wanted, size_t size) noexcept nogil:
    cdef Py_ssize_t more
    cdef void* moved
    if wanted <= capacity[0]:
        return True
    more = max(wanted, capacity[0] + capacity[0] // 2, 64)
    moved = PyMem_RawRealloc(memory[0], <size_t>more * size)
    if moved is NULL:
        return False
    memory[0] = moved
    capacity[0] = more
    return True


cdef inline bint room_for_docs(Docs* docs, Py_ssize_t wanted) noexcept nogil:
    return grow(<void**>&docs.items, &docs.capacity, wanted, sizeof(Doc))


# -------------------------------------------------------------------------------------------------------------- hashing

# Differs from process to process, so that no file can be made to collide.
cdef uint64_t SEED = <uint64_t><int64_t>hash("hitcurve")


cdef inline uint64_t mixed(uint64_t h) noexcept nogil:
    """One-to-one, so equal hashes of integers mean equal integers."""
    h ^= h >> 32
    h *= <uint64_t>0xD6E8FEB86659FD93
    h ^= h >> 32
    h *= <uint64_t>0xD6E8FEB86659FD93
    return h ^ (h >> 32)


cdef inline uint64_t spread(int64_t number, int shift) noexcept nogil:
    """A quick hash for one table, whose mask is `shift` short of 64 bits."""
    return (<uint64_t>number * <uint64_t>0x9E3779B97F4A7C15) >> shift


cdef inline uint64_t hash_text(const char* text, int64_t length) noexcept nogil:
    cdef uint64_t h = SEED ^ (<uint64_t>length * <uint64_t>0x9E3779B97F4A7C15), word = 0
    cdef int64_t i = 0
    if length >= 8:
        while i + 8 <= length:
            h = (h ^ read_u64(text + i)) * <uint64_t>0xD6E8FEB86659FD93
            h ^= h >> 32
            i += 8
        if i < length:
            word = read_u64(text + length - 8)
    else:
        for i in range(length):
            word = word << 8 | <uint8_t>text[i]
    return mixed(h ^ word)


cdef inline bint same_id(const Doc* a, const Doc* b) noexcept nogil:
    if a.hash != b.hash or a.length != b.length:
        return False
    return a.text is NULL or memcmp(a.text, b.text, a.length) == 0


cdef enum:
    DIGITS = 24


cdef inline int64_t id_text(const Doc* doc, char* room, const char** text) noexcept nogil:
    """The text of an id; integers are ordered by their decimal digits, as they are in a file."""
    if doc.text is not NULL:
        text[0] = doc.text
        return doc.length
    text[0] = room
    return snprintf(room, DIGITS, "%lld", <long long>doc.length)


cdef uint64_t id_key(const Doc* doc) noexcept nogil:
    """The first eight bytes, so that comparing keys is comparing these."""
    cdef char[24] room
    cdef char[8] head
    cdef const char* text
    cdef int64_t length = id_text(doc, room, &text)
    if length >= 8:
        return big_endian(read_u64(text))
    memset(head, 0, 8)
    memcpy(head, text, length)
    return big_endian(read_u64(head))


cdef int compare_ids(const Doc* a, const Doc* b) noexcept nogil:
    cdef char[24] room_a
    cdef char[24] room_b
    cdef const char* text_a
    cdef const char* text_b
    cdef int64_t length_a = id_text(a, room_a, &text_a), length_b = id_text(b, room_b, &text_b)
    cdef int found = memcmp(text_a, text_b, min(length_a, length_b))
    if found != 0:
        return found
    return (length_a > length_b) - (length_a < length_b)


cdef bytes name_bytes(const Doc* name):
    return PyBytes_FromStringAndSize(name.text, name.length)


@cython.final
cdef class Names:
    """Texts with a number each, in the order they came in."""
    cdef Docs docs
    cdef uint64_t* slots
    cdef uint64_t mask

    def __cinit__(self):
        self.mask = 63
        self.slots = <uint64_t*>PyMem_RawCalloc(64, sizeof(uint64_t))
        if self.slots is NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_RawFree(self.slots)
        PyMem_RawFree(self.docs.items)

    cdef Py_ssize_t find(self, const Doc* name) noexcept nogil:
        cdef uint64_t place = name.hash & self.mask
        while self.slots[place] != 0:
            if same_id(&self.docs.items[self.slots[place] - 1], name):
                return <Py_ssize_t>self.slots[place] - 1
            place = (place + 1) & self.mask
        return -1

    cdef Py_ssize_t add(self, const Doc* name) noexcept nogil:
        """The number of a new name; -1 if there is no memory."""
        cdef uint64_t place
        cdef uint64_t* slots
        cdef Py_ssize_t i
        if not room_for_docs(&self.docs, self.docs.size + 1):
            return -1
        if <uint64_t>(2 * self.docs.size + 2) > self.mask:
            slots = <uint64_t*>PyMem_RawCalloc(4 * (self.mask + 1), sizeof(uint64_t))
            if slots is NULL:
                return -1
            PyMem_RawFree(self.slots)
            self.slots = slots
            self.mask = 4 * self.mask + 3
            for i in range(self.docs.size):
                place = self.docs.items[i].hash & self.mask
                while slots[place] != 0:
                    place = (place + 1) & self.mask
                slots[place] = <uint64_t>i + 1
        place = name.hash & self.mask
        while self.slots[place] != 0:
            place = (place + 1) & self.mask
        self.docs.items[self.docs.size] = name[0]
        self.docs.size += 1
        self.slots[place] = <uint64_t>self.docs.size
        return self.docs.size - 1

    cdef bytes text(self, Py_ssize_t place):
        return name_bytes(&self.docs.items[place])

    def all_texts(self):
        """The names as a list of bytes."""
        return [self.text(i) for i in range(self.docs.size)]


# -------------------------------------------------------------------------------------------------------------- numbers

cdef inline bint is_digit(char c) noexcept nogil:
    return c >= 48 and c <= 57


cdef inline bint is_word(const char* p, const char* stop, const char* word, Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t i
    if stop - p < length:
        return False
    for i in range(length):
        if (p[i] | 32) != word[i]:
            return False
    return True


cdef double parse_number(const char* p, const char* stop, const char** after, bint* slow) noexcept nogil:
    """The number that a text begins with; `after` is where it ends (where it began, if it is none).

    `slow` says that the text is long or extreme: it is well formed up to `after`, and its value not yet known.
    """
    cdef const char* start = p
    cdef const char* point
    cdef const char* mark
    cdef uint64_t digits = 0
    cdef int count = 0, exponent = 0
    cdef int64_t places = 0
    cdef bint negative = False, turned = False, some = False
    cdef double value = 0.0
    slow[0] = False
    after[0] = start
    if p < stop and (p[0] == c'-' or p[0] == c'+'):
        negative = p[0] == c'-'
        p += 1
    while p < stop and is_digit(p[0]):
        some = True
        if count < 19:
            digits = digits * 10 + <uint64_t>(p[0] - 48)
            count += digits != 0
        else:
            slow[0] = True
        p += 1
    if p < stop and p[0] == c'.':
        point = p + 1
        p += 1
        while p < stop and is_digit(p[0]):
            some = True
            if count < 19:
                digits = digits * 10 + <uint64_t>(p[0] - 48)
                count += digits != 0
            else:
                slow[0] = True
            p += 1
        places = p - point
    if not some:
        p = start + (start[0] == c'-' or start[0] == c'+') if start < stop else start
        if is_word(p, stop, b"infinity", 8) or is_word(p, stop, b"inf", 3):
            after[0] = p + (8 if is_word(p, stop, b"infinity", 8) else 3)
            return -1e308 * 10 if negative else 1e308 * 10
        if is_word(p, stop, b"nan", 3):
            after[0] = p + 3
            return NAN
        return 0.0
    after[0] = p
    if p < stop and (p[0] == c'e' or p[0] == c'E'):
        mark = p + 1
        if mark < stop and (mark[0] == c'-' or mark[0] == c'+'):
            turned = mark[0] == c'-'
            mark += 1
        if mark < stop and is_digit(mark[0]):
            while mark < stop and is_digit(mark[0]):
                if exponent < 100000:
                    exponent = exponent * 10 + (mark[0] - 48)
                mark += 1
            places += exponent if turned else -exponent
            after[0] = mark
    if slow[0] or places > 1000 or places < -1000 or not scaled_double(digits, <int>places, &value):
        slow[0] = True
        return 0.0
    return -value if negative else value


cdef const char* hexadecimal_end(const char* p, const char* stop) noexcept nogil:
    """Where the hexadecimal number ends that a text begins with; its begin, if it begins with none."""
    cdef const char* start = p
    cdef bint some = False, pointed = False
    p += p < stop and (p[0] == c'-' or p[0] == c'+')
    if stop - p < 3 or p[0] != c'0' or (p[1] | 32) != c'x':
        return start
    p += 2
    while p < stop and (is_digit(p[0]) or ((p[0] | 32) >= c'a' and (p[0] | 32) <= c'f') or (p[0] == c'.' and not pointed)):
        pointed |= p[0] == c'.'
        some |= p[0] != c'.'
        p += 1
    if not some:
        return start
    stop -= 1
    if p < stop and (p[0] | 32) == c'p' and (is_digit(p[1]) or (p + 1 < stop and (p[1] == c'-' or p[1] == c'+')
                                                                and is_digit(p[2]))):
        p += 2
        while p <= stop and is_digit(p[0]):
            p += 1
    return p


cdef double slow_number(bytes text) except? -1.0:
    if b"x" in text or b"X" in text:
        return float.fromhex(text.decode())
    return PyOS_string_to_double(PyBytes_AS_STRING(text), NULL, <PyObject*>OverflowError)


cdef Trouble slow_number_nogil(const char* start, const char* after, double* value) noexcept nogil:
    with gil:
        try:
            value[0] = slow_number(PyBytes_FromStringAndSize(start, after - start))
        except OverflowError:
            return TROUBLE_RANGE
        except MemoryError:
            return TROUBLE_MEMORY
    return NO_TROUBLE


# ---------------------------------------------------------------------------------------------------------------- lines

cdef struct Line:
    const char* query
    const char* doc
    int64_t query_length
    int64_t doc_length

cdef struct Parser:
    const char* begin
    Py_ssize_t lines       # before that, in a file that is read piece by piece
    const char* p
    const char* end
    bint strict
    bint single            # scores in single precision
    bint ranks             # the rank column is wanted
    Trouble trouble
    const char* line       # the line with the trouble
    const char* field      # and the text that makes it
    int64_t field_length
    const char* other      # the document met before, or NULL
    int64_t[3] passed      # how often something was let pass
    (const char*)[3] first  # and where it first was, if in this piece
    Py_ssize_t[3] first_line  # or the line where it was
    const char* tag
    int64_t tag_length
    const char* query      # the query being read
    int64_t query_length


cdef uint8_t[256] BLANK
memset(BLANK, 0, 256)
BLANK[32] = BLANK[9] = BLANK[11] = BLANK[12] = BLANK[13] = 1  # what C calls a space
BLANK[10] = 2  # ends a line


cdef inline bint blank(char c) noexcept nogil:
    return BLANK[<uint8_t>c] == 1


cdef inline const char* skip_blanks(const char* p, const char* end) noexcept nogil:
    while p < end and BLANK[<uint8_t>p[0]] == 1:
        p += 1
    return p


cdef inline const char* skip_word(const char* p, const char* end) noexcept nogil:
    while p < end and BLANK[<uint8_t>p[0]] == 0:
        p += 1
    return p


cdef inline const char* next_line(const char* p, const char* end) noexcept nogil:
    cdef const char* found = <const char*>memchr(p, 10, end - p)
    return end if found is NULL else found + 1


cdef inline const char* first_word(Parser* parser) noexcept nogil:
    """To the first word of the next line that has one and is no comment; NULL at the end."""
    cdef const char* p = parser.p
    while True:
        p = skip_blanks(p, parser.end)
        if p >= parser.end:
            parser.p = p
            return NULL
        if p[0] == 10:
            p += 1
        elif p[0] == c'#':
            p = next_line(p, parser.end)
        else:
            parser.line = p
            return p


cdef inline Trouble trouble(Parser* parser, Trouble kind, const char* field, const char* stop) noexcept nogil:
    parser.trouble = kind
    parser.field = field
    parser.field_length = stop - field
    return kind


cdef inline void let_pass(Parser* parser, int kind) noexcept nogil:
    if parser.passed[kind] == 0:
        parser.first[kind] = parser.line
    parser.passed[kind] += 1


cdef inline const char* parse_doc(Parser* parser, const char* stop, Doc* found) noexcept nogil:
    """From the end of a line's query past its second column and its document id; NULL: it has none."""
    cdef const char* end = parser.end
    cdef const char* p = skip_blanks(skip_word(skip_blanks(stop, end), end), end)
    stop = skip_word(p, end)
    if stop == p:
        trouble(parser, TROUBLE_COLUMNS, p, stop)
        return NULL
    found.text = p
    found.length = stop - p
    found.hash = hash_text(p, found.length)
    return stop


cdef Trouble parse_run_line(Parser* parser, const char* stop, Doc* found) noexcept nogil:
    """A line of a run, from the end of its query on."""
    cdef const char* end = parser.end
    cdef const char* rank
    cdef const char* rank_stop
    cdef const char* score
    cdef const char* p
    cdef const char* after
    cdef bint slow = False
    cdef Trouble problem
    stop = parse_doc(parser, stop, found)
    if stop is NULL:
        return parser.trouble
    # All columns first: in a line that lacks one, another stands where the score would be.
    rank = skip_blanks(stop, end)
    rank_stop = skip_word(rank, end)
    score = skip_blanks(rank_stop, end)
    stop = skip_word(score, end)
    p = skip_blanks(stop, end)
    parser.tag = p
    p = skip_word(p, end)
    parser.tag_length = p - parser.tag
    if parser.tag_length == 0:
        return trouble(parser, TROUBLE_COLUMNS, p, p)
    p = skip_blanks(p, end)
    if p < end and p[0] != 10:
        if parser.strict:
            return trouble(parser, TROUBLE_COLUMNS, p, p)
        let_pass(parser, PASSED_COLUMNS)
        p = next_line(p, end)
    elif p < end:
        p += 1
    parser.p = p
    if parser.ranks:
        found.rank = parse_number(rank, rank_stop, &after, &slow)
        if after != rank_stop or slow:
            found.rank = NAN  # said only if somebody asks for ranks
    found.score = parse_number(score, stop, &after, &slow)
    if after != stop:
        if parser.strict:
            return trouble(parser, TROUBLE_SCORE, score, stop)
        p = hexadecimal_end(score, stop)
        if p != score:  # which C reads as well
            slow = True
            after = p
        if after != stop:
            let_pass(parser, PASSED_SCORE)
    if slow:
        problem = slow_number_nogil(score, after, &found.score)
        if problem != NO_TROUBLE:
            return trouble(parser, problem, score, stop)
    if isnan(found.score):
        return trouble(parser, TROUBLE_NAN, score, stop)
    if parser.single:
        found.score = <double><float>found.score
    return NO_TROUBLE


cdef Trouble parse_query(Parser* parser, Docs* docs, bint* more) noexcept nogil:
    """The documents of the next query of a run, as far as its lines are together; `more`: there was one."""
    cdef const char* p
    cdef const char* stop
    cdef const char* end = parser.end
    cdef Trouble problem
    docs.size = 0
    p = first_word(parser)
    more[0] = p is not NULL
    if p is NULL:
        return NO_TROUBLE
    stop = skip_word(p, end)
    parser.query = p
    parser.query_length = stop - p
    while True:
        if not room_for_docs(docs, docs.size + 1):
            return trouble(parser, TROUBLE_MEMORY, p, p)
        problem = parse_run_line(parser, stop, &docs.items[docs.size])
        if problem != NO_TROUBLE:
            return problem
        docs.size += 1
        p = first_word(parser)
        if p is NULL:
            return NO_TROUBLE
        stop = p + parser.query_length
        if (end - p < parser.query_length or memcmp(p, parser.query, parser.query_length) != 0
                or (stop < end and BLANK[<uint8_t>stop[0]] == 0)):
            parser.p = p
            return NO_TROUBLE


cdef Trouble parse_qrels_line(Parser* parser, const char* p, Doc* name, Doc* found) noexcept nogil:
    cdef const char* end = parser.end
    cdef const char* stop = skip_word(p, end)
    cdef const char* q
    cdef int64_t level = 0
    cdef bint negative = False
    name.text = p
    name.length = stop - p
    stop = parse_doc(parser, stop, found)
    if stop is NULL:
        return parser.trouble
    p = skip_blanks(stop, end)
    stop = skip_word(p, end)
    q = skip_blanks(stop, end)
    if stop == p or (q < end and q[0] != 10):
        return trouble(parser, TROUBLE_COLUMNS, q, q)
    parser.p = q + 1 if q < end else q
    q = p
    if p[0] == c'-' or p[0] == c'+':
        negative = p[0] == c'-'
        q += 1
    while q < stop and is_digit(q[0]):
        level = level * 10 + (q[0] - 48)
        if level > 1000000000:
            return trouble(parser, TROUBLE_LEVEL, p, stop)
        q += 1
    if q != stop or q == p + (p[0] == c'-' or p[0] == c'+'):
        if parser.strict:
            return trouble(parser, part_level(p, stop), p, stop)
        if part_level(p, stop) == TROUBLE_NAN:
            return trouble(parser, TROUBLE_NAN, p, stop)
        let_pass(parser, PASSED_LEVEL)
    found.score = <double>(-level if negative else level)
    return NO_TROUBLE


cdef Trouble part_level(const char* p, const char* stop) noexcept nogil:
    cdef const char* after
    cdef bint slow
    cdef double value = parse_number(p, stop, &after, &slow)
    if isnan(value):
        return TROUBLE_NAN
    return TROUBLE_PART_LEVEL if after == stop else TROUBLE_LEVEL


cdef object raise_trouble(Parser* parser, str source, str kind):
    """Say what is wrong in which line of which file."""
    cdef const char* start = parser.line
    cdef const char* stop
    if parser.trouble == TROUBLE_MEMORY:
        raise MemoryError
    while start > parser.begin and (start - 1)[0] != 10:
        start -= 1
    stop = <const char*>memchr(start, 10, parser.end - start)
    if stop is NULL:
        stop = parser.end
    place = line_number(parser, start)
    line = shown(start, stop - start)
    field = shown(parser.field, parser.field_length)
    columns = 0
    if parser.trouble == TROUBLE_COLUMNS:
        columns = len(PyBytes_FromStringAndSize(start, stop - start).split())
        wanted = ("six columns (query, Q0, document, rank, score, tag)" if kind == "run"
                  else "four columns (query, iteration, document, relevance)")
        problem = f"has {columns} column{'' if columns == 1 else 's'}, {kind} has {wanted}".replace(
            f"{kind} has", f"a line of a {kind} has" if kind == "run" else "a line of qrels has")
    elif parser.trouble == TROUBLE_SCORE:
        problem = f"the score {field!r} is no number"
    elif parser.trouble == TROUBLE_RANGE:
        problem = f"the score {field!r} is beyond the range of a double"
    elif parser.trouble == TROUBLE_NAN:
        problem = f"the {'score' if kind == 'run' else 'relevance'} is NaN"
    elif parser.trouble == TROUBLE_PART_LEVEL:
        problem = f"the relevance {field!r} is not a whole number"
    elif parser.trouble == TROUBLE_LEVEL:
        problem = f"the relevance {field!r} is no number from -1000000000 to 1000000000"
    elif parser.trouble == TROUBLE_TWICE:
        before = f", first in line {line_number(parser, parser.other)}"
        problem = f"document {field!r} is there twice for its query{before}"
    elif parser.trouble == TROUBLE_RANK:
        problem = "the rank column holds no number, and ties='rank' needs one"
    else:
        problem = "another document of this query has the same rank"
    hint = ""
    if parser.trouble in (TROUBLE_SCORE, TROUBLE_PART_LEVEL) or (
            parser.trouble == TROUBLE_COLUMNS and kind == "run" and columns > 6):
        hint = " (strict=False reads it as trec_eval does)"
    raise ValueError(f"{source}, line {place}: {problem}{hint}: {line!r}")


cdef Py_ssize_t line_number(Parser* parser, const char* start) noexcept nogil:
    cdef const char* p = parser.begin
    cdef Py_ssize_t lines = parser.lines + 1, i, n
    cdef uint8_t few
    while p < start:
        n = min(start - p, 240)  # as many as compilers count in bytes
        few = 0
        for i in range(n):
            few += p[i] == 10
        lines += few
        p += n
    return lines


cdef str shown(const char* text, int64_t length):
    cut = PyBytes_FromStringAndSize(text, min(length, 120)).decode("utf-8", "backslashreplace").rstrip("\r")
    return cut if length <= 120 else cut + "..."


cdef str tag_of(Parser* parser, str earlier):
    """The last tag, or that of earlier pieces."""
    tag = earlier if parser.tag is NULL else shown(parser.tag, parser.tag_length)
    parser.tag = NULL
    return tag


cdef list passed_notes(Parser* parser, str source):
    words = ["line%s with more than six columns: the rest ignored",
             "score%s that are no number: read as far as they are one, else as 0",
             "relevance%s that are no whole number: read as far as they are one, else as 0"]
    cdef int kind
    notes = []
    for kind in range(<int>PASSED_KINDS):
        if parser.passed[kind]:
            plural = "" if parser.passed[kind] == 1 else "s"
            note_line(parser, kind)
            notes.append(f"{source}: {parser.passed[kind]} {words[kind] % plural}, first in line {parser.first_line[kind]}")
    return notes


cdef void note_line(Parser* parser, int kind) noexcept nogil:
    if parser.passed[kind] and parser.first_line[kind] == 0:
        parser.first_line[kind] = line_number(parser, parser.first[kind])


cdef void start_parser(Parser* parser, const char* begin, Py_ssize_t length, bint strict) noexcept:
    memset(parser, 0, sizeof(Parser))
    parser.strict = strict
    parse_from(parser, begin, length, True)


cdef void parse_from(Parser* parser, const char* begin, Py_ssize_t length, bint first) noexcept nogil:
    """The next text to parse; the first one some editors begin with the mark of UTF-8."""
    parser.begin = parser.p = begin
    parser.end = begin + length
    if first and length >= 3 and memcmp(begin, b"\xef\xbb\xbf", 3) == 0:
        parser.begin = parser.p = begin + 3


# --------------------------------------------------------------------------------------------------------------- sorting

cdef struct Item:
    uint64_t key
    int64_t place


cdef inline bint goes_first(const Item* a, const Item* b, const Doc* docs) noexcept nogil:
    if a.key != b.key or docs is NULL:
        return a.key > b.key
    return compare_ids(&docs[a.place], &docs[b.place]) > 0


cdef void sort_items(Item* items, Item* room, Py_ssize_t n, const Doc* docs) noexcept nogil:
    """Falling by key, then (with `docs`) by document id; a stable merge sort."""
    cdef Py_ssize_t start, stop, i, j, k, middle, width = 16
    cdef Item item
    cdef Item* swap
    cdef Item* origin = items
    for start in range(0, n, 16):
        stop = min(start + 16, n)
        for i in range(start + 1, stop):
            item = items[i]
            j = i
            while j > start and goes_first(&item, &items[j - 1], docs):
                items[j] = items[j - 1]
                j -= 1
            items[j] = item
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            i = start
            j = middle
            for k in range(start, stop):
                if j >= stop or (i < middle and not goes_first(&items[j], &items[i], docs)):
                    room[k] = items[i]
                    i += 1
                else:
                    room[k] = items[j]
                    j += 1
            start = stop
        swap = items
        items = room
        room = swap
        width *= 2
    if items != origin:
        memcpy(origin, items, n * sizeof(Item))


cdef inline uint64_t score_key(double score) noexcept nogil:
    """Unsigned integers in the order of the scores."""
    cdef uint64_t bits
    score += 0.0  # -0.0 becomes 0.0
    memcpy(&bits, &score, 8)
    return ~bits if bits >> 63 else bits | (<uint64_t>1 << 63)


# ---------------------------------------------------------------------------------------------------------------- ranks

cdef enum:
    NOT_JUDGED = -2000000000
    FEW_JUDGED = 64        # up to so many, counting what lies above each is quicker than sorting

# Memory for one query after another; belongs to one thread.
cdef struct Work:
    uint64_t* seen
    Py_ssize_t seen_size
    Item* items
    Py_ssize_t items_size
    Item* spare
    Py_ssize_t spare_size
    double* scores
    Py_ssize_t scores_size
    double* ordered        # scores sorted
    Py_ssize_t ordered_size
    float* rounded         # scores in single precision
    Py_ssize_t rounded_size
    int32_t* table         # of integer ids; what is not above `used` is of queries before, and so is free
    Py_ssize_t table_size
    int64_t used
    int64_t* found         # places of the judged documents
    Py_ssize_t found_size
    int64_t* levels        # the judgment of every document, or NOT_JUDGED
    Py_ssize_t levels_size


cdef void free_work(Work* work) noexcept nogil:
    PyMem_RawFree(work.seen)
    PyMem_RawFree(work.items)
    PyMem_RawFree(work.spare)
    PyMem_RawFree(work.scores)
    PyMem_RawFree(work.ordered)
    PyMem_RawFree(work.rounded)
    PyMem_RawFree(work.table)
    PyMem_RawFree(work.found)
    PyMem_RawFree(work.levels)


cdef inline uint64_t table_mask(Py_ssize_t n) noexcept nogil:
    """Of a hash table at most half full."""
    cdef uint64_t size = 2
    while size < 2 * <uint64_t>n:
        size *= 2
    return size - 1


cdef Py_ssize_t fill_table(const Doc* docs, Py_ssize_t n, uint64_t* slots, uint64_t mask,
                           Py_ssize_t* before) noexcept nogil:
    """Fills a hash table with documents; the first that is there already, or -1.

    A slot holds half of a hash and a place, so that most comparisons need no look at the document.
    """
    cdef Py_ssize_t i
    cdef uint64_t h, slot, place
    memset(slots, 0, (mask + 1) * sizeof(uint64_t))
    for i in range(n):
        h = docs[i].hash
        place = h & mask
        while True:
            slot = slots[place]
            if slot == 0:
                slots[place] = (h & <uint64_t>0xFFFFFFFF00000000) | <uint64_t>(i + 1)
                break
            if (slot ^ h) >> 32 == 0 and same_id(&docs[(slot & <uint64_t>0xFFFFFFFF) - 1], &docs[i]):
                before[0] = <Py_ssize_t>(slot & <uint64_t>0xFFFFFFFF) - 1
                return i
            place = (place + 1) & mask
    return -1


cdef Trouble check_twice(const Doc* docs, Py_ssize_t n, Work* work, Py_ssize_t* bad, Py_ssize_t* other) noexcept nogil:
    cdef uint64_t mask = table_mask(n)
    if not grow(<void**>&work.seen, &work.seen_size, <Py_ssize_t>mask + 1, sizeof(uint64_t)):
        return TROUBLE_MEMORY
    bad[0] = fill_table(docs, n, work.seen, mask, other)
    return NO_TROUBLE if bad[0] < 0 else TROUBLE_TWICE


cdef inline bint add_row(Rows* rows, int64_t rank, int64_t above, int64_t tied, int64_t level) noexcept nogil:
    cdef Row* row
    if not grow(<void**>&rows.items, &rows.capacity, rows.size + 1, sizeof(Row)):
        return False
    row = &rows.items[rows.size]
    row.rank = rank
    row.above = above
    row.tied = tied
    row.level = level
    rows.size += 1
    return True


cdef bint room_for_items(Work* work, Py_ssize_t n) noexcept nogil:
    return (grow(<void**>&work.items, &work.items_size, n, sizeof(Item))
            and grow(<void**>&work.spare, &work.spare_size, n, sizeof(Item)))


cdef Trouble rank_judged(const Doc* docs, Py_ssize_t n, const Doc* judged, const uint64_t* slots, uint64_t mask,
                         Order order, Work* work, Rows* rows, Py_ssize_t* bad, Py_ssize_t* other) noexcept nogil:
    """Appends the rows of one query of a run: its judged documents, best first."""
    cdef Py_ssize_t i, m = 0
    cdef uint64_t h, slot, place
    cdef bint falling = True
    cdef const Doc* entry
    cdef Trouble problem = check_twice(docs, n, work, bad, other)
    if problem != NO_TROUBLE:
        return problem
    if not (grow(<void**>&work.found, &work.found_size, n, sizeof(int64_t))
            and grow(<void**>&work.levels, &work.levels_size, n, sizeof(int64_t))):
        return TROUBLE_MEMORY
    for i in range(n):
        work.levels[i] = NOT_JUDGED
        h = docs[i].hash
        place = h & mask
        while True:
            slot = slots[place]
            if slot == 0:
                break
            if (slot ^ h) >> 32 == 0:
                entry = &judged[(slot & <uint64_t>0xFFFFFFFF) - 1]
                if same_id(entry, &docs[i]):
                    work.found[m] = i
                    work.levels[i] = <int64_t>entry.score
                    m += 1
                    break
            place = (place + 1) & mask
    if order == ORDER_RANK:
        return add_by_rank(docs, n, work, rows, bad, other)
    if order == ORDER_FILE:
        for i in range(m):
            if not add_row(rows, work.found[i] + 1, work.found[i], 1, work.levels[work.found[i]]):
                return TROUBLE_MEMORY
        return NO_TROUBLE
    for i in range(1, n):
        falling &= docs[i].score <= docs[i - 1].score
    if falling:
        return add_falling(docs, n, NULL, work, rows)
    return add_unsorted(docs, n, work, m, rows)


cdef Trouble add_by_rank(const Doc* docs, Py_ssize_t n, Work* work, Rows* rows, Py_ssize_t* bad,
                         Py_ssize_t* other) noexcept nogil:
    """In the order of the rank column, whatever number it begins with; no rank twice."""
    cdef Py_ssize_t i
    if not room_for_items(work, n):
        return TROUBLE_MEMORY
    for i in range(n):
        if isnan(docs[i].rank):
            bad[0] = i
            return TROUBLE_RANK
        work.items[i].key = score_key(-docs[i].rank)
        work.items[i].place = i
    sort_items(work.items, work.spare, n, NULL)
    for i in range(n):
        if i > 0 and work.items[i].key == work.items[i - 1].key:
            bad[0] = work.items[i].place
            other[0] = work.items[i - 1].place
            return TROUBLE_SAME_RANK
        if work.levels[work.items[i].place] != NOT_JUDGED:
            if not add_row(rows, i + 1, i, 1, work.levels[work.items[i].place]):
                return TROUBLE_MEMORY
    return NO_TROUBLE


cdef Trouble add_falling(const Doc* docs, Py_ssize_t n, const Item* order, Work* work, Rows* rows) noexcept nogil:
    """Documents that lie, or that `order` puts, with their scores falling: tie group by tie group."""
    cdef Py_ssize_t i, place, start = 0, stop
    cdef double score
    cdef bint judged
    cdef Item* group
    while start < n:
        place = start if order is NULL else order[start].place
        score = docs[place].score
        judged = work.levels[place] != NOT_JUDGED
        stop = start + 1
        while stop < n:
            place = stop if order is NULL else order[stop].place
            if docs[place].score != score:
                break
            judged |= work.levels[place] != NOT_JUDGED
            stop += 1
        if judged and stop == start + 1:
            place = start if order is NULL else order[start].place
            if not add_row(rows, start + 1, start, 1, work.levels[place]):
                return TROUBLE_MEMORY
        elif judged:
            # trec_eval's rule: among equal scores, the greater document id first.
            if not room_for_items(work, n):
                return TROUBLE_MEMORY
            group = work.items + start  # where `order` lies too, if given
            for i in range(start, stop):
                place = i if order is NULL else order[i].place
                group[i - start].place = place
                group[i - start].key = id_key(&docs[place])
            sort_items(group, work.spare, stop - start, docs)
            for i in range(start, stop):
                place = group[i - start].place
                if work.levels[place] != NOT_JUDGED:
                    if not add_row(rows, i + 1, start, stop - start, work.levels[place]):
                        return TROUBLE_MEMORY
        start = stop
    return NO_TROUBLE


cdef bint add_apart(const double* scores, Py_ssize_t n, bint falling, Work* work, Py_ssize_t m, Rows* rows,
                    Trouble* problem) noexcept nogil:
    """Documents in any order, for which the plain scores do; False, and no rows, if a judged one is in a tie.

    `work.rounded` holds the scores as well.
    """
    cdef Py_ssize_t i, j, low, high, middle
    cdef int64_t above, equal
    cdef double score
    cdef float near
    cdef int32_t higher, same
    cdef bint counted = m <= FEW_JUDGED and n < 1 << 30
    if not (room_for_items(work, m if falling or counted else n)
            and (falling or counted or grow(<void**>&work.ordered, &work.ordered_size, n, sizeof(double)))):
        problem[0] = TROUBLE_MEMORY
        return True
    if not falling and not counted:
        memcpy(work.ordered, scores, n * sizeof(double))
        sort_relevant(work.ordered, n, SCORE_DOUBLE, work.spare)
    for i in range(m):
        score = scores[work.found[i]]
        if falling:
            j = work.found[i]
            above = j
            equal = 1 + (j > 0 and scores[j - 1] == score) + (j + 1 < n and scores[j + 1] == score)
        elif counted:
            # Rounding keeps the order, so only what it makes equal has to be looked at again.
            near = <float>score
            higher = same = 0
            for j in range(n):
                higher += work.rounded[j] > near
                same += work.rounded[j] == near
            above = higher
            equal = same
            if same > 1:
                equal = 0
                for j in range(n):
                    above += work.rounded[j] == near and scores[j] > score
                    equal += scores[j] == score
        else:
            low = 0
            high = n
            while low < high:
                middle = (low + high) >> 1
                if work.ordered[middle] > score:
                    high = middle
                else:
                    low = middle + 1
            above = n - low
            equal = 1 + (low >= 2 and work.ordered[low - 2] == score)
        if equal > 1:
            return False
        work.items[i].key = ~<uint64_t>above
        work.items[i].place = work.found[i]
    sort_items(work.items, work.spare, m, NULL)
    for i in range(m):
        above = <int64_t>~work.items[i].key
        if not add_row(rows, above + 1, above, 1, work.levels[work.items[i].place]):
            problem[0] = TROUBLE_MEMORY
    return True


cdef Trouble add_unsorted(const Doc* docs, Py_ssize_t n, Work* work, Py_ssize_t m, Rows* rows) noexcept nogil:
    """Documents in any order: sorted as a whole only if a judged one is in a tie."""
    cdef Py_ssize_t i
    cdef Trouble problem = NO_TROUBLE
    if m == 0:
        return NO_TROUBLE
    if not (room_for_items(work, n) and grow(<void**>&work.scores, &work.scores_size, n, sizeof(double))
            and grow(<void**>&work.rounded, &work.rounded_size, n, sizeof(float))):
        return TROUBLE_MEMORY
    for i in range(n):
        work.scores[i] = docs[i].score
        work.rounded[i] = <float>docs[i].score
    if add_apart(work.scores, n, False, work, m, rows, &problem):
        return problem
    for i in range(n):
        work.items[i].key = score_key(docs[i].score)
        work.items[i].place = i
    sort_items(work.items, work.spare, n, NULL)
    return add_falling(docs, n, work.items, work, rows)


# ----------------------------------------------------------------------------------------------- documents query by query

cdef enum:
    LINES_AT_ONCE = 1 << 17  # between two looks for Ctrl-C

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    PyObject* PyErr_Occurred()
    int PyObject_CheckBuffer(object o)


cdef object hold(object buffer, const char** begin, Py_ssize_t* length):
    """The address of a buffer, and what keeps it in place."""
    cdef const uint8_t[::1] view
    if len(buffer) == 0:
        begin[0] = b""
        length[0] = 0
        return None
    view = buffer
    begin[0] = <const char*>&view[0]
    length[0] = view.shape[0]
    return view


cdef void set_text(Doc* doc, const char* text, int64_t length) noexcept nogil:
    doc.text = text
    doc.length = length
    doc.hash = hash_text(text, length)


cdef int set_object(Doc* doc, list texts, Py_ssize_t place, str source) except -1:
    """An id of a list of ours, which then holds its bytes if it has some that are no UTF-8: those of a file come so."""
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
            raise ValueError(f"{source}: an id is {text!r}: UTF-8 has no lone surrogates") from None
    if isinstance(text, bytes):
        set_text(doc, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    else:
        raise TypeError(f"{source}: an id is {text!r}: ids are strings or whole numbers")
    return 0


def segments(list column):
    """Where in a column of texts another one begins, and which."""
    cdef Py_ssize_t i, n = len(column)
    cdef object last = None
    starts, texts = [], []
    for i in range(n):
        value = column[i]
        if value is not last:
            if not isinstance(value, (str, bytes)):
                raise TypeError(f"the query id in row {i} is {value!r}: ids are strings or whole numbers")
            if i == 0 or value != last:
                starts.append(i)
                texts.append(value)
            last = value
    return starts, texts


cdef class Grouped:
    """The documents of many queries, query by query."""
    cdef readonly str source
    cdef readonly Names names
    cdef readonly bint integers  # the document ids
    cdef readonly list passed    # what strict=False let pass, in words
    cdef object keep             # what the texts lie in
    cdef object columns          # what it was made of, if not of text
    cdef const char* begin       # the text of a file, for line numbers
    cdef Py_ssize_t length
    cdef Docs docs
    cdef int64_t* offsets        # of each query's documents

    def __init__(self):
        raise TypeError("made by read_qrels and read_run")

    def __dealloc__(self):
        PyMem_RawFree(self.docs.items)
        PyMem_RawFree(self.offsets)

    def __len__(self):
        return self.names.docs.size

    @property
    def num_docs(self):
        """How many documents there are, in all queries."""
        return self.docs.size

    @property
    def query_ids(self):
        """The query ids, in the order they came in."""
        return [text.decode("utf-8", "surrogateescape") for text in self.names.all_texts()]

    cdef int take_columns(self, object starts, list names, object docs, const double[::1] values) except -1:
        """Rows from arrays: `starts` says where another query begins, and `names` which."""
        cdef Py_ssize_t i, j, n = values.shape[0], query
        cdef int64_t[::1] start = starts
        cdef const int64_t[::1] numbers
        cdef list texts
        cdef Doc name
        self.columns = (starts, names, docs, values)
        self.keep = (names, docs)
        self.names = Names()
        self.integers = not isinstance(docs, list)
        self.passed = []
        if len(docs) != n:
            raise ValueError(f"{self.source}: {len(docs)} documents and {n} values")
        if n and not room_for_docs(&self.docs, n):
            raise MemoryError
        if self.integers:
            numbers = docs
        else:
            texts = docs
        for j in range(len(names)):
            set_object(&name, names, j, self.source)
            query = self.names.find(&name)
            if query < 0:
                query = self.names.add(&name)
                if query < 0:
                    raise MemoryError
            for i in range(start[j], start[j + 1] if j + 1 < len(names) else n):
                if self.integers:
                    self.docs.items[i].text = NULL
                    self.docs.items[i].length = numbers[i]
                    self.docs.items[i].hash = mixed(<uint64_t>numbers[i])
                else:
                    set_object(&self.docs.items[i], texts, i, self.source)
                self.docs.items[i].score = values[i]
                self.docs.items[i].rank = <double>query
        self.docs.size = n
        return 0

    cdef int group(self, int64_t* query_of) except -1:
        """Brings the documents of each query together; the query of each is in `query_of`, or (NULL) in its rank."""
        cdef Py_ssize_t i, n = self.docs.size, queries = self.names.docs.size
        cdef int64_t query, last = 0
        cdef bint together = True
        cdef Doc* sorted_docs
        self.offsets = <int64_t*>PyMem_RawCalloc(queries + 2, sizeof(int64_t))
        if self.offsets is NULL:
            raise MemoryError
        for i in range(n):
            query = query_of[i] if query_of is not NULL else <int64_t>self.docs.items[i].rank
            together &= query >= last
            last = query
            self.offsets[query + 2] += 1
        for i in range(queries):
            self.offsets[i + 2] += self.offsets[i + 1]
        if not together:
            sorted_docs = <Doc*>PyMem_RawMalloc(max(n, 1) * sizeof(Doc))
            if sorted_docs is NULL:
                raise MemoryError
            for i in range(n):
                query = query_of[i] if query_of is not NULL else <int64_t>self.docs.items[i].rank
                sorted_docs[self.offsets[query + 1]] = self.docs.items[i]
                self.offsets[query + 1] += 1
            PyMem_RawFree(self.docs.items)
            self.docs.items = sorted_docs
            self.docs.capacity = n
        else:
            for i in range(queries):
                self.offsets[i + 1] = self.offsets[i + 2]
        return 0

    cdef int twice(self, Py_ssize_t query, const Doc* doc, const Doc* before) except -1:
        raise_twice(self.source, self.begin, self.length, self.names.text(query), doc, before)


cdef int raise_twice(str source, const char* begin, Py_ssize_t length, bytes query, const Doc* doc,
                     const Doc* before) except -1:
    cdef Parser parser
    cdef char[24] room
    cdef const char* text
    cdef int64_t size
    if begin is not NULL:
        start_parser(&parser, begin, length, True)
        parser.trouble = TROUBLE_TWICE
        # A file may hold a query in pieces: the later line is the one that repeats.
        parser.line = parser.field = doc.text if doc.text > before.text else before.text
        parser.field_length = doc.length
        parser.other = before.text if doc.text > before.text else doc.text
        raise_trouble(&parser, source, "")
    size = id_text(doc, room, &text)
    raise ValueError(f"{source}: document {shown(text, size)!r} is there twice for query "
                     f"{query.decode('utf-8', 'backslashreplace')!r}")


@cython.final
cdef class Qrels(Grouped):
    """Judgments, ready to be looked up. Made by `hitcurve.read_qrels`."""
    cdef uint64_t* slots         # the queries' hash tables, one after the other
    cdef int64_t* first_slot
    cdef int64_t* levels         # of each query's documents, falling

    def __dealloc__(self):
        PyMem_RawFree(self.slots)
        PyMem_RawFree(self.first_slot)
        PyMem_RawFree(self.levels)

    @staticmethod
    def from_buffer(buffer, str source, bint strict=True):
        """Parse the text of a qrels file."""
        cdef Qrels self = Qrels.__new__(Qrels)
        cdef Parser parser
        cdef Doc name
        cdef Py_ssize_t query = -1, _line
        cdef Trouble problem = NO_TROUBLE
        cdef const char* p = NULL
        self.source = source
        self.names = Names()
        self.keep = hold(buffer, &self.begin, &self.length)
        start_parser(&parser, self.begin, self.length, strict)
        name.text = NULL
        while True:
            with nogil:
                for _line in range(LINES_AT_ONCE):
                    p = first_word(&parser)
                    if p is NULL:
                        break
                    if not room_for_docs(&self.docs, self.docs.size + 1):
                        problem = trouble(&parser, TROUBLE_MEMORY, p, p)
                        break
                    problem = parse_qrels_line(&parser, p, &name, &self.docs.items[self.docs.size])
                    if problem != NO_TROUBLE:
                        break
                    if (query < 0 or name.length != self.names.docs.items[query].length
                            or memcmp(name.text, self.names.docs.items[query].text, name.length) != 0):
                        name.hash = hash_text(name.text, name.length)
                        query = self.names.find(&name)
                        if query < 0:
                            query = self.names.add(&name)
                            if query < 0:
                                problem = trouble(&parser, TROUBLE_MEMORY, p, p)
                                break
                    self.docs.items[self.docs.size].rank = <double>query
                    self.docs.size += 1
            if problem != NO_TROUBLE:
                raise_trouble(&parser, source, "qrels")
            if p is NULL:
                break
            PyErr_CheckSignals()
        self.passed = passed_notes(&parser, source)
        if self.docs.size == 0:
            raise ValueError(f"{source}: no judgments")
        self.finish()
        return self

    @staticmethod
    def from_columns(starts, list names, docs, const double[::1] levels, str source):
        """From arrays; see `Grouped.take_columns`."""
        cdef Qrels self = Qrels.__new__(Qrels)
        self.source = source
        self.take_columns(starts, names, docs, levels)
        if self.docs.size == 0:
            raise ValueError(f"{source}: no judgments")
        self.finish()
        return self

    cdef int finish(self) except -1:
        cdef Py_ssize_t q, i, n, queries, bad = -1, before = 0
        cdef int64_t slot = 0
        cdef uint64_t mask
        self.group(NULL)
        queries = self.names.docs.size
        self.first_slot = <int64_t*>PyMem_RawMalloc((queries + 1) * sizeof(int64_t))
        self.levels = <int64_t*>PyMem_RawMalloc(self.docs.size * sizeof(int64_t))
        if self.first_slot is NULL or self.levels is NULL:
            raise MemoryError
        for q in range(queries):
            self.first_slot[q] = slot
            slot += <int64_t>table_mask(self.offsets[q + 1] - self.offsets[q]) + 1
        self.first_slot[queries] = slot
        self.slots = <uint64_t*>PyMem_RawMalloc(slot * sizeof(uint64_t))
        if self.slots is NULL:
            raise MemoryError
        with nogil:
            for q in range(queries):
                n = self.offsets[q + 1] - self.offsets[q]
                mask = <uint64_t>(self.first_slot[q + 1] - self.first_slot[q]) - 1
                bad = fill_table(self.docs.items + self.offsets[q], n, self.slots + self.first_slot[q], mask, &before)
                if bad >= 0:
                    break
                for i in range(self.offsets[q], self.offsets[q + 1]):
                    self.levels[i] = <int64_t>self.docs.items[i].score
                sort_falling(self.levels + self.offsets[q], n)
        if bad >= 0:
            self.twice(q, &self.docs.items[self.offsets[q] + bad], &self.docs.items[self.offsets[q] + before])
        return 0

    def as_text(self):
        """The same with the decimal text of its integer ids."""
        if not self.integers:
            return self
        starts, names, docs, levels = self.columns
        return Qrels.from_columns(starts, names, list(map(str, docs.tolist())), levels, self.source)

    @property
    def max_level(self):
        """The highest judgment."""
        cdef Py_ssize_t i
        cdef int64_t most = self.levels[0]
        for i in range(self.docs.size):
            most = max(most, self.levels[i])
        return most

    def __repr__(self):
        return f"Qrels({self.source!r}: {len(self)} queries, {self.num_docs} judgments)"


cdef void sort_falling(int64_t* values, Py_ssize_t n) noexcept nogil:
    """Judgments: few distinct values, so a pass for each."""
    cdef Py_ssize_t i, j, done = 0
    cdef int64_t most, value
    if n <= 32:
        for i in range(1, n):
            value = values[i]
            j = i
            while j > 0 and values[j - 1] < value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
        return
    while done < n:
        most = values[done]
        for i in range(done + 1, n):
            most = max(most, values[i])
        for i in range(done, n):
            if values[i] == most:
                values[i] = values[done]
                values[done] = most
                done += 1


@cython.final
cdef class Run(Grouped):
    """The documents that a system retrieved. Made by `hitcurve.read_run`."""
    cdef readonly str tag
    cdef readonly bint ranks     # the rank column was read

    @staticmethod
    def from_buffer(buffer, str source, bint strict=True):
        """Parse the text of a run file; the lines of a query may be anywhere."""
        cdef Run self = Run.__new__(Run)
        cdef Parser parser
        cdef Docs docs
        cdef Doc name
        cdef bint more = True
        cdef Trouble problem = NO_TROUBLE
        cdef Py_ssize_t query = 0, i, lines, capacity = 0
        cdef int64_t* query_of = NULL
        cdef Work work
        memset(&docs, 0, sizeof(Docs))
        memset(&work, 0, sizeof(Work))
        self.source = source
        self.names = Names()
        self.ranks = True
        self.keep = hold(buffer, &self.begin, &self.length)
        start_parser(&parser, self.begin, self.length, strict)
        parser.ranks = True
        try:
            while more:
                with nogil:
                    lines = 0
                    while more and lines < LINES_AT_ONCE:
                        problem = parse_query(&parser, &docs, &more)
                        if problem != NO_TROUBLE or not more:
                            break
                        set_text(&name, parser.query, parser.query_length)
                        query = self.names.find(&name)
                        if query < 0:
                            query = self.names.add(&name)
                        if (query < 0 or not room_for_docs(&self.docs, self.docs.size + docs.size)
                                or not grow(<void**>&query_of, &capacity, self.docs.size + docs.size, sizeof(int64_t))):
                            problem = trouble(&parser, TROUBLE_MEMORY, NULL, NULL)
                            break
                        memcpy(self.docs.items + self.docs.size, docs.items, docs.size * sizeof(Doc))
                        for i in range(docs.size):
                            query_of[self.docs.size + i] = query
                        self.docs.size += docs.size
                        lines += docs.size
                if problem != NO_TROUBLE:
                    raise_trouble(&parser, source, "run")
                PyErr_CheckSignals()
            self.passed = passed_notes(&parser, source)
            self.tag = tag_of(&parser, "")
            self.group(query_of)
            self.check(&work)
        finally:
            PyMem_RawFree(docs.items)
            PyMem_RawFree(query_of)
            free_work(&work)
        return self

    @staticmethod
    def from_columns(starts, list names, docs, const double[::1] scores, str source, ranks=None):
        """From arrays; see `Grouped.take_columns`. A query without documents is none of the run, as in a file."""
        cdef Run self = Run.__new__(Run)
        cdef Work work
        full = np.diff(starts, append=scores.shape[0]) > 0
        names = [name for name, some in zip(names, full, strict=True) if some]
        starts = starts[full]
        cdef Py_ssize_t i
        cdef const double[::1] rank
        self.source = source
        self.tag = source
        self.take_columns(starts, names, docs, scores)
        for i in range(self.docs.size):
            if isnan(scores[i]):
                raise ValueError(f"{source}: the score in row {i} is NaN")
        cdef int64_t[::1] queries = _queries(&self.docs)
        self.columns += (ranks,)
        if ranks is not None:
            rank = ranks
            self.ranks = True
            for i in range(self.docs.size):
                self.docs.items[i].rank = rank[i]
        self.group(&queries[0])
        memset(&work, 0, sizeof(Work))
        try:
            self.check(&work)
        finally:
            free_work(&work)
        return self

    cdef int check(self, Work* work) except -1:
        cdef Py_ssize_t q, bad = -1, before = 0
        cdef Trouble problem = NO_TROUBLE
        with nogil:
            for q in range(self.names.docs.size):
                problem = check_twice(self.docs.items + self.offsets[q], self.offsets[q + 1] - self.offsets[q], work,
                                      &bad, &before)
                if problem != NO_TROUBLE:
                    break
        if problem == TROUBLE_MEMORY:
            raise MemoryError
        if problem == TROUBLE_TWICE:
            self.twice(q, &self.docs.items[self.offsets[q] + bad], &self.docs.items[self.offsets[q] + before])
        return 0

    def as_text(self):
        """The same with the decimal text of its integer ids."""
        if not self.integers:
            return self
        starts, names, docs, scores, ranks = self.columns
        return Run.from_columns(starts, names, list(map(str, docs.tolist())), scores, self.source, ranks)

    def __repr__(self):
        return f"Run({self.source!r}: {len(self)} queries, {self.num_docs} documents)"


cdef object _queries(const Docs* docs):
    cdef Py_ssize_t i
    cdef cnp.ndarray found = cnp.PyArray_EMPTY(1, [docs.size], cnp.NPY_INT64, 0)
    cdef int64_t* place = <int64_t*>cnp.PyArray_DATA(found)
    for i in range(docs.size):
        place[i] = <int64_t>docs.items[i].rank
    return found


# -------------------------------------------------------------------------------------------- judged documents of a run

ORDERS = {"score": ORDER_SCORE, "order": ORDER_FILE, "rank": ORDER_RANK}


@cython.final
cdef class Judged:
    """The judged documents of a run, query by query, with their ranks: all that the measures need."""
    cdef readonly Qrels qrels
    cdef readonly str source
    cdef readonly str tag
    cdef readonly list others    # queries of the run without judgments
    cdef readonly list passed
    cdef Rows rows
    cdef int64_t* first          # per query of the qrels: its rows
    cdef int64_t* last
    cdef int64_t* retrieved      # -1: not in the run

    def __init__(self):
        raise TypeError("made by judge and judge_buffer")

    def __dealloc__(self):
        PyMem_RawFree(self.rows.items)
        PyMem_RawFree(self.first)
        PyMem_RawFree(self.last)
        PyMem_RawFree(self.retrieved)

    cdef int start(self, Qrels qrels, str source) except -1:
        cdef Py_ssize_t q, n = qrels.names.docs.size
        self.qrels = qrels
        self.source = source
        self.others = []
        self.passed = []
        self.tag = ""
        self.first = <int64_t*>PyMem_RawCalloc(n, sizeof(int64_t))
        self.last = <int64_t*>PyMem_RawCalloc(n, sizeof(int64_t))
        self.retrieved = <int64_t*>PyMem_RawMalloc(n * sizeof(int64_t))
        if self.first is NULL or self.last is NULL or self.retrieved is NULL:
            raise MemoryError
        for q in range(n):
            self.retrieved[q] = -1
        return 0

    cdef Trouble add_query(self, Py_ssize_t query, const Doc* docs, Py_ssize_t n, Order order, Work* work,
                           Py_ssize_t* bad, Py_ssize_t* other) noexcept nogil:
        cdef Trouble problem
        cdef int64_t slot = self.qrels.first_slot[query]
        self.retrieved[query] = n
        self.first[query] = self.rows.size
        problem = rank_judged(docs, n, self.qrels.docs.items + self.qrels.offsets[query], self.qrels.slots + slot,
                              <uint64_t>(self.qrels.first_slot[query + 1] - slot) - 1, order, work, &self.rows, bad,
                              other)
        self.last[query] = self.rows.size
        return problem

    cdef bint add_integers(self, Py_ssize_t query, const int64_t* ids, const double* scores, Py_ssize_t n, Order order,
                           Work* work) noexcept nogil:
        """Does for integer ids in arrays what `add_query` does, or nothing: False, and that one has to.

        That is so where something is wrong, a judged document is in a tie, or ids collide too often. One hash table
        finds both documents that are judged and those that are there twice: it holds the places of the judgments,
        then of the documents, and a judgment gives way to the first document that meets it.
        """
        cdef Py_ssize_t i, m = 0, judged = 0, steps = 0, limit
        cdef const Doc* docs = NULL
        cdef uint64_t mask, slot
        cdef int64_t place, used = work.used
        cdef int shift = 64
        cdef int32_t nans = 0
        cdef Trouble problem = NO_TROUBLE
        if query >= 0:
            docs = self.qrels.docs.items + self.qrels.offsets[query]
            judged = self.qrels.offsets[query + 1] - self.qrels.offsets[query]
        limit = 8 * (n + judged)
        if n + judged >= 1 << 28 or judged > 64 * n:
            return False
        mask = table_mask(4 * (n + judged))  # mostly empty, so that the first look nearly always tells
        while mask >> (64 - shift) != 0:
            shift -= 1
        if not (grow(<void**>&work.rounded, &work.rounded_size, n, sizeof(float))
                and grow(<void**>&work.found, &work.found_size, n, sizeof(int64_t))
                and grow(<void**>&work.levels, &work.levels_size, n, sizeof(int64_t))):
            return False
        for i in range(n):
            work.rounded[i] = <float>scores[i]
        for i in range(n):
            nans += work.rounded[i] != work.rounded[i]
        if nans != 0:
            return False
        if <Py_ssize_t>mask >= work.table_size or used + judged + n > 0x7FFFFFFF:
            if not grow(<void**>&work.table, &work.table_size, <Py_ssize_t>mask + 1, sizeof(int32_t)):
                return False
            memset(work.table, 0, work.table_size * sizeof(int32_t))
            used = 0
        work.used = used + judged + n
        for i in range(judged):
            slot = spread(docs[i].length, shift)
            while work.table[slot] > used:
                slot = (slot + 1) & mask
                steps += 1
                if steps > limit:
                    return False
            work.table[slot] = <int32_t>(used + 1 + i)
        for i in range(n):
            slot = spread(ids[i], shift)
            while True:
                place = work.table[slot] - used - 1
                if place < 0:
                    break
                if place >= judged:
                    if ids[place - judged] == ids[i]:
                        return False
                elif docs[place].length == ids[i]:
                    work.found[m] = i
                    work.levels[i] = <int64_t>docs[place].score
                    m += 1
                    break
                slot = (slot + 1) & mask
                steps += 1
                if steps > limit:
                    return False
            work.table[slot] = <int32_t>(used + 1 + judged + i)
        if query < 0:
            return True
        self.first[query] = self.rows.size
        if order == ORDER_FILE:
            for i in range(m):
                if not add_row(&self.rows, work.found[i] + 1, work.found[i], 1, work.levels[work.found[i]]):
                    problem = TROUBLE_MEMORY
        else:
            i = 1
            while i < n and scores[i] <= scores[i - 1]:
                i += 1
            if not add_apart(scores, n, i >= n, work, m, &self.rows, &problem):
                return False
        if problem != NO_TROUBLE:
            self.rows.size = self.first[query]
            return False
        self.retrieved[query] = n
        self.last[query] = self.rows.size
        return True

    def num_retrieved(self):
        """Documents of each query of the qrels; -1 where the run has none."""
        cdef Py_ssize_t n = self.qrels.names.docs.size
        cdef cnp.ndarray found = cnp.PyArray_EMPTY(1, [n], cnp.NPY_INT64, 0)
        memcpy(cnp.PyArray_DATA(found), self.retrieved, n * sizeof(int64_t))
        return found

    @property
    def num_judged(self):
        """Judged documents of the run."""
        return self.rows.size

    def table(self, Py_ssize_t query):
        """The rows (rank, above, tied, level) of a query."""
        cdef Py_ssize_t i
        return [(self.rows.items[i].rank, self.rows.items[i].above, self.rows.items[i].tied, self.rows.items[i].level)
                for i in range(self.first[query], self.last[query])]

    @property
    def ties(self):
        """Whether a judged document shares its score with another document."""
        cdef Py_ssize_t i
        for i in range(self.rows.size):
            if self.rows.items[i].tied > 1:
                return True
        return False


def judge(Qrels qrels, Run run, str order="score", bint single=False):
    """The judged documents of a run in memory."""
    cdef Judged judged = Judged.__new__(Judged)
    cdef Work work
    cdef Docs copied
    cdef const Doc* docs
    cdef Py_ssize_t r, i, n, query, stop, bad = 0, other = 0, queries = run.names.docs.size
    cdef Trouble problem = NO_TROUBLE
    cdef Order rule = ORDERS[order]
    if qrels.integers != run.integers:
        qrels = qrels.as_text()
        run = run.as_text()
        queries = run.names.docs.size
    if rule == ORDER_RANK and not run.ranks:
        raise ValueError(f"{run.source}: ties='rank' needs a rank column")
    judged.start(qrels, run.source)
    judged.tag = run.tag
    judged.passed = run.passed
    memset(&work, 0, sizeof(Work))
    memset(&copied, 0, sizeof(Docs))
    others = []
    r = 0
    try:
        while r < queries:
            stop = r
            i = 0
            while stop < queries and i < LINES_AT_ONCE:
                i += run.offsets[stop + 1] - run.offsets[stop]
                stop += 1
            with nogil:
                while r < stop:
                    query = qrels.names.find(&run.names.docs.items[r])
                    n = run.offsets[r + 1] - run.offsets[r]
                    docs = run.docs.items + run.offsets[r]
                    if query < 0:
                        with gil:
                            others.append(run.names.text(r))
                        r += 1
                        continue
                    if single:
                        if not room_for_docs(&copied, n):
                            problem = TROUBLE_MEMORY
                            break
                        memcpy(copied.items, docs, n * sizeof(Doc))
                        for i in range(n):
                            copied.items[i].score = <double><float>docs[i].score
                        docs = copied.items
                    problem = judged.add_query(query, docs, n, rule, &work, &bad, &other)
                    if problem != NO_TROUBLE:
                        break
                    r += 1
            if problem == TROUBLE_MEMORY:
                raise MemoryError
            if problem != NO_TROUBLE:
                raise_rank(run, problem, r, bad, other)
            PyErr_CheckSignals()
    finally:
        free_work(&work)
        PyMem_RawFree(copied.items)
    judged.others = others
    return judged


cdef int raise_rank(Run run, Trouble problem, Py_ssize_t query, Py_ssize_t bad, Py_ssize_t other) except -1:
    cdef Parser parser
    cdef const Doc* docs = run.docs.items + run.offsets[query]
    cdef char[24] room
    cdef const char* text
    cdef int64_t length
    if run.begin is not NULL:
        start_parser(&parser, run.begin, run.length, True)
        parser.trouble = problem
        parser.line = docs[bad].text
        parser.field = docs[bad].text
        raise_trouble(&parser, run.source, "run")
    length = id_text(&docs[bad], room, &text)
    what = "has no rank" if problem == TROUBLE_RANK else "has the rank of another one"
    raise ValueError(f"{run.source}: document {shown(text, length)!r} {what}, and ties='rank' needs one for each")


def judge_buffer(Qrels qrels, text, str source, str order="score", bint single=False, bint strict=True,
                 progress=None):
    """The judged documents of a run in the text of a file, query by query: none but the current one is kept.

    `text` is all of it, or has a method `more(done)` that gives it piece by piece: see `hitcurve.retrieval.evaluation`. Returns None
    where the lines of a query are not together: then read it as a whole. `progress(offset)` is called now and then.
    """
    cdef Judged judged = Judged.__new__(Judged)
    cdef Names names = Names()
    cdef Parser parser, before
    cdef Work work
    cdef Docs docs
    cdef Doc name
    cdef const char* begin
    cdef Py_ssize_t length, lines, query, bad = 0, other = 0, offset = 0
    cdef bint more = True, apart = False, last = True, cut = False
    cdef int kind
    cdef Trouble problem = NO_TROUBLE
    cdef Order rule = ORDERS[order]
    if qrels.integers:
        qrels = qrels.as_text()
    pieces = getattr(text, "more", None)
    if pieces is not None:
        text, last = pieces(0)
    _keep = hold(text, &begin, &length)
    judged.start(qrels, source)
    start_parser(&parser, begin, length, strict)
    parser.single = single
    parser.ranks = rule == ORDER_RANK
    memset(&work, 0, sizeof(Work))
    memset(&docs, 0, sizeof(Docs))
    others = []
    try:
        while more and not apart:
            with nogil:
                lines = 0
                while lines < LINES_AT_ONCE:
                    before = parser
                    problem = parse_query(&parser, &docs, &more)
                    cut = problem == NO_TROUBLE and parser.p >= parser.end and not last
                    if problem != NO_TROUBLE or cut or not more:
                        break
                    lines += docs.size
                    set_text(&name, parser.query, parser.query_length)
                    if names.find(&name) >= 0:
                        apart = True
                        break
                    query = qrels.names.find(&name)
                    if query < 0:
                        with gil:
                            own = name_bytes(&name)
                            others.append(own)
                            name.text = PyBytes_AS_STRING(own)
                    else:
                        name.text = qrels.names.docs.items[query].text
                    if names.add(&name) < 0:  # by a text that stays
                        problem = trouble(&parser, TROUBLE_MEMORY, NULL, NULL)
                        break
                    if query < 0:
                        problem = check_twice(docs.items, docs.size, &work, &bad, &other)
                    else:
                        problem = judged.add_query(query, docs.items, docs.size, rule, &work, &bad, &other)
                    if problem != NO_TROUBLE:
                        if problem != TROUBLE_MEMORY:
                            parser.line = docs.items[bad].text
                            parser.other = docs.items[other].text
                            trouble(&parser, problem, docs.items[bad].text,
                                    docs.items[bad].text + docs.items[bad].length)
                        else:
                            trouble(&parser, TROUBLE_MEMORY, NULL, NULL)
                        break
            if problem != NO_TROUBLE:
                raise_trouble(&parser, source, "run")
            PyErr_CheckSignals()
            if progress is not None:
                progress(offset + parser.p - begin)
            if cut:  # what the piece cuts is read again, with more of it
                parser = before
                more = True
                judged.tag = tag_of(&parser, judged.tag)
                for kind in range(<int>PASSED_KINDS):
                    note_line(&parser, kind)
                parser.lines = line_number(&parser, parser.p) - 1
                length = parser.p - begin
                offset += length
                text, last = pieces(length)
                _keep = hold(text, &begin, &length)
                parse_from(&parser, begin, length, offset == 0)
    finally:
        free_work(&work)
        PyMem_RawFree(docs.items)
    if apart:
        return None
    judged.tag = tag_of(&parser, judged.tag)
    judged.passed = passed_notes(&parser, source)
    judged.others = others
    return judged


def judge_integers(Qrels qrels, const int64_t[::1] starts, list names, const int64_t[::1] ids,
                   const double[::1] scores, str source, str order="score", bint single=False):
    """The judged documents of a run in arrays; each query once. `starts` has one more entry, the end."""
    cdef Judged judged = Judged.__new__(Judged)
    cdef Work work
    cdef Docs docs
    cdef Doc name
    cdef Py_ssize_t s, i, n, query, bad = 0, other = 0
    cdef int64_t begin
    cdef double score
    cdef Trouble problem = NO_TROUBLE
    cdef Order rule = ORDERS[order]
    judged.start(qrels, source)
    judged.tag = source
    memset(&work, 0, sizeof(Work))
    memset(&docs, 0, sizeof(Docs))
    try:
        for s in range(len(names)):
            set_object(&name, names, s, source)
            query = qrels.names.find(&name)
            begin = starts[s]
            n = starts[s + 1] - begin
            with nogil:
                if not single and judged.add_integers(query, &ids[begin], &scores[begin], n, rule, &work):
                    pass
                elif not room_for_docs(&docs, n):
                    problem = TROUBLE_MEMORY
                else:
                    for i in range(n):
                        score = scores[begin + i]
                        if score != score:
                            bad = begin + i
                            problem = TROUBLE_NAN
                            break
                        docs.items[i].text = NULL
                        docs.items[i].length = ids[begin + i]
                        docs.items[i].hash = mixed(<uint64_t>ids[begin + i])
                        docs.items[i].score = <double><float>score if single else score
                    if problem == NO_TROUBLE and query >= 0:
                        problem = judged.add_query(query, docs.items, n, rule, &work, &bad, &other)
                    elif problem == NO_TROUBLE:
                        problem = check_twice(docs.items, n, &work, &bad, &other)
            if problem == TROUBLE_MEMORY:
                raise MemoryError
            if problem == TROUBLE_NAN:
                raise ValueError(f"{source}: the score in row {bad} is NaN")
            if problem == TROUBLE_TWICE:
                raise_twice(source, NULL, 0, name_bytes(&name), &docs.items[bad], &docs.items[other])
            if query < 0:
                judged.others.append(name_bytes(&name))
            if s % 64 == 0:
                PyErr_CheckSignals()
    finally:
        free_work(&work)
        PyMem_RawFree(docs.items)
    return judged


# ------------------------------------------------------------------------------------------------------------- measures

KERNELS = {
    "AP": _retrieval.KERNEL_AP,
    "P": _retrieval.KERNEL_P,
    "R": _retrieval.KERNEL_R,
    "Hits": _retrieval.KERNEL_HITS,
    "F": _retrieval.KERNEL_F,
    "RR": _retrieval.KERNEL_RR,
    "Rprec": _retrieval.KERNEL_RPREC,
    "Success": _retrieval.KERNEL_SUCCESS,
    "NumQ": _retrieval.KERNEL_NUM_Q,
    "NumRet": _retrieval.KERNEL_NUM_RET,
    "NumRel": _retrieval.KERNEL_NUM_REL,
    "NumRelRet": _retrieval.KERNEL_NUM_REL_RET,
    "NumNonRelRet": _retrieval.KERNEL_NUM_NONREL_JUDGED_RET,
    "SetP": _retrieval.KERNEL_SET_P,
    "SetRelP": _retrieval.KERNEL_SET_REL_P,
    "SetR": _retrieval.KERNEL_SET_R,
    "SetF": _retrieval.KERNEL_SET_F,
    "SetAP": _retrieval.KERNEL_SET_AP,
    "IPrec": _retrieval.KERNEL_IPREC,
    "IPrecAvg": _retrieval.KERNEL_IPREC_AVG,
    "Bpref": _retrieval.KERNEL_BPREF,
    "infAP": _retrieval.KERNEL_INF_AP,
    "RBP": _retrieval.KERNEL_RBP,
    "RBPResid": _retrieval.KERNEL_RBP_RESID,
    "nDCG": _retrieval.KERNEL_NDCG,
    "ERR": _retrieval.KERNEL_ERR,
    "Judged": _retrieval.KERNEL_JUDGED,
    "Unjudged": _retrieval.KERNEL_UNJUDGED,
    "RelP": _retrieval.KERNEL_REL_P,
    "RprecMult": _retrieval.KERNEL_RPREC_MULT,
    "Utility": _retrieval.KERNEL_UTILITY,
    "binG": _retrieval.KERNEL_BIN_G,
    "G": _retrieval.KERNEL_G,
    "nDCGrel": _retrieval.KERNEL_NDCG_REL,
    "RnDCG": _retrieval.KERNEL_R_NDCG,
}

NORMS = {"relevant": _retrieval.NORM_RELEVANT, "min": _retrieval.NORM_MIN, "hits": _retrieval.NORM_HITS}

LEVELS = {
    "exact": _retrieval.LEVELS_EXACT,
    "trec_eval9": _retrieval.LEVELS_TREC_EVAL_9,
    "trec_eval10": _retrieval.LEVELS_TREC_EVAL_10,
}

INTERPOLATIONS = {
    None: _read.INTERPOLATION_NONE,
    "11-point": _read.INTERPOLATION_11_POINT,
    "101-point": _read.INTERPOLATION_101_POINT,
    "all-point": _read.INTERPOLATION_ALL_POINT,
    "trapezoid": _read.INTERPOLATION_TRAPEZOID,
    "continuous": _read.INTERPOLATION_CONTINUOUS,
}

READINGS = {
    "ranks": _retrieval.READING_RANKS,
    "best": _retrieval.READING_BEST,
    "worst": _retrieval.READING_WORST,
    "expected": _retrieval.READING_EXPECTED,
}


cdef object set_asked(Asked* asked, dict options):
    """One measure from its options; returns the arrays that it points into."""
    cdef double[::1] values
    cdef int64_t[::1] numerators, denominators, gain_levels
    cdef double[::1] gains
    memset(asked, 0, sizeof(Asked))
    asked.kernel = KERNELS[options["kernel"]]
    asked.k = options.get("k", -1)
    asked.rel = options.get("rel", 1)
    asked.x = options.get("x", 0.0)
    asked.norm = NORMS[options.get("normalize", "relevant")]
    asked.levels = LEVELS[options.get("levels", "exact")]
    asked.interpolation = INTERPOLATIONS[options.get("interpolation")]
    asked.exponential = options.get("exponential", False)
    asked.scaled = options.get("scaled", False)
    asked.top = options.get("top", 0.0)
    kept = []
    if "values" in options:
        values = np.array(options["values"], dtype=np.float64)
        asked.num_values = values.shape[0]
        asked.values = &values[0]
        kept.append(values)
    if "fractions" in options:
        numerators = np.array([one.numerator for one in options["fractions"]], dtype=np.int64)
        denominators = np.array([one.denominator for one in options["fractions"]], dtype=np.int64)
        asked.numerators = &numerators[0]
        asked.denominators = &denominators[0]
        kept += [numerators, denominators]
    if options.get("gains"):
        gain_levels = np.array(list(options["gains"]), dtype=np.int64)
        gains = np.array(list(options["gains"].values()), dtype=np.float64)
        asked.num_gains = gains.shape[0]
        asked.gain_levels = &gain_levels[0]
        asked.gains = &gains[0]
        kept += [gain_levels, gains]
    return kept


cdef int raised() except -1:
    """Raises what a signal has raised within a kernel."""
    return -1 if PyErr_Occurred() is not NULL else 0


def measure(Judged judged, list options, str reading="ranks", bint judged_only=False, int64_t depth=-1):
    """Values of measures for each query of the qrels, in the order of the qrels: an array (measures, queries).

    A query that is not in the run counts as one of which nothing was retrieved. NaN: the value cannot be computed.
    """
    cdef Py_ssize_t m = len(options), q, i, stop, rows, n = judged.qrels.names.docs.size
    cdef int64_t retrieved
    cdef Reading how = READINGS[reading]
    cdef Asked* asked = <Asked*>PyMem_RawCalloc(max(m, 1), sizeof(Asked))
    cdef Room room
    cdef Query query
    cdef Qrels qrels = judged.qrels
    cdef bint good = True
    cdef cnp.ndarray found = cnp.PyArray_EMPTY(2, [m, n], cnp.NPY_DOUBLE, 0)
    cdef double* values = <double*>cnp.PyArray_DATA(found)
    if asked is NULL:
        raise MemoryError
    memset(&room, 0, sizeof(Room))
    kept = []
    try:
        for i in range(m):
            kept.append(set_asked(&asked[i], options[i]))
        q = 0
        while q < n:
            stop = min(q + 4096, n)
            with nogil:
                while q < stop and good:
                    rows = judged.last[q] - judged.first[q]
                    retrieved = max(judged.retrieved[q], 0)
                    if depth >= 0 and retrieved > depth:
                        retrieved = depth
                        while rows > 0 and judged.rows.items[judged.first[q] + rows - 1].rank > depth:
                            rows -= 1
                    query.levels = qrels.levels + qrels.offsets[q]
                    query.num_judged = qrels.offsets[q + 1] - qrels.offsets[q]
                    for i in range(m):
                        # Measures that order tied documents alike share an arrangement.
                        if i == 0 or asked[i].num_gains > 0 or asked[i - 1].num_gains > 0:
                            good = arrange(judged.rows.items + judged.first[q], rows, retrieved, how, judged_only,
                                           &asked[i], &room, &query)
                        good = good and measure_query(&query, &asked[i], how, &room, &values[i * n + q])
                        if not good:
                            break
                    q += 1
            if not good:
                raised()
                raise MemoryError
            PyErr_CheckSignals()
    finally:
        PyMem_RawFree(asked)
        free_room(&room)
    return found
