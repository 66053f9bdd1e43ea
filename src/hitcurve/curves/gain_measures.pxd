# The base of GainCurve and GainCurves.
from hitcurve._kernel.gains cimport Fall, GainFormula, Levels, UserPart
from hitcurve.curves.hit cimport Curve
from hitcurve.curves.levels cimport Reader


cdef class Gains(Curve):
    cdef object curves                    # HitCurve or HitCurves for which the items above level 0 are relevant
    cdef object row_starts, sizes         # of each ranking: where its rows begin, its number of items
    cdef object values                    # the level of each code
    cdef object starts, code, count       # the pairs of all rows
    cdef object missing_starts, missing_code, missing_count
    cdef Levels levels                    # of all rankings together

    cdef int set_levels(self, object row_starts, object num_items, object above, object tied, object hits, object values,
                        tuple pairs, tuple missing) except -1
    cdef object used(self)
    cdef object stop_chances(self, object max_level)
    cdef int below_top(self, double top) except -1
    cdef object scaled(self, object max_rel, object min_rel)
    cdef object clipped(self, double least, double most)
    cdef int bounded(self, object worth, double most) except -1
    cdef object read_all(self, GainFormula formula, Reader reader, object ranks, bint ideal_all)
    cdef object read(self, GainFormula formula, str name, object k, object ties, object gain, object discount, bint ideal_all,
                     double p, object gains=*)
    cdef Reader asked(self, str name, object ties, object gain, object discount, double p, object gains)
    cdef object ordered(self, str name, object ties)
    cdef object nerr(self, Fall fall, object k, object ties, double p, object max_rel, object min_rel, UserPart part,
                     bint hopeful)
    cdef object bpm_part(self, object k, object T, object max_rel, object min_rel, object hb, object hc, object gain_med,
                         UserPart part, bint hopeful)
    cdef object inst_part(self, object k, object ties, object T, object max_rel, object min_rel, UserPart part, bint hopeful)
    cdef object no_gains(self)
    cdef object read_order(self, GainFormula formula, str name, object ties, object gains)
    cdef object utility(self, str name, object k, object ties, object gain, object beta, double p)
    cdef object shaped(self, object values, object shape)
    cdef tuple from_level(self, object level)
