"""The values of an evaluation as JSON and in Parquet files."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from hitcurve._base.extras import needed
from hitcurve._base.files import opened_text, write_file
from hitcurve.retrieval.formats import is_json
from hitcurve.retrieval.reading import parquet

__all__ = ["as_text", "of_json", "of_parquet", "write_parquet"]

_Path = str | os.PathLike[str]
#: The fields of an evaluation, its query ids, and the values of each measure.
_Parts = tuple[dict[str, Any], list[str], dict[str, Any]]
_KEY = "hitcurve"  # of the metadata of a Parquet file


def as_text(tree: dict[str, Any]) -> str:
    """JSON that every file can hold: if an id is not UTF-8, characters beyond ASCII are escaped."""
    text = json.dumps(tree, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(tree)
    return text


def of_json(source: _Path | bytes, keys: Sequence[str]) -> _Parts:
    """From a text in JSON, or from a file with such a text. `keys`: the fields that it must have."""
    if isinstance(source, bytes) or (isinstance(source, str) and (is_json(source) or not source.strip())):
        return _of_text(source, "text", keys)
    with opened_text(source) as (name, text):
        if text is None:
            raise ValueError(f"{name} is a Parquet file: read it with Evaluation.from_parquet")
        return _of_text(bytes(text), name, keys)


def _of_text(text: str | bytes, name: str, keys: Sequence[str]) -> _Parts:
    fields = _fields(text, name, "to_json", keys, "queries")
    columns: dict[str, list[float]] = {measure: [] for measure in fields["means"]}
    for query, row in fields["queries"].items():
        if not isinstance(row, dict) or row.keys() != columns.keys():
            raise ValueError(f"{name}: query {query!r} does not have the measures of the means: {row!r}")
        for measure, value in row.items():
            columns[measure].append(_number(value, name, f"{measure} of query {query!r}"))
    values = {measure: np.array(column, np.float64) for measure, column in columns.items()}
    return fields, list(fields["queries"]), values


def write_parquet(path: _Path, fields: dict[str, Any], query_ids: list[str], columns: dict[str, Any]) -> None:
    """Write the columns of a frame, with the fields of the evaluation in the metadata of the schema."""
    pyarrow, files = (needed(name, "to_parquet") for name in ("pyarrow", "pyarrow.parquet"))
    if columns["query_id"] != query_ids:  # ids that are not UTF-8: the column has them escaped
        fields = {**fields, "query_ids": query_ids}
    columns = {**columns, "query_id": pyarrow.array(columns["query_id"], pyarrow.string())}
    out = io.BytesIO()
    files.write_table(pyarrow.table(columns).replace_schema_metadata({_KEY: as_text(fields)}), out)
    write_file(path, out.getvalue())


def of_parquet(path: _Path, keys: Sequence[str]) -> _Parts:
    """From a file that `write_parquet` wrote. `keys`: the fields that it must have."""
    name, table = os.fspath(path), parquet(path)
    text = (table.schema.metadata or {}).get(_KEY.encode())
    if text is None:
        raise ValueError(f"{name}: Evaluation.to_parquet did not write this: the metadata of the schema have no key "
                         f"{_KEY!r}")
    fields = _fields(text, name, "to_parquet", keys)
    if table.column_names != ["query_id", *fields["means"]]:
        raise ValueError(f"{name}: the columns are {', '.join(table.column_names)}, but by the metadata they are "
                         f"query_id, {', '.join(fields['means'])}")
    ids, *columns = table.columns
    values = {measure: np.array(column.to_numpy(), np.float64)
              for measure, column in zip(fields["means"], columns, strict=True)}  # fmt: skip
    return fields, fields.get("query_ids", ids.to_pylist()), values


def _fields(text: str | bytes, name: str, writer: str, keys: Sequence[str], *more: str) -> dict[str, Any]:
    """What `as_text` wrote, or an error."""
    told = f"{name}: Evaluation.{writer} did not write this"
    try:
        fields: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{told}: JSON: {error}") from None
    for key in (*keys, "measures", "means", *more):
        if not isinstance(fields, dict) or key not in fields:
            raise ValueError(f"{told}: it has no {key!r}")
    for key in ("counts", "definitions", "measures", "means", *more, *(("groups",) if "groups" in fields else ())):
        if not isinstance(fields[key], dict):
            raise ValueError(f"{told}: {key!r} is not an object")
    if fields["measures"].keys() != fields["means"].keys():
        raise ValueError(f"{told}: 'measures' and 'means' have different measures")
    for measure, mean in fields["means"].items():
        _number(mean, name, f"the mean of {measure}")
    return fields


def _number(value: Any, name: str, what: str) -> float:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError(f"{name}: {what} is {value!r}: it must be a number or null")
    return math.nan if value is None else float(value)
