# Kernels of the ROC curve of a hit-curve table. Plain pointers, no Python objects, nothing raised.
from hitcurve._kernel.groups cimport Reading, Table

cdef double roc_auc(const Table* table, const Reading* reading) noexcept nogil
cdef double partial_roc_area(const Table* table, const Reading* reading) noexcept nogil
cdef double partial_roc_auc(const Table* table, const Reading* reading) noexcept nogil
cdef double roc_area_from_fpr(const Table* table, const Reading* reading) noexcept nogil
cdef double roc_auc_from_fpr(const Table* table, const Reading* reading) noexcept nogil
cdef double roc_area_from_tpr(const Table* table, const Reading* reading) noexcept nogil
cdef double roc_auc_from_tpr(const Table* table, const Reading* reading) noexcept nogil
cdef double auac(const Table* table, const Reading* reading) noexcept nogil
cdef double roc_enrichment(const Table* table, const Reading* reading) noexcept nogil
cdef double log_auc(const Table* table, const Reading* reading) noexcept nogil
cdef double adjusted_log_auc(const Table* table, const Reading* reading) noexcept nogil
