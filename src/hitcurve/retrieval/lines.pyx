"""Lines of TREC files: queries, documents and numbers.

Why hitcurve has its own parser: TREC separates columns by any mix of blanks and tabs. The readers of pyarrow and polars
do not accept that, and do not name a wrong line. Importing pyarrow takes longer than reading a million lines here.
"""
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport INFINITY, NAN, fabs, isinf, isnan
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memset

import re

from hitcurve._kernel.memory cimport grow

from hitcurve._base.files import LONGEST as _LONGEST

cdef extern from "_decimal.h" nogil:
    uint64_t read_u64 "hitcurve_read_u64"(const char* p)
    uint32_t read_u32 "hitcurve_read_u32"(const char* p)
    int before_blank "hitcurve_before_blank"(const char* p)
    int scaled_double "hitcurve_scaled_double"(uint64_t digits, int places, double* value)

cdef Py_ssize_t LONGEST = _LONGEST
cdef double LARGE = 2.0**53  # a double from here on may stand for several whole numbers

# What strict=False accepts, as trec_eval does.
cdef enum Passed:
    PASSED_COLUMNS         # more than six columns in a run
    PASSED_SCORE           # a score that is no number: the number at its beginning counts, or 0
    PASSED_LEVEL           # a relevance that is no whole number: the whole number at its beginning counts, or 0
    PASSED_ROUNDED         # a whole score that no double holds: the nearest double counts

cdef tuple PASSED = (
    "line%s with more than six columns: columns after the sixth are ignored",
    "score%s other than a number: the number at the beginning counts, or 0 if there is none",
    "relevance%s other than a whole number: the whole number at the beginning counts, or 0 if there is none",
    "whole score%s above 2**53 that no double holds: rounded to the nearest double",
)

cdef dict TROUBLES = {
    TROUBLE_COLUMNS: "the line has {columns}, but {kind}",
    TROUBLE_SCORE: "the score {field!r} is not a number",
    TROUBLE_RANGE: "the score {field!r} is beyond the range of a double",
    TROUBLE_NAN: "the {value} is NaN",
    TROUBLE_ROUNDED: "the score {field!r} is a whole number that no double holds",
    TROUBLE_PART_LEVEL: "the relevance {field!r} is not a whole number",
    TROUBLE_LEVEL: "the relevance {field!r} is not a number from -1000000000 to 1000000000",
    TROUBLE_TWICE: "document {field!r} occurs twice in its query, first in line {other}",
    TROUBLE_RANK: "the rank is not a number, but rank_by='rank' needs ranks",
    TROUBLE_LONG: f"the line is longer than {LONGEST >> 20} MiB",
    TROUBLE_SAME_RANK: "another document of this query has the same rank",
}


# -------------------------------------------------------------------------------------------------------------- hashing

# Differs from process to process, so that no file can be crafted to make hashes collide.
cdef uint64_t SEED = <uint64_t><int64_t>hash("hitcurve")


cdef inline uint64_t hash_text(Text text, int64_t length) noexcept nogil:
    cdef uint64_t h = SEED ^ (<uint64_t>length * <uint64_t>0x9E3779B97F4A7C15), word = 0
    cdef int64_t i = 0
    if length >= 8:
        while i + 8 <= length:
            h = (h ^ read_u64(text + i)) * <uint64_t>0xD6E8FEB86659FD93
            h ^= h >> 32
            i += 8
        if i < length:
            word = read_u64(text + length - 8)
    elif length >= 4:
        word = <uint64_t>read_u32(text) << 32 | read_u32(text + length - 4)
    else:
        for i in range(length):
            word = word << 8 | <uint8_t>text[i]
    return mixed(h ^ word)


cdef void set_text(Doc* doc, Text text, int64_t length) noexcept nogil:
    doc.text = text
    doc.length = length
    doc.hash = hash_text(text, length)


# -------------------------------------------------------------------------------------------------------------- numbers

cdef inline bint is_digit(char c) noexcept nogil:
    return c >= 48 and c <= 57


cdef inline bint is_word(Text p, Text stop, Text word, Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t i
    if stop - p < length:
        return False
    for i in range(length):
        if (p[i] | 32) != word[i]:
            return False
    return True


cdef inline Text add_digits(Text p, Text stop, uint64_t* digits, int* count, bint* slow) noexcept nogil:
    cdef Text start = p
    if stop - p <= 19 - count[0]:  # all digits fit
        while p < stop and is_digit(p[0]):
            digits[0] = digits[0] * 10 + <uint64_t>(p[0] - 48)
            p += 1
        if digits[0] != 0:
            count[0] += <int>(p - start)
        return p
    while p < stop and is_digit(p[0]):
        if count[0] < 19:
            digits[0] = digits[0] * 10 + <uint64_t>(p[0] - 48)
            count[0] += digits[0] != 0
        else:
            slow[0] = True
        p += 1
    return p


cdef double parse_number(Text p, Text stop, Text* after, bint* slow) noexcept nogil:
    """The number that a text begins with. `after` is the end of the number, or the beginning of the text without one.

    If `slow` is set, the number is long or extreme. It is then well formed up to `after`, but its value is not computed.
    """
    cdef Text start = p, first, point
    cdef uint64_t digits = 0
    cdef int count = 0, exponent = 0
    cdef int64_t places = 0
    cdef bint negative = False, turned = False, some
    cdef double value = 0.0
    slow[0] = False
    after[0] = start
    if p < stop and (p[0] == c'-' or p[0] == c'+'):
        negative = p[0] == c'-'
        p += 1
    first = p
    p = add_digits(p, stop, &digits, &count, slow)
    some = p != first
    if p < stop and p[0] == c'.':
        point = p + 1
        p = add_digits(point, stop, &digits, &count, slow)
        places = p - point
        some |= places != 0
    if not some:
        if is_word(first, stop, b"inf", 3):
            after[0] = first + (8 if is_word(first, stop, b"infinity", 8) else 3)
            return -INFINITY if negative else INFINITY
        if is_word(first, stop, b"nan", 3):
            after[0] = first + 3
            return NAN
        return 0.0
    after[0] = p
    if p < stop and (p[0] | 32) == c'e':
        p += 1
        if p < stop and (p[0] == c'-' or p[0] == c'+'):
            turned = p[0] == c'-'
            p += 1
        if p < stop and is_digit(p[0]):
            while p < stop and is_digit(p[0]):
                if exponent < 100000:
                    exponent = exponent * 10 + (p[0] - 48)
                p += 1
            places += exponent if turned else -exponent
            after[0] = p
    if slow[0] or places > 1000 or places < -1000 or not scaled_double(digits, <int>places, &value):
        slow[0] = True
        return 0.0
    return -value if negative else value


HEXADECIMAL = re.compile(rb"[-+]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?[0-9]+)?", re.IGNORECASE)


cdef Trouble slow_number(Text start, Text stop, Text* after, double* value) noexcept nogil:
    """Reads a number as Python does: a decimal number up to `after`, or a hexadecimal number, which changes `after`."""
    with gil:
        try:
            found = HEXADECIMAL.match(PyBytes_FromStringAndSize(start, stop - start))
            if found:
                value[0] = float.fromhex(found[0].decode())
                after[0] = start + <Py_ssize_t>found.end()
            else:
                value[0] = float(PyBytes_FromStringAndSize(start, after[0] - start))
        except OverflowError:
            return TROUBLE_RANGE
        except MemoryError:
            return TROUBLE_MEMORY
    return TROUBLE_RANGE if isinf(value[0]) else NO_TROUBLE


cdef Trouble rounded_whole(Text p, Text stop, double value) noexcept nogil:
    """TROUBLE_ROUNDED if a text of digits alone is another whole number than `value`, the double that it is read as."""
    cdef uint64_t digits = 0
    cdef int count = 0
    cdef bint slow = False, same
    if p < stop and (p[0] == c'-' or p[0] == c'+'):
        p += 1
    if p == stop or add_digits(p, stop, &digits, &count, &slow) != stop:
        return NO_TROUBLE
    same = not slow and digits == <uint64_t>fabs(value)
    if slow:
        while not (p[0] >= 49 and p[0] <= 57):  # Python limits the digits of a whole number, zeros included
            p += 1
        with gil:
            try:
                same = int(PyBytes_FromStringAndSize(p, stop - p)) == int(fabs(value))
            except MemoryError:
                return TROUBLE_MEMORY
    return NO_TROUBLE if same else TROUBLE_ROUNDED


# ---------------------------------------------------------------------------------------------------------------- lines

cdef uint8_t[256] BLANK
memset(BLANK, 0, 256)
BLANK[32] = BLANK[9] = BLANK[11] = BLANK[12] = BLANK[13] = 1  # what C calls a space
BLANK[10] = 2  # ends a line


cdef inline Text skip_blanks(Text p, Text end) noexcept nogil:
    while p < end and BLANK[<uint8_t>p[0]] == 1:
        p += 1
    return p


cdef inline Text skip_word(Text p, Text end) noexcept nogil:
    cdef int n
    while end - p >= 8:
        n = before_blank(p)
        p += n
        if n < 8:
            if BLANK[<uint8_t>p[0]] != 0:
                return p
            p += 1
    while p < end and BLANK[<uint8_t>p[0]] == 0:
        p += 1
    return p


cdef inline Text next_line(Text p, Text end) noexcept nogil:
    cdef Text found = <Text>memchr(p, 10, end - p)
    return end if found is NULL else found + 1


cdef Trouble line_trouble(Parser* parser, Trouble problem) noexcept nogil:
    """What is wrong with the line. A line that is too long comes first, as it may be cut."""
    if next_line(parser.line, parser.end) - parser.line > LONGEST:
        return trouble(parser, TROUBLE_LONG, parser.line, parser.line)
    return problem


cdef inline Text first_word(Parser* parser) noexcept nogil:
    """Goes to the first word of the next line that is neither empty nor a comment; NULL at the end or if it is too long."""
    cdef Text p = parser.p
    while True:
        parser.line = p
        p = skip_blanks(p, parser.end)
        if p < parser.end and p[0] != 10 and p[0] != c'#':
            return p
        p = next_line(p, parser.end)
        if p - parser.line > LONGEST:
            trouble(parser, TROUBLE_LONG, p, p)
            return NULL
        if p >= parser.end:
            parser.p = p
            return NULL


cdef void let_pass(Parser* parser, Passed kind) noexcept nogil:
    if parser.passed[<int>kind] == 0:
        parser.first[<int>kind] = line_number(parser, parser.line)
    parser.passed[<int>kind] += 1


cdef inline Text parse_doc(Parser* parser, Text stop, Doc* found) noexcept nogil:
    """Reads the document id of a line, from the end of its query on; returns the id's end, or NULL without an id."""
    cdef Text end = parser.end, p = skip_blanks(skip_word(skip_blanks(stop, end), end), end)
    stop = skip_word(p, end)
    if stop == p:
        trouble(parser, TROUBLE_COLUMNS, p, stop)
        return NULL
    set_text(found, p, stop - p)
    return stop


cdef Trouble parse_run_line(Parser* parser, Text stop, Doc* found) noexcept nogil:
    """Reads a line of a run, from the end of its query on."""
    cdef Text end = parser.end, rank, rank_stop, score, p, after
    cdef bint slow = False
    cdef Trouble problem
    stop = parse_doc(parser, stop, found)
    if stop is NULL:
        return parser.trouble
    # Count the columns first: if a column is missing, another column is in the score's place.
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
            found.rank = NAN  # an error only with rank_by='rank'
    found.score = parse_number(score, stop, &after, &slow)
    if after != stop:
        if parser.strict:
            return trouble(parser, TROUBLE_SCORE, score, stop)
        # C reads hexadecimal numbers as well. (It reads "infx" as infinity.)
        slow |= after != score and not isinf(found.score) and (after[0] | 32) == c'x'
    if slow:
        problem = slow_number(score, stop, &after, &found.score)
        if problem != NO_TROUBLE:
            return trouble(parser, problem, score, stop)
    if after != stop:
        let_pass(parser, PASSED_SCORE)
    if isnan(found.score):
        return trouble(parser, TROUBLE_NAN, score, stop)
    if fabs(found.score) >= LARGE:
        problem = rounded_whole(score, after, found.score)
        if problem == TROUBLE_ROUNDED and not parser.strict:
            let_pass(parser, PASSED_ROUNDED)
        elif problem != NO_TROUBLE:
            return trouble(parser, problem, score, stop)
    return NO_TROUBLE


cdef Trouble parse_qrels_line(Parser* parser, Text stop, Doc* found) noexcept nogil:
    """Reads a line of judgments, from the end of its query on."""
    cdef Text end = parser.end, p, q, digits, after
    cdef int64_t level = 0
    cdef double value
    cdef bint slow
    cdef Trouble problem
    stop = parse_doc(parser, stop, found)
    if stop is NULL:
        return parser.trouble
    p = skip_blanks(stop, end)
    stop = skip_word(p, end)
    q = skip_blanks(stop, end)
    if stop == p or (q < end and q[0] != 10):
        return trouble(parser, TROUBLE_COLUMNS, q, q)
    parser.p = q + 1 if q < end else q
    digits = q = p + (p[0] == c'-' or p[0] == c'+')
    while q < stop and is_digit(q[0]):
        level = level * 10 + (q[0] - 48)
        if level > 1000000000:
            return trouble(parser, TROUBLE_LEVEL, p, stop)
        q += 1
    if q != stop or q == digits:
        value = parse_number(p, stop, &after, &slow)
        problem = TROUBLE_NAN if isnan(value) else TROUBLE_PART_LEVEL if after == stop else TROUBLE_LEVEL
        if parser.strict or problem == TROUBLE_NAN:
            return trouble(parser, problem, p, stop)
        let_pass(parser, PASSED_LEVEL)
    found.score = <double>(-level if p[0] == c'-' else level)
    return NO_TROUBLE


cdef Trouble parse_query(Parser* parser, Docs* docs, bint* more) noexcept nogil:
    """Adds the documents of the next query, as far as its lines are together. `more` is False at the end of the text."""
    cdef Text p = first_word(parser), stop, end = parser.end
    cdef Trouble problem
    more[0] = p is not NULL
    if p is NULL:
        return parser.trouble
    stop = skip_word(p, end)
    parser.query = p
    parser.query_length = stop - p
    while True:
        if not grow(<void**>&docs.items, &docs.capacity, docs.size + 1, sizeof(Doc)):
            return trouble(parser, TROUBLE_MEMORY, p, p)
        if parser.qrels:
            problem = parse_qrels_line(parser, stop, &docs.items[docs.size])
        else:
            problem = parse_run_line(parser, stop, &docs.items[docs.size])
        if problem != NO_TROUBLE or parser.p - parser.line > LONGEST:
            return line_trouble(parser, problem)
        docs.size += 1
        p = first_word(parser)
        if p is NULL:
            return parser.trouble
        stop = p + parser.query_length
        if (end - p < parser.query_length or memcmp(p, parser.query, parser.query_length) != 0
                or (stop < end and BLANK[<uint8_t>stop[0]] == 0)):
            parser.p = parser.line
            return NO_TROUBLE


cdef void start_parser(Parser* parser, Text begin, Py_ssize_t length, bint strict) noexcept nogil:
    memset(parser, 0, sizeof(Parser))
    parser.strict = strict
    parse_from(parser, begin, length, True)


cdef void parse_from(Parser* parser, Text begin, Py_ssize_t length, bint first) noexcept nogil:
    """Sets the next text to parse. The first text may begin with the byte order mark of UTF-8."""
    parser.begin = parser.p = begin
    parser.end = begin + length
    if first and length >= 3 and memcmp(begin, b"\xef\xbb\xbf", 3) == 0:
        parser.begin = parser.p = begin + 3


# ---------------------------------------------------------------------------------------------------------------- words

cdef object raise_trouble(Parser* parser, str source):
    """Raises an error that names the file, the line and what is wrong with it."""
    cdef Text start = parser.line, stop, p
    cdef Py_ssize_t columns = 0
    if parser.trouble == TROUBLE_MEMORY:
        raise MemoryError
    while start > parser.begin and (start - 1)[0] != 10:
        start -= 1
    stop = <Text>memchr(start, 10, parser.end - start)
    if stop is NULL:
        stop = parser.end
    p = skip_blanks(start, stop)
    while p < stop:
        columns += 1
        p = skip_blanks(skip_word(p, stop), stop)
    problem = TROUBLES[parser.trouble].format(
        field=shown(parser.field, parser.field_length),
        other=0 if parser.other is NULL else line_number(parser, parser.other),
        value="relevance" if parser.qrels else "score",
        columns=f"{columns} column{'' if columns == 1 else 's'}",
        kind="qrels have four columns (query, iteration, document, relevance)" if parser.qrels
        else "a run has six columns (query, Q0, document, rank, score, tag)")
    if parser.trouble in (TROUBLE_SCORE, TROUBLE_ROUNDED, TROUBLE_PART_LEVEL) or (
            parser.trouble == TROUBLE_COLUMNS and not parser.qrels and columns > 6):
        problem += " (strict=False accepts the line, as trec_eval does)"
    if parser.trouble == TROUBLE_COLUMNS and parser.qrels and columns == 5:
        problem += "; read_qrels(..., format='prefs') reads preferences"
    if parser.trouble == TROUBLE_COLUMNS and start == parser.begin and columns == (6 if parser.qrels else 4):
        problem += "; is this a run? Judgments come first" if parser.qrels else "; are these judgments? They come first"
    elif parser.trouble == TROUBLE_COLUMNS and start > parser.begin and stop == parser.end:
        problem += "; the file ends within this line: it may be cut off"
    raise ValueError(f"{source}, line {line_number(parser, start)}: {problem}: {shown(start, stop - start)!r}")


cdef Py_ssize_t line_number(Parser* parser, Text start) noexcept nogil:
    cdef Text p = parser.begin
    cdef Py_ssize_t lines = parser.lines + 1, i, n
    cdef uint8_t few
    while p < start:
        n = min(start - p, 240)  # so that the count fits a byte, which compilers vectorise
        few = 0
        for i in range(n):
            few += p[i] == 10
        lines += few
        p += n
    return lines


cdef str shown(Text text, int64_t length):
    cut = PyBytes_FromStringAndSize(text, min(length, 120)).decode("utf-8", "backslashreplace").rstrip("\r")
    return cut if length <= 120 else cut + "..."


cdef str tag_of(Parser* parser, str earlier):
    """The last tag of this piece of a file, or `earlier` if it has none."""
    tag = earlier if parser.tag is NULL else shown(parser.tag, parser.tag_length)
    parser.tag = NULL
    return tag


cdef list passed_notes(Parser* parser, str source):
    return [f"{source}: {count} {words % ('' if count == 1 else 's')}, first in line {line}"
            for words, count, line in zip(PASSED, parser.passed, parser.first) if count]
