"""Spark's daemon that forks Python workers, with what every worker imports.

A task that fails ends its worker, and the next worker would import pandas, pyarrow and hitcurve again. The threads
that numpy and pyarrow start with their import are made for forks.
"""

import pandas  # noqa: F401
import pyarrow.compute
import pyarrow.pandas_compat  # noqa: F401
import pyspark.sql.pandas.serializers
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import hitcurve.spark  # noqa: F401

if __name__ == "__main__":
    manager()
