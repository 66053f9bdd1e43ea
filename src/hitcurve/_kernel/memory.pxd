from cpython.mem cimport PyMem_RawRealloc


cdef inline bint grow(void** memory, Py_ssize_t* capacity, Py_ssize_t wanted, size_t size) noexcept nogil:
    """Grows memory to at least `wanted` elements of a size, and keeps its content. False if there is no memory."""
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
