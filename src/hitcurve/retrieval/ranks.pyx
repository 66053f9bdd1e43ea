"""Find the judged documents of a query, and count their ranks. An evaluation needs nothing else of a run.

A run is never sorted as a whole. The judged documents of each query are looked up by hash, and compared byte by byte. The
scores of a query are sorted only if they do not fall already, and if many documents are judged or a judged document is in
a tie.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdio cimport snprintf
from libc.string cimport memcmp, memcpy, memset

from hitcurve._kernel.columns cimport SCORE_DOUBLE
from hitcurve._kernel.memory cimport grow
from hitcurve._kernel.sort cimport key_of
from hitcurve._kernel.thresholds cimport sort_relevant
from hitcurve.retrieval.lines cimport NO_TROUBLE, TROUBLE_MEMORY, TROUBLE_RANK, TROUBLE_SAME_RANK, TROUBLE_TWICE, Text

cdef extern from "_decimal.h" nogil:
    uint64_t read_big_endian "hitcurve_read_big_endian"(const char* p)


# ----------------------------------------------------------------------------------------------------------------- ids

cdef int64_t id_text(const Doc* doc, char* room, const char** text) noexcept nogil:
    """The text of an id. An integer id has its decimal digits as text, so that the order of ids is that of a file."""
    if doc.text is not NULL:
        text[0] = doc.text
        return doc.length
    text[0] = room
    return snprintf(room, DIGITS, "%lld", <long long>doc.length)


cdef uint64_t id_key(const Doc* doc) noexcept nogil:
    """The first eight bytes of an id as an integer: integers compare as the bytes do."""
    cdef char[DIGITS] room
    cdef char[8] head
    cdef const char* text
    cdef int64_t length = id_text(doc, room, &text)
    memset(head, 0, 8)
    memcpy(head, text, min(length, 8))
    return read_big_endian(head)


cdef int compare_ids(const Doc* a, const Doc* b) noexcept nogil:
    cdef char[DIGITS] room_a
    cdef char[DIGITS] room_b
    cdef Text text_a, text_b
    cdef int64_t length_a = id_text(a, room_a, &text_a), length_b = id_text(b, room_b, &text_b)
    cdef int found = memcmp(text_a, text_b, min(length_a, length_b))
    if found != 0:
        return found
    return (length_a > length_b) - (length_a < length_b)


cdef inline bint goes_first(const KeyedPlace* a, const KeyedPlace* b, const Doc* docs) noexcept nogil:
    if a.key != b.key or docs is NULL:
        return a.key > b.key
    return compare_ids(&docs[a.place], &docs[b.place]) > 0


cdef void sort_items(KeyedPlace* items, KeyedPlace* room, Py_ssize_t n, const Doc* docs) noexcept nogil:
    """Sorts by falling key and, if `docs` is given, by falling document id. It is a stable merge sort."""
    cdef Py_ssize_t start, stop, i, j, k, middle, width = 16
    cdef KeyedPlace item
    cdef KeyedPlace* origin = items
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
        stop = 0
        while stop < n:
            i = start = stop
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            j = middle
            for k in range(start, stop):
                if j >= stop or (i < middle and not goes_first(&items[j], &items[i], docs)):
                    room[k] = items[i]
                    i += 1
                else:
                    room[k] = items[j]
                    j += 1
        items, room = room, items
        width *= 2
    if items != origin:
        memcpy(origin, items, n * sizeof(KeyedPlace))


# -------------------------------------------------------------------------------------------------------------- lookup

cdef bint reserve_work(Work* work, Py_ssize_t n) noexcept nogil:
    """Makes room for a query of n documents. If the memory must grow, its contents are lost."""
    cdef size_t size
    if n <= work.size:
        return True
    size = (table_mask(n) + 1) // 2
    PyMem_RawFree(work.memory)
    work.memory = PyMem_RawMalloc(size * (2 * sizeof(uint64_t) + 2 * sizeof(KeyedPlace) + 2 * sizeof(double)
                                          + 2 * sizeof(int64_t) + sizeof(float)))
    work.size = 0 if work.memory is NULL else <Py_ssize_t>size
    work.seen = <uint64_t*>work.memory
    work.items = <KeyedPlace*>(work.seen + 2 * size)
    work.spare = work.items + size
    work.scores = <double*>(work.spare + size)
    work.ordered = work.scores + size
    work.found = <int64_t*>(work.ordered + size)
    work.levels = work.found + size
    work.rounded = <float*>(work.levels + size)
    return work.memory is not NULL


cdef Py_ssize_t fill_table(const Doc* docs, Py_ssize_t n, uint64_t* slots, uint64_t mask, Py_ssize_t* before) noexcept nogil:
    """Fills a hash table with documents; returns the first document whose id is already in the table, or -1."""
    cdef Py_ssize_t i
    cdef uint64_t at
    memset(slots, 0, (mask + 1) * sizeof(uint64_t))
    for i in range(n):
        at = find_slot(slots, mask, docs, &docs[i])
        if slots[at] != 0:
            before[0] = place_in(slots[at])
            return i
        slots[at] = (docs[i].hash >> 32 << 32) | <uint64_t>(i + 1)
    return -1


cdef Trouble check_twice(const Doc* docs, Py_ssize_t n, Work* work) noexcept nogil:
    if not reserve_work(work, n):
        return TROUBLE_MEMORY
    work.bad = fill_table(docs, n, work.seen, table_mask(n), &work.other)
    return NO_TROUBLE if work.bad < 0 else TROUBLE_TWICE


cdef Py_ssize_t find_integers(const int64_t* ids, const double* scores, Py_ssize_t n, const Doc* judged,
                              Py_ssize_t num_judged, Work* work) noexcept nogil:
    """Puts the judged documents and the rounded scores into the work; returns the number of judged documents.

    Returns -1 if a score is NaN, if an id occurs twice, if ids collide too often, or if there is no memory. One hash table
    finds both judged documents and documents that occur twice: it first holds the places of the judgments, and each
    document then takes the place of the judgment that has its id.
    """
    cdef Py_ssize_t i, m = 0, steps = 8 * (n + num_judged)
    cdef uint64_t mask, slot
    cdef int64_t place, used = work.used
    cdef int shift = 64
    cdef int32_t nans = 0
    if n + num_judged >= 1 << 28 or num_judged > 64 * n or not reserve_work(work, n):
        return -1
    for i in range(n):
        work.rounded[i] = <float>scores[i]
    for i in range(n):
        nans += work.rounded[i] != work.rounded[i]
    if nans != 0:
        return -1
    mask = table_mask(4 * (n + num_judged))  # mostly empty, so that the first slot nearly always decides
    while mask >> (64 - shift) != 0:
        shift -= 1
    if <Py_ssize_t>mask >= work.table_size or used + num_judged + n > 0x7FFFFFFF:
        if not grow(<void**>&work.table, &work.table_size, <Py_ssize_t>mask + 1, sizeof(int32_t)):
            return -1
        memset(work.table, 0, work.table_size * sizeof(int32_t))
        used = 0
    work.used = used + num_judged + n
    for i in range(num_judged):
        slot = spread(judged[i].length, shift)
        while work.table[slot] > used:
            slot = (slot + 1) & mask
            steps -= 1
            if steps < 0:
                return -1
        work.table[slot] = <int32_t>(used + 1 + i)
    for i in range(n):
        slot = spread(ids[i], shift)
        while True:
            place = work.table[slot] - used - 1
            if place < 0:
                break
            if place >= num_judged:
                if ids[place - num_judged] == ids[i]:
                    return -1
            elif judged[place].length == ids[i]:
                work.found[m] = i
                work.levels[i] = <int64_t>judged[place].score
                m += 1
                break
            slot = (slot + 1) & mask
            steps -= 1
            if steps < 0:
                return -1
        work.table[slot] = <int32_t>(used + 1 + num_judged + i)
    return m


cdef inline uint64_t spread(int64_t number, int shift) noexcept nogil:
    """A quick hash of 64 - `shift` bits."""
    return (<uint64_t>number * <uint64_t>0x9E3779B97F4A7C15) >> shift


# ---------------------------------------------------------------------------------------------------------------- ranks

cdef enum:
    NOT_JUDGED = -2000000000
    FEW_JUDGED = 64        # for up to so many judged documents, counting the scores above each is quicker than sorting


cdef inline void add_row(Rows* rows, int64_t rank, int64_t above, int64_t tied, int64_t level) noexcept nogil:
    cdef Row* row = &rows.items[rows.size]
    row.rank = rank
    row.above = above
    row.tied = tied
    row.level = level
    rows.size += 1


cdef Trouble rank_judged(const Doc* docs, Py_ssize_t n, const Doc* judged, const uint64_t* slots, uint64_t mask,
                         Order order, bint single, Work* work, Rows* rows) noexcept nogil:
    """Appends the rows of one query of a run: its judged documents, best first."""
    cdef Py_ssize_t i, m = 0
    cdef uint64_t slot
    cdef bint falling = True
    cdef Trouble problem = check_twice(docs, n, work)
    if problem != NO_TROUBLE:
        return problem
    for i in range(n):
        work.scores[i] = <double><float>docs[i].score if single else docs[i].score
        work.levels[i] = NOT_JUDGED
        slot = slots[find_slot(slots, mask, judged, &docs[i])]
        if slot != 0:
            work.levels[i] = <int64_t>judged[place_in(slot)].score
            work.found[m] = i
            m += 1
    if not grow(<void**>&rows.items, &rows.capacity, rows.size + m, sizeof(Row)):
        return TROUBLE_MEMORY
    if order == ORDER_RANK:
        return add_by_rank(docs, n, work, rows)
    for i in range(1, n):
        falling &= work.scores[i] <= work.scores[i - 1]
    work.rising = not falling
    if order == ORDER_FILE:
        for i in range(m):
            add_row(rows, work.found[i] + 1, work.found[i], 1, work.levels[work.found[i]])
    elif falling:
        add_falling(docs, n, NULL, work, rows)
    elif m > 0:
        for i in range(n):
            work.rounded[i] = <float>work.scores[i]
        if not add_apart(work.scores, n, False, work, m, rows):
            for i in range(n):
                work.items[i].key = key_of(work.scores[i])
                work.items[i].place = i
            sort_items(work.items, work.spare, n, NULL)
            add_falling(docs, n, work.items, work, rows)
    return NO_TROUBLE


cdef bint rank_integers(const double* scores, Py_ssize_t n, Py_ssize_t m, Work* work, Rows* rows) noexcept nogil:
    """Appends the rows of documents that `find_integers` found; False, and no rows, if a judged document is in a tie."""
    cdef Py_ssize_t i = 1
    if not grow(<void**>&rows.items, &rows.capacity, rows.size + m, sizeof(Row)):
        return False
    while i < n and scores[i] <= scores[i - 1]:
        i += 1
    return add_apart(scores, n, i >= n, work, m, rows)


cdef Trouble add_by_rank(const Doc* docs, Py_ssize_t n, Work* work, Rows* rows) noexcept nogil:
    """Appends the rows in the order of the rank column. Ranks may begin with any number, but none may occur twice."""
    cdef Py_ssize_t i
    for i in range(n):
        if isnan(docs[i].rank):
            work.bad = i
            return TROUBLE_RANK
        work.items[i].key = key_of(-docs[i].rank)
        work.items[i].place = i
    sort_items(work.items, work.spare, n, NULL)
    work.rising = False
    for i in range(n):
        work.bad = work.items[i].place
        work.rising |= i > 0 and work.scores[work.bad] > work.scores[work.items[i - 1].place]
        if i > 0 and work.items[i].key == work.items[i - 1].key:
            work.other = work.items[i - 1].place
            return TROUBLE_SAME_RANK
        if work.levels[work.bad] != NOT_JUDGED:
            add_row(rows, i + 1, i, 1, work.levels[work.bad])
    return NO_TROUBLE


cdef inline Py_ssize_t place_at(const KeyedPlace* order, Py_ssize_t i) noexcept nogil:
    return i if order is NULL else order[i].place


cdef void add_falling(const Doc* docs, Py_ssize_t n, const KeyedPlace* order, Work* work, Rows* rows) noexcept nogil:
    """Appends the rows of documents whose scores fall, as they lie or in the given `order`: tie group by tie group."""
    cdef Py_ssize_t i, place, start = 0, stop
    cdef double score
    cdef bint judged
    cdef KeyedPlace* group
    while start < n:
        place = place_at(order, start)
        score = work.scores[place]
        judged = work.levels[place] != NOT_JUDGED
        stop = start + 1
        while stop < n and work.scores[place_at(order, stop)] == score:
            judged |= work.levels[place_at(order, stop)] != NOT_JUDGED
            stop += 1
        if judged and stop == start + 1:
            add_row(rows, start + 1, start, 1, work.levels[place])
        elif judged:
            # trec_eval's rule: among equal scores, the greater document id first.
            group = work.items + start  # the memory of `order`, if it is given
            for i in range(start, stop):
                place = place_at(order, i)
                group[i - start].place = place
                group[i - start].key = id_key(&docs[place])
            sort_items(group, work.spare, stop - start, docs)
            for i in range(start, stop):
                place = group[i - start].place
                if work.levels[place] != NOT_JUDGED:
                    add_row(rows, i + 1, start, stop - start, work.levels[place])
        start = stop


cdef Way way_to_place(const double* scores, Py_ssize_t n, bint falling, Py_ssize_t m, Work* work) noexcept nogil:
    """How to find the ranks of m of n scores. If the scores do not fall, `work.rounded` must hold them too."""
    if falling:
        return WAY_FALLING
    if m <= FEW_JUDGED and n < 1 << 30:
        return WAY_COUNTED
    memcpy(work.ordered, scores, n * sizeof(double))
    sort_relevant(work.ordered, n, SCORE_DOUBLE, work.spare)
    return WAY_SORTED


cdef void place_score(const double* scores, Py_ssize_t n, Way way, const Work* work, double score, int64_t* above,
                      int64_t* equal) noexcept nogil:
    """Sets the number of scores above a score, and the number of scores equal to it."""
    cdef Py_ssize_t j, low = 0, high = n, middle
    cdef float near
    cdef int32_t higher = 0, same = 0
    cdef bint falling = way == WAY_FALLING
    if way == WAY_COUNTED:
        # Rounding keeps the order, so only scores that it makes equal need an exact comparison.
        near = <float>score
        for j in range(n):
            higher += work.rounded[j] > near
            same += work.rounded[j] == near
        above[0] = higher
        equal[0] = same
        if same > 1:
            equal[0] = 0
            for j in range(n):
                above[0] += work.rounded[j] == near and scores[j] > score
                equal[0] += scores[j] == score
        return
    while low < high:  # to the first lower score if the scores fall, to the first higher score if they rise
        middle = (low + high) >> 1
        if (scores[middle] < score) if falling else (work.ordered[middle] > score):
            high = middle
        else:
            low = middle + 1
    j = low - 1
    while j >= 0 and (scores[j] if falling else work.ordered[j]) == score:
        j -= 1
    equal[0] = low - 1 - j
    above[0] = j + 1 if falling else n - low


cdef bint add_apart(const double* scores, Py_ssize_t n, bint falling, Work* work, Py_ssize_t m, Rows* rows) noexcept nogil:
    """Appends rows by the scores alone, without ids; False, and no rows, if a judged document is in a tie.

    `work.rounded` must hold the scores too.
    """
    cdef Py_ssize_t i, j
    cdef int64_t above, equal
    cdef Way way = way_to_place(scores, n, falling, m, work)
    for i in range(m):
        j = work.found[i]
        if falling:
            above = j
            equal = 1 + (j > 0 and scores[j - 1] == scores[j]) + (j + 1 < n and scores[j + 1] == scores[j])
        else:
            place_score(scores, n, way, work, scores[j], &above, &equal)
        if equal > 1:
            return False
        work.items[i].key = ~<uint64_t>above
        work.items[i].place = work.found[i]
    sort_items(work.items, work.spare, m, NULL)
    for i in range(m):
        above = <int64_t>~work.items[i].key
        add_row(rows, above + 1, above, 1, work.levels[work.items[i].place])
    return True
