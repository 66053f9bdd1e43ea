"""Preferences between documents, and how many of them a ranking fulfils.

A judgment group is what one user prefers. Most groups order their documents by levels: there a ranking's fulfilled preferences
are counted by sorting, without a look at each pair. A group of several subgroups is a partial order: each of its documents has
a row of bits, which says over what documents it is preferred.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.math cimport NAN
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memchr, memcmp, memset

cimport cython
cimport numpy as cnp

import numpy as np

from hitcurve._kernel.memory cimport grow
from hitcurve._kernel.tree cimport add_at, up_to
from hitcurve.retrieval.ranks cimport KeyedPlace, Row, sort_items
from hitcurve.retrieval.runs cimport Judged, Qrels, Section

cnp.import_array()

cdef extern from "_bits.h" nogil:
    int bits_in "hitcurve_bits_in"(uint64_t word)

# How tied documents are ordered: by rank (none are tied), in every order alike, in the best or in the worst order.
cdef enum Tied:
    TIED_RANKED, TIED_ANY, TIED_BEST, TIED_WORST

cdef enum PreferenceKind:
    KIND_NUMBER, KIND_MET, KIND_SHARE, KIND_PAIRS, KIND_GROUPS, KIND_GROUPS_R, KIND_QUERIES

# Which pairs count: all, those with a retrieved document, those of two retrieved documents.
cdef enum PairChoice:
    PAIRS_ALL, PAIRS_ANY, PAIRS_BOTH

cdef dict TIED = {"ranks": TIED_RANKED, "expected": TIED_ANY, "best": TIED_BEST, "worst": TIED_WORST}
cdef dict PAIRS = {"all": PAIRS_ALL, "any": PAIRS_ANY, "both": PAIRS_BOTH}
KINDS = {"NumPref": KIND_NUMBER, "NumPrefMet": KIND_MET, "Pref": KIND_SHARE, "PairPref": KIND_PAIRS,
         "GroupPref": KIND_GROUPS, "GroupPrefR": KIND_GROUPS_R, "NumQ": KIND_QUERIES}

# The preferences of a group, or of all groups of a query. `met` counts tied pairs by their share of the orders.
cdef struct PairTally:
    double met             # fulfilled, of two retrieved documents
    int64_t both           # preferences between two retrieved documents
    int64_t met_any        # fulfilled because the other document was not retrieved
    int64_t any            # preferences between a retrieved document and another that was not retrieved
    int64_t neither
    bint tied              # some of two retrieved documents of equal score
    double met_r, all_r    # of GroupPrefR, with all pairs
    double met_r_both, both_r  # and with pairs of two retrieved documents
    bint unknown           # GroupPrefR has no value in closed form

# A document of a group: its place in the order of the ranking, and in the group.
cdef struct Member:
    int64_t at             # documents of the query before it: first the retrieved documents, then the others by id
    int64_t tie            # the number of its tie group; -1 if it was not retrieved
    int64_t level          # 0 for the highest level of its group
    int64_t own            # its place in the group
    int8_t sign            # 1: relevant, 0: not relevant, -1: neither

cdef struct JudgmentGroup:
    Py_ssize_t first       # of its members
    Py_ssize_t size
    Py_ssize_t retrieved   # they come first
    Py_ssize_t levels
    const uint64_t* bits   # rows of bits; NULL if levels order the group
    Py_ssize_t words       # of a row

# Memory for one query after another.
cdef struct PairRoom:
    Member* members
    Py_ssize_t room_members
    JudgmentGroup* groups
    Py_ssize_t room_groups
    KeyedPlace* items
    Py_ssize_t room_items
    KeyedPlace* spare
    Py_ssize_t room_spare
    int64_t* numbers
    Py_ssize_t room_numbers
    uint64_t* words
    Py_ssize_t room_words
    int64_t* at            # of each document of the query
    Py_ssize_t room_at
    int64_t* tie
    Py_ssize_t room_tie
    int64_t* places        # of each member, of each document: which members it is
    Py_ssize_t room_places
    int32_t* over          # of each document: groups that prefer it less than the document at hand, and more
    Py_ssize_t room_over


cdef void free_room(PairRoom* room) noexcept nogil:
    PyMem_RawFree(room.members)
    PyMem_RawFree(room.groups)
    PyMem_RawFree(room.items)
    PyMem_RawFree(room.spare)
    PyMem_RawFree(room.numbers)
    PyMem_RawFree(room.words)
    PyMem_RawFree(room.at)
    PyMem_RawFree(room.tie)
    PyMem_RawFree(room.places)
    PyMem_RawFree(room.over)


# --------------------------------------------------------------------------------------------------- groups with levels

cdef inline double share(Tied tied) noexcept nogil:
    """The share of the orders of two tied documents that puts the preferred document first."""
    return 0.5 if tied == TIED_ANY else 1.0 if tied == TIED_BEST else 0.0


cdef double kept_after(int64_t before, int64_t tied_others, int64_t kept, Tied tied) noexcept nogil:
    """How many of the first `kept` others come after a document: `before` others have a higher score, some the same score.

    In the mean over all orders, each number from 0 to all of the tied others is equally likely to come before the document.
    """
    cdef int64_t after = kept - before, some
    if tied == TIED_WORST:
        after -= tied_others
    if after <= 0:
        return 0.0
    if tied != TIED_ANY:
        return <double>after
    some = min(tied_others, after)
    return (<double>(some + 1) * after - <double>some * (some + 1) / 2) / (tied_others + 1)


# What is counted of a group that levels order. The names that end in _r are of the documents above level 0.
cdef struct Leveled:
    int64_t* number          # of each level: documents
    int64_t* retrieved
    int64_t* run             # and of a tie group; all 0 between two tie groups
    int64_t* tree            # running sums of the documents ranked so far
    Py_ssize_t positive      # levels above 0
    int64_t relevant
    int64_t others
    int64_t relevant_ret
    int64_t others_ret
    int64_t pairs_r          # preferences
    int64_t both_r
    int64_t met_any_r
    int64_t strict           # fulfilled, between documents of different scores
    int64_t strict_r
    int64_t in_ties          # preferences between documents of equal score
    int64_t in_ties_r
    double after             # fulfilled preferences to one of the first R others
    double after_both        # and to one of as many others as there are relevant documents retrieved


cdef bint count_levels(const Member* members, const JudgmentGroup* group, PairRoom* room, Leveled* found) noexcept nogil:
    """Counts the documents of each level; False if there is no memory."""
    cdef Py_ssize_t i, levels = group.levels
    cdef const Member* one
    if not grow(<void**>&room.numbers, &room.room_numbers, 4 * levels, sizeof(int64_t)):
        return False
    memset(room.numbers, 0, 4 * levels * sizeof(int64_t))
    memset(found, 0, sizeof(Leveled))
    found.number, found.retrieved = room.numbers, room.numbers + levels
    found.run, found.tree = room.numbers + 2 * levels, room.numbers + 3 * levels
    for i in range(group.size):
        one = &members[i]
        found.number[one.level] += 1
        found.retrieved[one.level] += i < group.retrieved
        if one.sign > 0:
            found.positive = max(found.positive, <Py_ssize_t>one.level + 1)
            found.relevant += 1
            found.relevant_ret += i < group.retrieved
        else:
            found.others += 1
            found.others_ret += i < group.retrieved
    return True


cdef void pair_levels(Py_ssize_t levels, Leveled* found, PairTally* out) noexcept nogil:
    """Counts preferences from the numbers of documents of each level."""
    cdef Py_ssize_t c
    cdef int64_t above = 0, above_ret = 0, missing
    out.both = out.met_any = out.any = out.neither = 0
    for c in range(levels):
        missing = found.number[c] - found.retrieved[c]
        out.both += above_ret * found.retrieved[c]
        out.neither += (above - above_ret) * missing
        out.met_any += above_ret * missing
        out.any += above_ret * missing + (above - above_ret) * found.retrieved[c]
        above += found.number[c]
        above_ret += found.retrieved[c]
        if c + 1 == found.positive:
            found.pairs_r, found.both_r, found.met_any_r = out.both + out.any + out.neither, out.both, out.met_any


cdef void rank_levels(const Member* members, const JudgmentGroup* group, Tied tied, Leveled* found) noexcept nogil:
    """Counts the fulfilled preferences between retrieved documents, tie group by tie group."""
    cdef Py_ssize_t start = 0, i, j, c
    cdef int64_t better, few, few_r, same, same_r, seen_others = 0
    while start < group.retrieved:
        j = start
        few = few_r = same = same_r = 0
        while j < group.retrieved and members[j].tie == members[start].tie:
            c = members[j].level
            better = up_to(found.tree, c)
            found.strict += better
            same += found.run[c]
            few += 1
            if c < found.positive:
                found.strict_r += better
                same_r += found.run[c]
                few_r += 1
            found.run[c] += 1
            j += 1
        found.in_ties += few * (few - 1) // 2 - same
        found.in_ties_r += few_r * (few_r - 1) // 2 - same_r
        if few_r > 0:
            found.after += few_r * kept_after(seen_others, few - few_r, found.relevant, tied)
            found.after_both += few_r * kept_after(seen_others, few - few_r, found.relevant_ret, tied)
        seen_others += few - few_r
        for i in range(start, j):
            found.run[members[i].level] = 0
            add_at(found.tree, group.levels, <Py_ssize_t>members[i].level + 1, <int64_t>1)
        start = j


cdef bint tally_levels(const Member* members, const JudgmentGroup* group, Tied tied, PairRoom* room,
                       PairTally* out) noexcept nogil:
    """Counts the preferences of a group that levels order; False if there is no memory."""
    cdef Leveled found
    cdef int64_t size, extra, more
    cdef double half = share(tied)
    if not count_levels(members, group, room, &found):
        return False
    pair_levels(group.levels, &found, out)
    rank_levels(members, group, tied, &found)
    out.tied = found.in_ties > 0
    out.met = found.strict + half * found.in_ties
    out.unknown = False
    # trec_eval's rule where more documents are not relevant than are: only the first of them count, and it also counts
    # each of the others against these.
    more = found.relevant - found.others
    if more >= 0:
        out.met_r = out.met + <double>(out.met_any + found.relevant_ret * more)
        out.all_r = <double>(out.both + out.any + out.neither + found.relevant * more)
    else:
        size = min(found.relevant, found.others_ret)
        extra = size * (found.relevant - 1) - size * (size - 1) // 2
        out.met_r = found.strict_r + half * found.in_ties_r + found.met_any_r + found.after + extra
        out.all_r = <double>(found.pairs_r + found.relevant * (found.relevant + found.others))
    more = found.relevant_ret - found.others_ret
    if more >= 0:
        out.met_r_both = out.met + <double>(found.relevant_ret * more)
        out.both_r = <double>(out.both + found.relevant * more)
    else:
        extra = found.relevant_ret * (found.relevant_ret - 1) // 2
        out.met_r_both = found.strict_r + half * found.in_ties_r + found.after_both + extra
        out.both_r = <double>(found.both_r + found.relevant_ret * (found.relevant_ret + found.others_ret))
    return True


# ------------------------------------------------------------------------------------------------------- partial orders

cdef inline int64_t common(const uint64_t* row, const uint64_t* mask, const uint64_t* kept, Py_ssize_t words) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t found = 0
    for i in range(words):
        found += bits_in(row[i] & mask[i] & kept[i])
    return found


cdef inline bint is_over(const uint64_t* row, int64_t place) noexcept nogil:
    return row[place >> 6] >> (place & 63) & 1


cdef inline void set_bit(uint64_t* row, int64_t place) noexcept nogil:
    row[place >> 6] |= <uint64_t>1 << (place & 63)


cdef struct BitCounts:
    int64_t strict
    int64_t in_ties
    int64_t both
    int64_t met_any
    int64_t any
    int64_t neither


cdef void count_bits(const Member* members, const JudgmentGroup* group, const uint64_t* kept, uint64_t* room,
                     BitCounts* out) noexcept nogil:
    """Counts the preferences between the documents that `kept` has. `room`: three rows."""
    cdef Py_ssize_t words = group.words, i, j, w, stop = group.retrieved
    cdef uint64_t* later = room
    cdef uint64_t* here = room + words
    cdef uint64_t* missing = room + 2 * words
    cdef const uint64_t* row
    memset(out, 0, sizeof(BitCounts))
    memset(room, 0, 3 * words * sizeof(uint64_t))
    for i in range(group.retrieved, group.size):
        set_bit(missing, members[i].own)
    while stop > 0:
        i = stop
        memset(here, 0, words * sizeof(uint64_t))
        while i > 0 and members[i - 1].tie == members[stop - 1].tie:
            i -= 1
            set_bit(here, members[i].own)
        for j in range(i, stop):
            if is_over(kept, members[j].own):
                row = group.bits + members[j].own * words
                out.strict += common(row, later, kept, words)
                out.in_ties += common(row, here, kept, words)
                out.met_any += common(row, missing, kept, words)
        for w in range(words):
            later[w] |= here[w]
        stop = i
    # `later` has all retrieved documents now.
    out.any = out.met_any
    for i in range(group.size):
        if is_over(kept, members[i].own):
            row = group.bits + members[i].own * words
            if i < group.retrieved:
                out.both += common(row, later, kept, words)
            else:
                out.any += common(row, later, kept, words)
                out.neither += common(row, missing, kept, words)


cdef bint keep_first(const Member* members, Py_ssize_t size, int64_t number, Tied tied, uint64_t* kept) noexcept nogil:
    """Takes from `kept` the documents that are not relevant, after the first `number` of them; False if a tie decides."""
    cdef Py_ssize_t i
    cdef int64_t seen = 0, last = -1
    cdef bint known = True
    for i in range(size):
        if members[i].sign == 0:
            seen += 1
            if seen > number:
                kept[members[i].own >> 6] &= ~(<uint64_t>1 << (members[i].own & 63))
                known &= seen > number + 1 or tied == TIED_RANKED or members[i].tie < 0 or members[i].tie != last
            last = members[i].tie
    return known


cdef bint tally_bits(const Member* members, const JudgmentGroup* group, Tied tied, PairRoom* room,
                     PairTally* out) noexcept nogil:
    """Counts the preferences of a group that is a partial order; False if there is no memory."""
    cdef Py_ssize_t words = group.words, i
    cdef int64_t relevant = 0, others = 0, relevant_ret = 0, others_ret = 0
    cdef double half = share(tied)
    cdef BitCounts counted
    cdef uint64_t* kept
    if not grow(<void**>&room.words, &room.room_words, 4 * words, sizeof(uint64_t)):
        return False
    kept = room.words + 3 * words
    memset(kept, 255, words * sizeof(uint64_t))
    count_bits(members, group, kept, room.words, &counted)
    out.met = counted.strict + half * counted.in_ties
    out.both, out.met_any, out.any, out.neither = counted.both, counted.met_any, counted.any, counted.neither
    out.tied = counted.in_ties > 0
    out.unknown = False
    for i in range(group.size):
        relevant += members[i].sign > 0
        others += members[i].sign == 0
        relevant_ret += members[i].sign > 0 and i < group.retrieved
        others_ret += members[i].sign == 0 and i < group.retrieved
    if relevant >= others:
        out.met_r = out.met + <double>(out.met_any + relevant_ret * (relevant - others))
        out.all_r = <double>(out.both + out.any + out.neither + relevant * (relevant - others))
    else:
        out.unknown |= not keep_first(members, group.size, relevant, tied, kept)
        count_bits(members, group, kept, room.words, &counted)
        out.met_r = counted.strict + half * counted.in_ties + counted.met_any
        out.all_r = <double>(counted.both + counted.any + counted.neither)
    if relevant_ret >= others_ret:
        out.met_r_both = out.met + <double>(relevant_ret * (relevant_ret - others_ret))
        out.both_r = <double>(out.both + relevant * (relevant_ret - others_ret))
    else:  # trec_eval keeps as many as there are relevant documents, retrieved or not
        memset(kept, 255, words * sizeof(uint64_t))
        out.unknown |= not keep_first(members, group.retrieved, relevant, tied, kept)
        count_bits(members, group, kept, room.words, &counted)
        out.met_r_both = counted.strict + half * counted.in_ties
        out.both_r = <double>counted.both
    return True


# ------------------------------------------------------------------------------------------------------- several groups

cdef inline int prefers(const JudgmentGroup* group, const Member* a, const Member* b) noexcept nogil:
    """1 if the group prefers document a, -1 if it prefers b, else 0."""
    if group.bits is NULL:
        return (b.level > a.level) - (b.level < a.level)
    if is_over(group.bits + a.own * group.words, b.own):
        return 1
    return -1 if is_over(group.bits + b.own * group.words, a.own) else 0


cdef bint find_members(const PairRoom* room, Py_ssize_t groups, Py_ssize_t docs, int64_t* starts,
                       int64_t* found) noexcept nogil:
    """Finds of each document the members that it is: `found` has pairs (group, member). True if one is in two groups."""
    cdef Py_ssize_t g, i, d
    cdef bint shared = False
    memset(starts, 0, (docs + 1) * sizeof(int64_t))
    for g in range(groups):
        for i in range(room.groups[g].size):
            d = room.members[room.groups[g].first + i].at
            starts[d + 1] += 1
            shared |= starts[d + 1] > 1
    for d in range(docs):
        starts[d + 1] += starts[d]
    for g in range(groups):
        for i in range(room.groups[g].size):
            d = room.members[room.groups[g].first + i].at
            found[2 * starts[d]] = g
            found[2 * starts[d] + 1] = i
            starts[d] += 1
    for d in range(docs, 0, -1):
        starts[d] = starts[d - 1]
    starts[0] = 0
    return shared


cdef struct PairSums:
    double total
    double total_both      # of two retrieved documents
    int64_t both
    int64_t any
    int64_t neither


cdef void pair_sums(const PairRoom* room, Py_ssize_t docs, Py_ssize_t retrieved, Tied tied, const int64_t* starts,
                    const int64_t* found, const int64_t* ties, PairSums* out) noexcept nogil:
    """Sums over pairs of documents the share of their preferences that is fulfilled, in trec_eval's order of adding."""
    cdef Py_ssize_t i, j, e, y, first, stop, turn
    cdef int32_t* over = room.over
    cdef int32_t* under = room.over + docs
    cdef int64_t* number
    cdef const JudgmentGroup* group
    cdef const Member* members
    cdef int told
    memset(over, 0, 2 * docs * sizeof(int32_t))
    memset(out, 0, sizeof(PairSums))
    for turn in range(3):
        number = &out.both if turn == 0 else &out.any if turn == 1 else &out.neither
        for i in range(0 if turn < 2 else retrieved, retrieved if turn < 2 else docs):
            for e in range(starts[i], starts[i + 1]):
                group = &room.groups[found[2 * e]]
                members = room.members + group.first
                first = group.retrieved if turn == 1 else found[2 * e + 1] + 1
                for y in range(first, group.retrieved if turn == 0 else group.size):
                    told = prefers(group, &members[found[2 * e + 1]], &members[y])
                    over[members[y].at] += told > 0
                    under[members[y].at] += told < 0
            first = retrieved if turn == 1 else i + 1
            stop = retrieved if turn == 0 else docs
            for j in range(first, stop):
                if over[j] != 0 or under[j] != 0:
                    number[0] += 1
                    if turn == 0 and tied != TIED_RANKED and ties[i] == ties[j]:
                        out.total += share(tied)
                    elif turn < 2:
                        out.total += <double>over[j] / <double>(over[j] + under[j])
            memset(over + first, 0, (stop - first) * sizeof(int32_t))
            memset(under + first, 0, (stop - first) * sizeof(int32_t))
        if turn == 0:
            out.total_both = out.total


cdef void count_below(const PairRoom* room, int64_t doc, int64_t step, const int64_t* starts, const int64_t* found,
                      int64_t* above, int64_t* queue, Py_ssize_t* tail) noexcept nogil:
    """Adds `step` to `above` for each document of the same score that a group prefers less; queues those that come to 0."""
    cdef Py_ssize_t e, y
    cdef const JudgmentGroup* group
    cdef const Member* members
    cdef const Member* one
    for e in range(starts[doc], starts[doc + 1]):
        group = &room.groups[found[2 * e]]
        members = room.members + group.first
        one = &members[found[2 * e + 1]]
        y = found[2 * e + 1]
        while y > 0 and members[y - 1].tie == one.tie:
            y -= 1
        while y < group.retrieved and members[y].tie == one.tie:
            if prefers(group, one, &members[y]) > 0:
                above[members[y].at] += step
                if above[members[y].at] == 0:
                    queue[tail[0]] = members[y].at
                    tail[0] += 1
            y += 1


cdef bint is_ordered(const PairRoom* room, Py_ssize_t retrieved, const int64_t* starts, const int64_t* found, int64_t* above,
                     int64_t* queue) noexcept nogil:
    """Whether some order of the tied documents fulfils all preferences between them: whether these have no circle."""
    cdef Py_ssize_t i, head = 0, tail = 0
    memset(above, 0, retrieved * sizeof(int64_t))
    for i in range(retrieved):
        count_below(room, i, 1, starts, found, above, queue, &tail)
    for i in range(retrieved):
        if above[i] == 0:
            queue[tail] = i
            tail += 1
    while head < tail:
        count_below(room, queue[head], -1, starts, found, above, queue, &tail)
        head += 1
    return tail == retrieved


# ------------------------------------------------------------------------------------------------------------ the query

cdef struct Sums:
    PairTally all                # over all groups
    PairSums pairs
    int64_t groups
    double[3] by_group       # sums of the shares of groups, for each value of Pairs
    double by_group_r
    double by_group_r_both
    bint unknown             # not even the bounds can be computed
    bint unknown_r


cdef inline double ratio(double a, double b) noexcept nogil:
    return a / b if b > 0 else 0.0


cdef double value_of(const Sums* sums, PreferenceKind kind, PairChoice pairs) noexcept nogil:
    cdef const PairTally* all = &sums.all
    cdef double met = all.met + (<double>all.met_any if pairs != PAIRS_BOTH else 0.0), total
    cdef int64_t number = all.both + (all.any if pairs != PAIRS_BOTH else 0) + (all.neither if pairs == PAIRS_ALL else 0)
    if kind == KIND_NUMBER:
        return <double>number
    if kind == KIND_QUERIES:
        return 1.0
    if sums.unknown or (kind == KIND_GROUPS_R and sums.unknown_r):
        return NAN
    if kind == KIND_MET:
        return met
    if kind == KIND_SHARE:
        return ratio(met, <double>number)
    if kind == KIND_PAIRS:
        number = (sums.pairs.both + (sums.pairs.any if pairs != PAIRS_BOTH else 0)
                  + (sums.pairs.neither if pairs == PAIRS_ALL else 0))
        return ratio(sums.pairs.total_both if pairs == PAIRS_BOTH else sums.pairs.total, <double>number)
    total = sums.by_group[<int>pairs]
    if kind == KIND_GROUPS_R:
        total = sums.by_group_r_both if pairs == PAIRS_BOTH else sums.by_group_r
    return total / <double>sums.groups if total > 0 else 0.0  # also for 0 / 0 in a group


cdef bint summed(PairRoom* room, Py_ssize_t groups, Py_ssize_t docs, Py_ssize_t retrieved, Tied tied, bint by_pair,
                 Sums* sums) noexcept nogil:
    """Sums over the groups of a query; False if there is no memory."""
    cdef Py_ssize_t g, n = 0
    cdef PairTally one
    cdef PairTally* all = &sums.all
    cdef JudgmentGroup* group
    cdef int64_t in_ties = 0
    cdef int64_t* starts
    cdef int64_t* found
    cdef bint shared = False
    memset(sums, 0, sizeof(Sums))
    sums.groups = groups
    for g in range(groups):
        group = &room.groups[g]
        n += group.size
        if group.bits is NULL:
            if not tally_levels(room.members + group.first, group, tied, room, &one):
                return False
        elif not tally_bits(room.members + group.first, group, tied, room, &one):
            return False
        in_ties += one.tied
        all.met += one.met
        all.met_any += one.met_any
        all.both += one.both
        all.any += one.any
        all.neither += one.neither
        sums.by_group[<int>PAIRS_ALL] += ratio(one.met + <double>one.met_any, <double>(one.both + one.any + one.neither))
        sums.by_group[<int>PAIRS_ANY] += ratio(one.met + <double>one.met_any, <double>(one.both + one.any))
        sums.by_group[<int>PAIRS_BOTH] += ratio(one.met, <double>one.both)
        sums.by_group_r += one.met_r / one.all_r if one.all_r > 0 else NAN
        sums.by_group_r_both += one.met_r_both / one.both_r if one.both_r > 0 else NAN
        sums.unknown_r |= one.unknown
    # As if no two groups had a pair in common. Else `pair_sums` replaces it.
    sums.pairs = PairSums(all.met + <double>all.met_any, all.met, all.both, all.any, all.neither)
    if groups == 1 or not (by_pair or (in_ties > 1 and (tied == TIED_BEST or tied == TIED_WORST))):
        return True
    if (not grow(<void**>&room.places, &room.room_places, 3 * (docs + 1) + 2 * n, sizeof(int64_t))
            or not grow(<void**>&room.over, &room.room_over, 2 * docs, sizeof(int32_t))):
        return False
    starts, found = room.places, room.places + 3 * (docs + 1)
    shared = find_members(room, groups, docs, starts, found)
    if in_ties > 1 and (tied == TIED_BEST or tied == TIED_WORST):
        sums.unknown = not is_ordered(room, retrieved, starts, found, room.places + docs + 1, room.places + 2 * (docs + 1))
    if shared and by_pair and not sums.unknown:
        pair_sums(room, docs, retrieved, tied, starts, found, room.tie, &sums.pairs)
    return True


# What a plan asks for.
cdef struct Wish:
    PreferenceKind kind
    PairChoice pairs


cdef Wish wish_of(measure) except *:
    cdef Wish wish
    wish.kind = KINDS[measure.record.name]
    wish.pairs = PAIRS[dict(measure.keywords).get("pairs", "all")]
    return wish


cdef Py_ssize_t order_rows(const Row* rows, Py_ssize_t m, bint ranked, int64_t depth, int64_t* order) noexcept nogil:
    """The places of the rows in the order of the ranking; returns how many are not deeper than `depth`.

    Here trec_eval ranks the *smaller* id first among documents of equal score, unlike for all its other measures.
    """
    cdef Py_ssize_t start = 0, stop, i, n = 0
    while start < m:
        stop = start + 1
        while stop < m and rows[stop].above == rows[start].above:
            stop += 1
        for i in range(start, stop):
            order[n] = start + stop - 1 - i if ranked else i
            if depth > 0 and 2 * rows[order[n]].above + rows[order[n]].tied + 1 - rows[order[n]].rank > depth:
                return n
            n += 1
        start = stop
    return n


cdef Py_ssize_t distinct_levels(const int64_t* own, Py_ssize_t n, int64_t* distinct, int64_t* number) noexcept nogil:
    """Fills in the levels from 0 up of n falling levels, and how many documents have each; returns how many levels."""
    cdef Py_ssize_t i = 0, levels = 0
    while i < n and own[i] >= 0:
        if levels == 0 or own[i] != distinct[levels - 1]:
            distinct[levels] = own[i]
            number[levels] = 0
            levels += 1
        number[levels - 1] += 1
        i += 1
    return levels


cdef inline Py_ssize_t level_place(const int64_t* distinct, Py_ssize_t levels, int64_t level) noexcept nogil:
    """The place of a level among the distinct levels, which fall."""
    cdef Py_ssize_t low = 0, high = levels - 1, middle
    while low < high:
        middle = (low + high) >> 1
        if distinct[middle] > level:
            low = middle + 1
        else:
            high = middle
    return low


cdef bint add_levels(Qrels qrels, Py_ssize_t query, const Row* rows, Py_ssize_t m, bint ranked, int64_t depth, PairRoom* room,
                     Py_ssize_t* docs, Py_ssize_t* retrieved) noexcept nogil:
    """Makes the only group of a query of plain judgments; documents of a level below 0 have no judgment."""
    cdef Py_ssize_t i, kept = 0, levels, n = qrels.offsets[query + 1] - qrels.offsets[query], c
    cdef int64_t* distinct
    cdef int64_t* missing
    cdef int64_t* order
    cdef int64_t level
    cdef Member* one
    if (not grow(<void**>&room.members, &room.room_members, n, sizeof(Member))
            or not grow(<void**>&room.groups, &room.room_groups, 1, sizeof(JudgmentGroup))
            or not grow(<void**>&room.places, &room.room_places, 2 * n + m, sizeof(int64_t))):
        return False
    distinct, missing, order = room.places, room.places + n, room.places + 2 * n
    levels = distinct_levels(qrels.levels + qrels.offsets[query], n, distinct, missing)
    m = order_rows(rows, m, ranked, depth, order)
    for i in range(m):
        level = rows[order[i]].level
        if level >= 0:
            c = level_place(distinct, levels, level)
            one = &room.members[kept]
            one.tie, one.level, one.sign = i if ranked else rows[order[i]].above, c, 1 if level > 0 else 0
            missing[c] -= 1
            kept += 1
    retrieved[0] = kept
    for c in range(levels):
        while missing[c] > 0:
            one = &room.members[kept]
            one.tie, one.level, one.sign = -1, c, 1 if distinct[c] > 0 else 0
            missing[c] -= 1
            kept += 1
    for i in range(kept):
        room.members[i].at = room.members[i].own = i
    docs[0] = kept
    room.groups[0] = JudgmentGroup(0, kept, retrieved[0], levels, NULL, 0)
    return True


@cython.final
cdef class Partial:
    """The groups of judgments with groups, as arrays: of `JudgmentGroups`."""
    cdef const int64_t[::1] docs      # where each query's documents begin
    cdef const int64_t[::1] groups    # where each query's groups begin
    cdef const int64_t[::1] members   # where each group's documents begin
    cdef const int64_t[::1] place     # of each member: the place of the document in the query, by id
    cdef const int64_t[::1] level     # 0 for the highest level of its group
    cdef const int8_t[::1] sign
    cdef const int64_t[::1] levels    # of each group: how many levels; 0 for a partial order
    cdef const int64_t[::1] first     # of each group: its first word of bits
    cdef const uint64_t[::1] bits

    def __init__(self, docs, groups, members, place, level, sign, levels, first, bits):
        self.docs, self.groups, self.members, self.place, self.level = docs, groups, members, place, level
        self.sign, self.levels, self.first, self.bits = sign, levels, first, bits

    cdef void add_group(self, Py_ssize_t g, Py_ssize_t begin, Py_ssize_t docs, Py_ssize_t retrieved, int64_t* slots,
                        PairRoom* room, JudgmentGroup* group) noexcept nogil:
        """Puts the documents of a group into the order of the ranking. `slots`: -1 for each document of the query."""
        cdef Py_ssize_t k = self.members[g], size = self.members[g + 1] - k, i, n = 0
        cdef Member* one
        group.first, group.size, group.levels, group.retrieved = k - begin, size, self.levels[g], 0
        group.words = (size + 63) >> 6
        group.bits = NULL
        if group.levels == 0:
            group.bits = &self.bits[self.first[g]]
        if 8 * size >= docs:
            for i in range(size):
                slots[room.at[self.place[k + i]]] = i
            for i in range(docs):
                if slots[i] >= 0:
                    room.items[n].place = slots[i]
                    slots[i] = -1
                    n += 1
        else:
            for i in range(size):
                room.items[i].key = ~<uint64_t>room.at[self.place[k + i]]
                room.items[i].place = i
            sort_items(room.items, room.spare, size, NULL)
        for i in range(size):
            one = &room.members[group.first + i]
            one.own = room.items[i].place
            one.at = room.at[self.place[k + one.own]]
            one.tie, one.level, one.sign = room.tie[one.at], self.level[k + one.own], self.sign[k + one.own]
            group.retrieved += one.at < retrieved

    cdef bint add(self, Py_ssize_t query, const Row* rows, Py_ssize_t m, bint ranked, int64_t depth, PairRoom* room,
                  Py_ssize_t* docs, Py_ssize_t* retrieved) noexcept nogil:
        """Makes the groups of a query. The level of a row is the place of its document."""
        cdef Py_ssize_t n = self.docs[query + 1] - self.docs[query], g, i, first = self.groups[query], at, kept
        cdef Py_ssize_t number = self.groups[query + 1] - first, most = 0, begin = self.members[first]
        cdef int64_t* order
        for g in range(first, first + number):
            most = max(most, <Py_ssize_t>(self.members[g + 1] - self.members[g]))
        if (not grow(<void**>&room.members, &room.room_members, self.members[first + number] - begin, sizeof(Member))
                or not grow(<void**>&room.groups, &room.room_groups, number, sizeof(JudgmentGroup))
                or not grow(<void**>&room.at, &room.room_at, n, sizeof(int64_t))
                or not grow(<void**>&room.tie, &room.room_tie, n, sizeof(int64_t))
                or not grow(<void**>&room.places, &room.room_places, max(m, n), sizeof(int64_t))
                or not grow(<void**>&room.items, &room.room_items, most, sizeof(KeyedPlace))
                or not grow(<void**>&room.spare, &room.room_spare, most, sizeof(KeyedPlace))):
            return False
        order = room.places
        at = kept = order_rows(rows, m, ranked, depth, order)
        for i in range(n):
            room.at[i] = -1
        for i in range(kept):
            room.at[rows[order[i]].level] = i
            room.tie[i] = i if ranked else rows[order[i]].above
        for i in range(n):
            if room.at[i] < 0:
                room.at[i] = at
                room.tie[at] = -1
                at += 1
        docs[0], retrieved[0] = n, kept
        for i in range(n):
            order[i] = -1
        for g in range(number):
            self.add_group(first + g, begin, n, kept, order, room, &room.groups[g])
        return True


def measure(Judged judged, list measures, str reading="ranks", int64_t depth=-1, Partial partial=None):
    """Values of measures of preferences for each query of the judgments: an array (measures, queries).

    Without `partial`, each query has a single group, which the levels of the judgments order. NaN means that the value cannot
    be computed.
    """
    cdef Py_ssize_t q = 0, stop, i, n = judged.qrels.names.docs.size, m = len(measures), docs = 0, retrieved = 0
    cdef Tied tied = TIED[reading]
    cdef PairRoom room
    cdef Sums sums
    cdef Section section
    cdef const Row* rows
    cdef Qrels qrels = judged.qrels
    cdef bint full = False, by_pair = False
    cdef cnp.ndarray found = cnp.PyArray_EMPTY(2, [m, n], cnp.NPY_DOUBLE, 0)
    cdef double* values = <double*>cnp.PyArray_DATA(found)
    cdef Wish* wishes = <Wish*>PyMem_RawCalloc(max(m, 1), sizeof(Wish))
    memset(&room, 0, sizeof(PairRoom))
    try:
        if wishes is NULL:
            raise MemoryError
        for i in range(m):
            wishes[i] = wish_of(measures[i])
            by_pair |= wishes[i].kind == KIND_PAIRS
        while q < n:
            stop = min(q + 256, n)
            with nogil:
                while q < stop and not full:
                    section = judged.section(q)
                    rows = judged.rows.items + section.first
                    if partial is None:
                        full = not add_levels(qrels, q, rows, section.last - section.first, tied == TIED_RANKED, depth, &room,
                                              &docs, &retrieved)
                    else:
                        full = not partial.add(q, rows, section.last - section.first, tied == TIED_RANKED, depth, &room, &docs,
                                               &retrieved)
                    i = 1 if partial is None else partial.groups[q + 1] - partial.groups[q]
                    full = full or not summed(&room, i, docs, retrieved, tied, by_pair, &sums)
                    for i in range(0 if full else m):
                        values[i * n + q] = value_of(&sums, wishes[i].kind, wishes[i].pairs)
                    q += 1
            if full:
                raise MemoryError
            PyErr_CheckSignals()
    finally:
        PyMem_RawFree(wishes)
        free_room(&room)
    return found


# --------------------------------------------------------------------------------------------------------------- lines

cdef inline bint is_blank(char c) noexcept nogil:
    return c == 32 or (c >= 9 and c <= 13)  # what C calls a space


def columns_of_lines(bytes text, Py_ssize_t columns):
    """The words of the lines of a text by column, as lists of bytes, and the number of each line from 0.

    Empty lines and lines that begin with # are left out. It stops at a line with another number of words, and returns that line
    and its number of words as well; else None. A word that is that of the line before is the same object.
    """
    cdef const char* p = PyBytes_AS_STRING(text)
    cdef const char* end = p + PyBytes_GET_SIZE(text)
    cdef const char* stop
    cdef const char* start
    cdef Py_ssize_t line = 0, rows = 0, n
    cdef list found = [[] for _ in range(columns)], before = [b""] * columns
    cdef cnp.ndarray numbers_ = np.empty(text.count(b"\n") + 1, np.int64)
    cdef int64_t[::1] numbers = numbers_
    while p < end:
        stop = <const char*>memchr(p, 10, end - p)
        if stop is NULL:
            stop = end
        n = 0
        while True:
            while p < stop and is_blank(p[0]):
                p += 1
            if p == stop or (n == 0 and p[0] == 35):
                break
            start = p
            while p < stop and not is_blank(p[0]):
                p += 1
            if n < columns:
                word = before[n]
                if PyBytes_GET_SIZE(word) != p - start or memcmp(PyBytes_AS_STRING(word), start, p - start) != 0:
                    before[n] = word = PyBytes_FromStringAndSize(start, p - start)
                (<list>found[n]).append(word)
            n += 1
        if n == columns:
            numbers[rows] = line
            rows += 1
        elif n > 0:
            return found, numbers_[:rows], (line, n)
        line += 1
        if line % (1 << 17) == 0:
            PyErr_CheckSignals()
        p = stop + 1
    return found, numbers_[:rows], None


# ------------------------------------------------------------------------------------------------------------- closures

def closed(Py_ssize_t size, const int64_t[::1] doc, const int64_t[::1] level, const int64_t[::1] subgroup,
           uint64_t[::1] bits):
    """Fills the rows of bits of a partial order with what its subgroups say, and with what follows from that.

    `doc`: of each judgment, the document's place in the group. `level`: the number of its level among all levels of all
    subgroups, rising. `subgroup`: the subgroup of each level; the levels of a subgroup fall. Returns for each document whether
    it is in a circle, or above a circle.
    """
    cdef Py_ssize_t n = doc.shape[0], nodes = subgroup.shape[0], words = (size + 63) >> 6, i, e, w, head = 0, tail = 0, v
    cdef int64_t a, b
    cdef uint64_t* row
    cdef cnp.ndarray starts_, order_, waits_, open_, queue_, below_
    level_starts = np.searchsorted(level, np.arange(nodes + 1))
    order_ = np.argsort(doc, kind="stable").astype(np.int64)
    starts_ = np.searchsorted(np.asarray(doc)[order_], np.arange(size + 1)).astype(np.int64)
    open_ = np.diff(level_starts).astype(np.int64)  # of each level: its documents that wait
    waits_, queue_, below_ = np.zeros(size, np.int64), np.empty(size, np.int64), np.empty(words, np.uint64)
    cdef const int64_t[::1] first = level_starts.astype(np.int64), order = order_, starts = starts_
    cdef int64_t[::1] waiting = open_, waits = waits_, queue = queue_
    cdef uint64_t[::1] below = below_
    with nogil:
        for e in range(n):  # a document waits for each of its levels that has a level below
            v = level[e]
            waits[doc[e]] += v + 1 < nodes and subgroup[v + 1] == subgroup[v]
        for i in range(size):
            if waits[i] == 0:
                queue[tail] = i
                tail += 1
        while head < tail:
            b = queue[head]
            head += 1
            for i in range(starts[b], starts[b + 1]):
                v = level[order[i]]
                waiting[v] -= 1
                if waiting[v] > 0 or v == 0 or subgroup[v - 1] != subgroup[v]:
                    continue
                for w in range(words):
                    below[w] = 0
                for e in range(first[v], first[v + 1]):
                    row = &bits[doc[e] * words]
                    for w in range(words):
                        below[w] |= row[w]
                    below[doc[e] >> 6] |= <uint64_t>1 << (doc[e] & 63)
                for e in range(first[v - 1], first[v]):
                    a = doc[e]
                    row = &bits[a * words]
                    for w in range(words):
                        row[w] |= below[w]
                    waits[a] -= 1
                    if waits[a] == 0:
                        queue[tail] = a
                        tail += 1
    return waits_ > 0


# ------------------------------------------------------------------------------------------------------ a ranking for each

def spread(Judged judged, Qrels qrels, const int64_t[::1] groups, const int64_t[::1] members, const int64_t[::1] place,
           const int64_t[::1] level):
    """The judged documents of each group: a `Judged` of `qrels`, which has a query for each group.

    In `judged` the level of a row is the place of its document. The other arrays are as in `Partial`, but `level` has levels.
    """
    cdef Judged found = Judged.start(qrels, judged.source, judged.tag, "score", judged.single)
    cdef Py_ssize_t q, g, i
    cdef int64_t before, docs = 0
    cdef Section section
    cdef Row row
    cdef cnp.ndarray here
    cdef int64_t* own
    if place.shape[0] > 0:
        docs = int(np.max(place)) + 1
    here = np.full(2 * docs, -1, np.int64)  # of each document: the group that has it, and its level there
    own = <int64_t*>cnp.PyArray_DATA(here)
    for q in range(groups.shape[0] - 1):
        section = judged.section(q)
        if section.retrieved < 0:
            continue
        for g in range(groups[q], groups[q + 1]):
            for i in range(members[g], members[g + 1]):
                own[2 * place[i]] = g
                own[2 * place[i] + 1] = level[i]
            before = found.rows.size
            if not grow(<void**>&found.rows.items, &found.rows.capacity, before + section.last - section.first, sizeof(Row)):
                raise MemoryError
            for i in range(section.first, section.last):
                row = judged.rows.items[i]
                if own[2 * row.level] == g:
                    row.level = own[2 * row.level + 1]
                    found.rows.items[found.rows.size] = row
                    found.rows.size += 1
            if not found.add_section(g, before, section.retrieved):
                raise MemoryError
        PyErr_CheckSignals()
    return found
