# Lines of TREC files, parsed into documents. Plain pointers. Only `raise_trouble` raises.
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp

ctypedef const char* Text  # a place in the text of a file

cdef struct Doc:
    uint64_t hash
    Text text            # NULL for an integer id, whose value is in `length`
    int64_t length
    double score         # in qrels: the level
    double rank          # the rank column, if it is wanted

cdef struct Docs:
    Doc* items
    Py_ssize_t size
    Py_ssize_t capacity

cdef enum Trouble:
    NO_TROUBLE, TROUBLE_MEMORY, TROUBLE_COLUMNS, TROUBLE_SCORE, TROUBLE_RANGE, TROUBLE_NAN, TROUBLE_LEVEL
    TROUBLE_PART_LEVEL     # the level is a number, but not a whole number
    TROUBLE_ROUNDED        # a whole number that no double holds
    TROUBLE_TWICE, TROUBLE_RANK, TROUBLE_SAME_RANK
    TROUBLE_LONG           # the line is too long

cdef struct Parser:
    Text begin
    Py_ssize_t lines       # the number of lines before `begin`, if a file is read piece by piece
    Text p
    Text end
    bint qrels             # whether the file has judgments; otherwise it is a run
    bint strict
    bint ranks             # the rank column is wanted
    Trouble trouble
    Text line              # the line with the trouble
    Text field             # the text that causes it
    int64_t field_length
    Text other             # the document met before, or NULL
    int64_t[4] passed      # how many lines strict=False accepted, for each kind of trouble
    Py_ssize_t[4] first    # the first of these lines
    Text tag
    int64_t tag_length
    Text query             # the query being read
    int64_t query_length


cdef inline uint64_t mixed(uint64_t h) noexcept nogil:
    """A hash of an integer. It is one-to-one: equal hashes mean equal integers."""
    h ^= h >> 32
    h *= <uint64_t>0xD6E8FEB86659FD93
    h ^= h >> 32
    h *= <uint64_t>0xD6E8FEB86659FD93
    return h ^ (h >> 32)


cdef inline bint same_id(const Doc* a, const Doc* b) noexcept nogil:
    if a.hash != b.hash or a.length != b.length:
        return False
    return a.text is NULL or memcmp(a.text, b.text, a.length) == 0


cdef inline Trouble trouble(Parser* parser, Trouble kind, Text field, Text stop) noexcept nogil:
    parser.trouble = kind
    parser.field = field
    parser.field_length = stop - field
    return kind


cdef void set_text(Doc* doc, Text text, int64_t length) noexcept nogil
cdef void start_parser(Parser* parser, Text begin, Py_ssize_t length, bint strict) noexcept nogil
cdef void parse_from(Parser* parser, Text begin, Py_ssize_t length, bint first) noexcept nogil
cdef Trouble parse_query(Parser* parser, Docs* docs, bint* more) noexcept nogil
cdef Py_ssize_t line_number(Parser* parser, Text start) noexcept nogil
cdef object raise_trouble(Parser* parser, str source)
cdef str shown(Text text, int64_t length)
cdef str tag_of(Parser* parser, str earlier)
cdef list passed_notes(Parser* parser, str source)
