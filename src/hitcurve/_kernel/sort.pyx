"""Sorting by the bits of the scores.

The bits of a score, read as a whole number with the sign handled, have the order of the scores. These numbers are cut
evenly into cells, and each cell into buckets, more buckets if the cell has more scores. This makes a map from scores to
buckets that is monotone and costs a few instructions without a comparison. The buckets are evenly filled if the scores are
smooth on a linear or a logarithmic scale. The map is used to sort scores (here), and to count them (count.pyx). A bucket
with too many scores gets a map of its own.
"""
from libc.stdint cimport UINT64_MAX, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

cdef enum:
    INSERTION = 32      # up to so many scores, insertion sort is faster than a map
    SMALL_SORT = 4096   # up to so many scores, a single map is enough: scores and buckets stay in the first caches
    SMALL_CELLS = 512
    PART = 512          # more scores are first distributed to parts of about so many scores
    MOST_PARTS = 2048   # the most parts, which are written to at the same time
    SAMPLE = 2048
    DEPTH = 4           # the most nested maps; then heapsort, which no input slows down

# The memory of a map is on the stack only once: with musl threads have a stack of 128 KB, and nested maps took 350 KB.
cdef struct Places:
    uint16_t ends[2 * SMALL_SORT + SMALL_CELLS]
    uint16_t place[SMALL_SORT]

cdef struct FewSpace:
    Cell cells[SMALL_CELLS]
    Places places

cdef struct PartsSpace:
    Cell cells[CELLS]
    uint64_t ends[2 * MOST_PARTS + CELLS]
    uint64_t sample[SAMPLE]  # scores of any type
    Places places


cdef void spread_typed(const score_t* scores, Py_ssize_t n, uint32_t limit, Py_ssize_t most_cells, Cell* cells,
                       Buckets* buckets) noexcept nogil:
    """Makes a map with about ``limit`` buckets for n scores, n > 0, in any order.

    ``cells`` has space for ``most_cells``, a power of two from 64 to CELLS. The map has at most 2 * limit + most_cells buckets.
    """
    cdef uint32_t counts[CELLS]
    cdef uint64_t least = UINT64_MAX, greatest = 0, key
    cdef uint32_t base = 0, bits, shift = 0
    cdef double wanted = <double>limit / n
    cdef Py_ssize_t i, cell, held, num_cells = 64
    cdef bint few = n > <Py_ssize_t>limit
    for i in range(n):
        key = key_of(scores[i])
        least = min(least, key)
        greatest = max(greatest, key)
    while num_cells < most_cells and (num_cells < <Py_ssize_t>limit or few):
        num_cells *= 2
    buckets.least = least
    buckets.span = greatest - least
    while buckets.span >> shift >= <uint64_t>num_cells:
        shift += 1
    buckets.cells = cells
    memset(counts, 0, num_cells * sizeof(uint32_t))
    for i in range(n):
        counts[(key_of(scores[i]) - least) >> shift] += 1
    # If there are scores below and above 0, most cells are for numbers near 0, and are empty. Few buckets are wanted, so
    # cells are joined until at most this number of cells has scores.
    while few and num_cells > 64:
        held = 0
        for cell in range(num_cells):
            held += counts[cell] != 0
        if held <= <Py_ssize_t>limit:
            break
        num_cells //= 2
        shift += 1
        for cell in range(num_cells):
            counts[cell] = counts[2 * cell] + counts[2 * cell + 1]
    buckets.shift = shift
    for cell in range(num_cells):
        bits = 0
        while bits < shift and <double>(<uint32_t>1 << bits) < counts[cell] * wanted:
            bits += 1
        cells[cell].shift = shift - bits
        cells[cell].base = base - <uint32_t>(<uint64_t>cell << bits)
        base += <uint32_t>1 << bits
    buckets.number = base
    buckets.num_cells = <uint32_t>num_cells


cdef inline void insertion_sort(score_t* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef score_t x
    for i in range(1, n):
        x = scores[i]
        j = i
        while j > 0 and scores[j - 1] > x:
            scores[j] = scores[j - 1]
            j -= 1
        scores[j] = x


cdef void sift_down(score_t* heap, Py_ssize_t root, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t child
    cdef score_t x = heap[root]
    while True:
        child = 2 * root + 1
        if child >= n:
            break
        if child + 1 < n and heap[child] < heap[child + 1]:
            child += 1
        if not x < heap[child]:
            break
        heap[root] = heap[child]
        root = child
    heap[root] = x


cdef void heap_sort(score_t* scores, Py_ssize_t n) noexcept nogil:
    """Heapsort, for scores that several maps did not separate."""
    cdef Py_ssize_t i
    cdef score_t x
    for i in range(n // 2 - 1, -1, -1):
        sift_down(scores, i, n)
    for i in range(n - 1, 0, -1):
        x = scores[0]
        scores[0] = scores[i]
        scores[i] = x
        sift_down(scores, 0, i)


cdef inline bint is_sorted(const score_t* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = 1
    while i < n and scores[i - 1] <= scores[i]:
        i += 1
    return i >= n


cdef void sort_parts(score_t* scores, Py_ssize_t n, score_t* scratch, PartsSpace* space, int depth) noexcept nogil:
    """Sorts many scores: distributes them to parts by a coarse map of a sample, then sorts each part."""
    cdef Cell* cells = space.cells
    cdef uint64_t* ends = space.ends
    cdef score_t* sample = <score_t*>space.sample
    cdef uint64_t total = 0, held, key, least, greatest, width
    cdef Buckets buckets
    cdef Py_ssize_t i, start = 0, stop
    cdef uint32_t part, cell, last, top
    for i in range(SAMPLE):
        sample[i] = scores[sample_place(i, SAMPLE, n)]
    spread_typed(<const score_t*>sample, SAMPLE, <uint32_t>min(MOST_PARTS, n // PART), CELLS, cells, &buckets)
    least = buckets.least
    greatest = least + buckets.span
    memset(ends, 0, buckets.number * sizeof(uint64_t))
    for i in range(n):
        ends[bucket_inside(&buckets, min(max(key_of(scores[i]), least), greatest))] += 1
    for part in range(buckets.number):
        held = ends[part]
        ends[part] = total
        total += held
    for i in range(n):
        part = bucket_inside(&buckets, min(max(key_of(scores[i]), least), greatest))
        scratch[ends[part]] = scores[i]
        ends[part] += 1
    part = 0
    top = bucket_inside(&buckets, greatest)
    for cell in range(buckets.num_cells):
        width = <uint64_t>1 << cells[cell].shift
        last = part + (<uint32_t>1 << (buckets.shift - cells[cell].shift))
        key = least + (<uint64_t>cell << buckets.shift)
        while part < last:
            stop = <Py_ssize_t>ends[part]
            sort_part(scratch + start, stop - start, scores + start, key, width,
                      part == 0 or part == top, &space.places, depth + 1)
            start = stop
            key += width
            part += 1


cdef void sort_part(score_t* scores, Py_ssize_t n, score_t* to, uint64_t least, uint64_t width, bint open,
                    Places* places, int depth) noexcept nogil:
    """Writes scores in order. Their keys are in an interval, unless it is open. The scores themselves are lost."""
    cdef Cell cells[2]
    cdef Buckets buckets
    cdef uint32_t shift = 0
    if n <= INSERTION:
        memcpy(to, scores, n * sizeof(score_t))
        insertion_sort(to, n)
    elif open or n > SMALL_SORT:
        memcpy(to, scores, n * sizeof(score_t))
        sort_deeper(to, n, scores, depth)
    else:
        while (width - 1) >> shift >= <uint64_t>(2 * n):
            shift += 1
        buckets.least = least
        buckets.span = width - 1
        buckets.shift = 63
        buckets.number = <uint32_t>(((width - 1) >> shift) + 1)
        buckets.cells = cells
        cells[0].shift = cells[1].shift = shift
        cells[0].base = cells[1].base = 0
        sort_small(scores, n, to, &buckets, places, depth)


cdef void sort_small(score_t* scores, Py_ssize_t n, score_t* to, const Buckets* buckets, Places* places,
                     int depth) noexcept nogil:
    """Writes at most SMALL_SORT scores in order. The scores themselves are lost."""
    cdef Py_ssize_t i
    cdef uint32_t bucket
    memset(places.ends, 0, buckets.number * sizeof(uint16_t))
    for i in range(n):
        bucket = bucket_inside(buckets, key_of(scores[i]))
        places.place[i] = <uint16_t>bucket
        places.ends[bucket] += 1
    lay_small(scores, n, to, buckets.number, places.ends, places.place, depth)


cdef void lay_small(score_t* scores, Py_ssize_t n, score_t* to, uint32_t number, uint16_t* ends, const uint16_t* place,
                    int depth) noexcept nogil:
    """Writes fewer than 2**16 scores in order: by buckets of one or two scores, then by insertion.

    The scores themselves are lost. ``ends`` has the number of scores of each bucket, and afterwards their ends.
    """
    cdef uint16_t total = 0, held, most = 0
    cdef Py_ssize_t i, start, stop
    cdef uint32_t bucket
    for bucket in range(number):
        held = ends[bucket]
        ends[bucket] = total
        total += held
        most = max(most, held)
    for i in range(n):
        to[ends[place[i]]] = scores[i]
        ends[place[i]] += 1
    if most > INSERTION:
        start = 0
        for bucket in range(number):
            stop = ends[bucket]
            if stop - start > INSERTION:
                sort_deeper(to + start, stop - start, scores + start, depth + 1)
            start = stop
    insertion_sort(to, n)


cdef void sort_few(score_t* scores, Py_ssize_t n, score_t* scratch, FewSpace* space, int depth) noexcept nogil:
    """Sorts at most SMALL_SORT scores."""
    cdef Buckets buckets
    memcpy(scratch, scores, n * sizeof(score_t))
    spread_typed(<const score_t*>scratch, n, <uint32_t>n, SMALL_CELLS, space.cells, &buckets)
    sort_small(scratch, n, scores, &buckets, &space.places, depth)


cdef void sort_deeper(score_t* scores, Py_ssize_t n, score_t* scratch, int depth) noexcept nogil:
    cdef void* space = NULL
    if is_sorted(<const score_t*>scores, n):
        return
    if depth < DEPTH:
        space = PyMem_RawMalloc(sizeof(PartsSpace) if n > SMALL_SORT else sizeof(FewSpace))
    if space is NULL:
        heap_sort(scores, n)
    elif n > SMALL_SORT:
        sort_parts(scores, n, scratch, <PartsSpace*>space, depth)
    else:
        sort_few(scores, n, scratch, <FewSpace*>space, depth)
    PyMem_RawFree(space)


cdef void sort_typed(score_t* scores, Py_ssize_t n, score_t* scratch) noexcept nogil:
    """Sorts the scores. The scratch has space for n scores, and is not needed for at most INSERTION scores."""
    cdef FewSpace space
    if n <= INSERTION:
        insertion_sort(scores, n)
    elif n > SMALL_SORT:
        sort_deeper(scores, n, scratch, 0)
    elif not is_sorted(<const score_t*>scores, n):
        sort_few(scores, n, scratch, &space, 0)


# ------------------------------------------------------------------------------------------------------ items by their id

cdef void count_heaps(const Layout* layout, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(start, stop):
        layout.codes[i] = <uint32_t>min(layout.ids[i] - layout.low, layout.span - 1)
        layout.ends[layout.codes[i] >> layout.shift] += 1


cdef void throw_items(const Layout* layout, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef const uint32_t* narrow = <const uint32_t*>layout.scores
    cdef const uint64_t* wide = <const uint64_t*>layout.scores
    cdef uint32_t mask = (<uint32_t>1 << layout.shift) - 1
    cdef Item item
    cdef uint32_t heap
    cdef Py_ssize_t i
    item.score = 0
    for i in range(start, stop):
        heap = layout.codes[i] >> layout.shift
        item.id = layout.codes[i] & mask
        if layout.labels is not NULL:
            item.id |= <uint32_t>layout.labels[i] << 24
        if layout.size == 8:
            item.score = wide[i]
        elif layout.size == 4:
            item.score = narrow[i]
        item.place = <uint32_t>i
        layout.items[layout.ends[heap]] = item
        layout.ends[heap] += 1


cdef void lay_heap(const Layout* layout, uint32_t heap) noexcept nogil:
    cdef uint32_t start = layout.ends[heap - 1] if heap > 0 else 0, stop = layout.ends[heap], mask, id, held, at = start, i
    cdef uint64_t least = <uint64_t>heap << layout.shift
    cdef uint32_t* places = layout.places
    cdef const Item* item
    mask = (<uint32_t>1 << layout.shift) - 1
    memset(places, 0, (<size_t>mask + 1) * sizeof(uint32_t))
    for i in range(start, stop):
        places[layout.items[i].id & mask] += 1
    for id in range(<uint32_t>min(<uint64_t>mask + 1, layout.span - least)):
        layout.offsets[least + id] = at
        held = places[id]
        places[id] = at
        at += held
    for i in range(start, stop):
        item = layout.items + i
        at = places[item.id & mask]
        places[item.id & mask] = at + 1
        layout.order[at] = item.place
        if layout.size == 8:
            (<uint64_t*>layout.laid_scores)[at] = item.score
        elif layout.size == 4:
            (<uint32_t*>layout.laid_scores)[at] = <uint32_t>item.score
        if layout.labels is not NULL:
            layout.laid_labels[at] = <uint8_t>(item.id >> 24)
