"""Files by their names: what they hold, what packs them, and whether they were written to meanwhile."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hitcurve._extras import needed

__all__ = ["Path", "check_unchanged", "file_kind", "file_state", "opened"]

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
_SMILES = (".smi", ".smiles", ".ism")
_SDF = (".sdf", ".sd")
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}

Path = str | os.PathLike[str]


def file_state(path: Path) -> tuple[int, ...] | None:
    """What differs when a file was written to or put in the place of another; None for a stream."""
    if os.fspath(path) == "-" or not os.path.isfile(path):
        return None
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def check_unchanged(path: Path, state: tuple[int, ...] | None) -> None:
    """An error if the file is in another state than it was."""
    if file_state(path) != state:
        raise ValueError(f"{os.fspath(path)}: changed while it was read")


def file_kind(path: Path) -> tuple[str, str, str | None]:
    """What errors call the file; "parquet", "sdf", "smiles" or the delimiter; the compression."""
    text = os.fspath(path)
    if text == "-":
        return "standard input", ",", None
    stem, suffix = os.path.splitext(text)
    compression = _COMPRESSIONS.get(suffix.lower())
    if compression:
        suffix = os.path.splitext(stem)[1]
    suffix = suffix.lower()
    for kind, suffixes in (("parquet", _PARQUET), ("sdf", _SDF), ("smiles", _SMILES)):
        if suffix in suffixes:
            return text, kind, compression
    if suffix in _DELIMITERS:
        return text, _DELIMITERS[suffix], compression
    raise ValueError(
        f"{text}: the name must end in {', '.join((*_DELIMITERS, *_PARQUET, *_SMILES, *_SDF))}, each also with "
        f"{', '.join(_COMPRESSIONS)} after it"
    )


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The bytes of the file, decompressed; text with a line end that Python and Arrow both know."""
    text = os.fspath(path)
    if text == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        yield _Lines.of(sys.stdin.buffer)
        return
    stem, suffix = os.path.splitext(text)
    compression = _COMPRESSIONS.get(suffix.lower())
    table = (text if compression is None else stem).lower().endswith(_PARQUET)
    with open(path, "rb", 1 << 16) as file:
        if compression is None:
            yield file if table else _Lines.of(file)
            return
        pa = needed("pyarrow", "reading compressed files")
        with pa.input_stream(file, compression=compression) as stream:
            # Parquet is read from its end, which a compressed stream does not offer.
            yield pa.BufferReader(stream.read()) if table else _Lines.of(io.BufferedReader(stream, 1 << 20))


class _Lines(io.RawIOBase):
    """A stream whose lines end in CR alone, with LF in its place."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    @classmethod
    def of(cls, stream: Any) -> Any:
        """The stream itself, if its first line ends otherwise."""
        line = stream.peek(1).partition(b"\n")[0]
        return io.BufferedReader(cls(stream), 1 << 20) if b"\r" in line[:-1] else stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        data = self.stream.read1(len(room))
        if data.endswith(b"\r") and self.stream.peek(1).startswith(b"\n"):
            data = data[:-1] + self.stream.read(1)
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        room[: len(data)] = data
        return len(data)
