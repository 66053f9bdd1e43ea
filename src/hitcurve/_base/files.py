"""Files: their format and compression by name, reading, writing, and a check that no file changes while it is read."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from hitcurve._base.extras import needed

__all__ = [
    "BROKEN", "LONGEST", "OpenMark", "Path", "RowEnd", "TextFile", "check_unchanged", "file_kind", "file_name",
    "file_state", "first_line", "opened", "opened_text", "parquet_errors", "same_file", "write_file",
]  # fmt: skip

_KINDS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".parquet": "parquet", ".pq": "parquet", ".smi": "smiles",
          ".smiles": "smiles", ".ism": "smiles", ".sdf": "sdf", ".sd": "sdf", ".xlsx": "excel"}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".xz": "lzma", ".bz2": "bz2"}
_PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "lzma", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
BROKEN = (OSError, LookupError, NotImplementedError, OverflowError, TypeError, UnicodeError)
"""The errors that pyarrow raises for a broken Parquet file, besides its own."""
_NO_THREAD = "Failed to launch worker thread"  # Arrow's text for a lack of memory
_PIECE = 1 << 20  # bytes of a file read at once
_PIPE = 1 << 16  # bytes of a stream read at once: as many as a pipe holds
LONGEST = 64 << 20  # bytes of a line, and of a cell in quotation marks
_SHOWN = 40  # bytes of a cell that an error shows
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")  # names of open files

Path = str | os.PathLike[str]


def first_line(error: Exception) -> str:
    """The first line of an error's text. Raises MemoryError if the error is a lack of memory, whatever its class is."""
    line = str(error).split("\n", 1)[0]
    if isinstance(error, MemoryError) or _NO_THREAD in line:
        raise MemoryError(line) from None
    return line


@contextmanager
def parquet_errors(shown: Path) -> Iterator[None]:
    """Raises pyarrow's errors about a broken Parquet file as ValueError. Errors of the operating system stay."""
    arrow = needed("pyarrow", "Parquet")
    try:
        yield
    except (*BROKEN, arrow.ArrowException) as error:
        if getattr(error, "filename", None) is not None:
            raise
        raise ValueError(f"{os.fspath(shown)}: cannot be read: {first_line(error)}") from None


def file_state(path: Path) -> tuple[int, ...] | None:
    """Size, time and inode of a file, which differ after the file was written to or replaced. None for a stream."""
    if os.fspath(path) == "-":
        return None
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # ValueError: not a valid file name
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def check_unchanged(path: Path, state: tuple[int, ...] | None) -> None:
    """Raises an error if the file no longer has this state, as given by `file_state`."""
    if file_state(path) != state:
        raise ValueError(f"{os.fspath(path)}: changed while it was read")


def file_kind(path: Path) -> tuple[str, str, str | None]:
    """(the file's name in errors; "parquet", "sdf", "smiles", "excel" or the delimiter; the compression)."""
    text = os.fspath(path)
    if text == "-":
        return "standard input", ",", None
    suffix, compression = _suffix(text)
    if suffix not in _KINDS:
        raise ValueError(f"{text}: the name must end in {', '.join(_KINDS)}, optionally followed by "
                         f"{', '.join(_COMPRESSIONS)}")
    return text, _KINDS[suffix], compression


def file_name(path: Path) -> str:
    """The name of a file without its folder and without the suffix of its compression."""
    name = os.path.basename(os.fspath(path)) or os.fspath(path)
    stem, suffix = os.path.splitext(name)
    return stem if stem and suffix.lower() in _COMPRESSIONS else name


def _suffix(text: str) -> tuple[str, str | None]:
    """(the suffix of the format, without the suffix of the compression; the compression)."""
    stem, suffix = os.path.splitext(text.lower())
    compression = _COMPRESSIONS.get(suffix)
    return os.path.splitext(stem)[1] if compression else suffix, compression


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file and decompress it. Text becomes UTF-8, with line ends that both Python and Arrow know.

    The line ``sep=;`` at the start of a table from Excel becomes empty: the delimiter is detected without it.
    """
    if os.fspath(path) == "-":
        yield _Lines.of(_Pieces.of(_standard_input()))
        return
    suffix, compression = _suffix(os.fspath(path))
    table = _KINDS.get(suffix) in ("parquet", "excel")
    with open(path, "rb", 1 << 16) as file:
        if compression is None:
            yield file if table else _Lines.of(file if file_state(path) else _Pieces.of(file))
            return
        arrow = needed("pyarrow", "reading compressed files")
        stream = io.BufferedReader(_Unpacked(file, compression, arrow), 1 << 20)
        # A table is read from its end, which a compressed stream does not offer.
        yield arrow.BufferReader(_to_the_end(stream.read)) if table else _Lines.of(stream)


def _standard_input() -> Any:
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return sys.stdin.buffer


@contextmanager
def opened_text(path: Path, pieces: bool = False) -> Iterator[tuple[str, Any]]:
    """(name, text) of a file, decompressed if its first bytes say so. The text is None for Parquet.

    With `pieces` the text is a `TextFile`, unless it comes from a stream that is not compressed.
    """
    name = os.fspath(path)
    if name == "-":
        name = "standard input"
        yield name, _text_of(name, io.BytesIO(_to_the_end(_standard_input().read1)), None, pieces)
        return
    with open(name, "rb", 0) as file:
        state, source = file_state(name), file
        if state is None or not state[0]:  # a file that is not regular can be read only once, and some have no size
            state, source = None, io.BytesIO(_to_the_end(file.read))  # type: ignore[assignment]
        yield name, None if source.read(4) == b"PAR1" else _text_of(name, source, state, pieces)


def _text_of(name: str, file: Any, state: tuple[int, ...] | None, pieces: bool) -> Any:
    source = TextFile(name, file, state)
    return source if pieces and (state or source.packed) else source.read()


def _to_the_end(read: Callable[[int], bytes]) -> bytes:
    """Read a stream to its end, piece by piece. Ctrl-C works between two pieces, but may not work in one long read."""
    held = io.BytesIO()
    while piece := read(_PIPE):
        held.write(piece)
    return held.getvalue()


class TextFile:
    """A text file that is read into memory, decompressed if its first bytes say so.

    The file is not mapped: the process would crash if another process cut a mapped file short. After each read the
    state of the file is compared with `state`. None means that the file is already in memory.
    """

    def __init__(self, name: str, file: Any, state: tuple[int, ...] | None) -> None:
        self.name, self.file, self.state = name, file, state
        self.size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(max(map(len, _PACKED)))
        self.packed = next((kind for mark, kind in _PACKED.items() if head.startswith(mark)), None)
        self._begin()

    def _begin(self) -> None:
        self.file.seek(0)
        self.stream = self.file
        if self.packed:
            arrow = needed("pyarrow", f"{self.name}: zstd") if self.packed == "zstd" else None
            self.stream = _Unpacked(self.file, self.packed, arrow)
        self.end = sys.maxsize if self.packed else self.size  # unknown until it is reached, if compressed
        self.room = bytearray(min(_PIECE, self.end))
        self.held = self.place = 0

    def _check(self, some: Any) -> None:
        if self.state:
            check_unchanged(self.name, self.state if some else ())  # nothing was read: the file is shorter than before

    def _read(self, read: Any, *args: Any) -> Any:
        """Call a reading method of the stream, and check that the file did not change."""
        try:
            found = read(*args)
        except OSError as error:
            if not self.packed or error.errno is not None:
                raise
            self._check(True)
            raise ValueError(f"{self.name}: cannot be decompressed: {error}") from None
        self._check(found or self.packed)
        return found

    def reached(self, place: int) -> int:
        """The position in the file, roughly, of a position in its decompressed text."""
        return int(self.file.tell()) if self.packed else place

    def head(self) -> bytes:
        """The first piece of the text, after a check that the whole file can be decompressed."""
        self._begin()
        self.more(0)
        head = bytes(memoryview(self.room)[: self.held])
        while self.packed and self._read(self.stream.readinto, self.room):
            pass
        return head

    def read(self) -> bytes:
        """The whole text."""
        self._begin()
        if self.packed:
            return self._read(_to_the_end, self.stream.read)  # type: ignore[no-any-return]
        text: bytes = self._read(self.file.readall if self.state else self.file.read)
        return text

    def more(self, done: int) -> tuple[memoryview, bool]:
        """Drop the text up to `done` and read on. Returns whole lines, and whether the file ends after these lines.

        A line longer than `LONGEST` is returned as the last line and may be incomplete: the parser refuses it.
        """
        tail = self.held - done
        room = bytearray(2 * len(self.room)) if 2 * tail > len(self.room) else self.room
        room[:tail] = self.room[done : self.held]
        self.room, self.held = room, tail
        while self.held < len(room) and self.place < self.end:
            got = self._read(self.stream.readinto, memoryview(room)[self.held : self.held + _PIECE])
            self.held += got
            self.place += got
            if not got:
                self.end = self.place
        last = self.place >= self.end
        lines = self.held if last else room.rfind(b"\n", 0, self.held) + 1
        if self.held - lines > LONGEST + len(codecs.BOM_UTF8):  # the parser does not count the mark
            lines, last = self.held, True
        return memoryview(room)[:lines], last


class _Unpacked(io.RawIOBase):
    """A file's decompressed bytes. `arrow`, if given, unpacks gzip and zstd. Broken data: an OSError without errno."""

    def __init__(self, file: Any, kind: str, arrow: Any) -> None:
        if arrow is not None and kind in ("gzip", "zstd"):
            kept = SimpleNamespace(read=file.read, close=bool, closed=False)  # Arrow would close it
            self.stream = arrow.CompressedInputStream(arrow.PythonFile(kept, "r"), kind)
            self.broken: tuple[type[Exception], ...] = (EOFError,)
        else:
            module = import_module(kind)
            self.stream = module.open(file)
            self.broken = (EOFError, zlib.error, getattr(module, "LZMAError", EOFError))

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        try:
            got: int = self.stream.readinto(room)
        except self.broken as error:
            raise OSError(str(error)) from None
        return got


def same_file(path: Path, other: Path | int) -> bool:
    """Whether both are the same regular file, by any name or link. A number is an open file's descriptor."""
    try:
        one, two = os.stat(path), os.stat(other)
    except (OSError, ValueError):  # ValueError: not a valid file name
        return False
    return stat.S_ISREG(one.st_mode) and os.path.samestat(one, two)


def write_file(path: Path, data: bytes) -> None:
    """Write these bytes to a temporary file, which then replaces `path`.

    If writing fails, an OSError names `path`, and the old file stays. A device, a pipe, and a file in a folder that
    allows no new files are written to directly.
    """
    name = os.fspath(path)
    made = None
    try:
        target = os.path.realpath(name)
        mode = os.stat(name).st_mode if os.path.exists(name) else None
        if mode is None or (stat.S_ISREG(mode) and not name.startswith(_STREAMS)):
            if mode is not None and not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            made = os.path.join(os.path.dirname(target), f".hitcurve-{os.urandom(8).hex()}.tmp")
        try:
            file = open(made or name, "xb" if made else "wb")  # noqa: SIM115 (below)
        except PermissionError:
            if mode is None or made is None:
                raise
            made, file = None, open(target, "wb")  # noqa: SIM115
        with file:
            file.write(data)
        if made is not None:
            if mode is not None:
                os.chmod(made, stat.S_IMODE(mode))
            os.replace(made, target)
            made = None
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None
    finally:
        if made is not None:
            with suppress(OSError):
                os.unlink(made)


class _Pieces(io.RawIOBase):
    """A stream that is read piece by piece, so that Ctrl-C works as in `_to_the_end`."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    @classmethod
    def of(cls, stream: Any) -> Any:
        return io.BufferedReader(cls(stream), _PIPE)

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        data = self.stream.read1(len(room))
        room[: len(data)] = data
        return len(data)


class _Lines(_Pieces):
    """A stream whose lines end in a single CR, which becomes LF."""

    @classmethod
    def of(cls, stream: Any) -> Any:
        """The stream itself, if its first line does not end in CR."""
        if stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            stream = io.BufferedReader(_Recoded(stream), 1 << 20)
        line = stream.peek(1).partition(b"\n")[0]
        if named := re.match(rb'(\xef\xbb\xbf)?"?sep=[^\r\n]"?(\r\Z|(?=\r)|\Z)', line):
            stream.read(named.end())
        return io.BufferedReader(cls(stream), 1 << 20) if b"\r" in line[:-1] else stream

    def readinto(self, room: Any) -> int:
        data = self.stream.read1(len(room))
        if data.endswith(b"\r") and self.stream.peek(1).startswith(b"\n"):
            data = data[:-1] + self.stream.read(1)
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        room[: len(data)] = data
        return len(data)


class _Recoded(io.RawIOBase):
    """A stream of UTF-16 with a byte order mark, converted to UTF-8."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.held = stream, b""
        self.decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self.held:
            data = self.stream.read1(1 << 16)
            try:
                self.held = self.decoder.decode(data, final=not data).encode("utf-8", "surrogatepass")
            except UnicodeDecodeError as error:
                raise OSError(f"begins as UTF-16, but is not valid UTF-16: {error.reason}") from None
            if not data:
                break
        size = min(len(room), len(self.held))
        room[:size], self.held = self.held[:size], self.held[size:]
        return size


class OpenMark(ValueError):
    """The error for a cell whose opening quotation mark is not closed. `index` is the line of the mark."""

    def __init__(self, index: int, cell: bytes, problem: str = "") -> None:
        shown = cell.decode("utf-8", "ignore").rstrip()
        super().__init__(f"line {index}: the quotation mark that begins the cell {shown!r} is not closed{problem}")
        self.index = index


class RowEnd:
    """Finds where the rows of delimited text end: a line break between quotation marks does not end a row.

    A quotation mark at the start of a cell opens the cell; anywhere else it is a character. Inside an open cell, two
    quotation marks stand for one. `OpenMark` is raised for a cell of several lines that no quotation mark closes, or
    that goes on after the closing quotation mark.
    """

    def __init__(self, delimiter: str, lines: int = 0) -> None:
        self.ends = delimiter.encode() + b"\n\r"  # of cells
        self.cell = re.compile(rb'"(?<![^%b]")[^"]*+(?:""[^"]*+)*+("?)' % self.ends)  # a cell in quotation marks
        self.beside = np.isin(np.arange(256), list(self.ends + b'"'))  # characters that may stand next to a quoted cell
        self.lines = lines  # lines that were read before
        self.quoted = False
        self.length = 0  # of the row so far
        self.opened = (0, b"")  # the line and the first bytes of the open cell

    def __call__(self, piece: bytes, line: bytes) -> bool:
        """Whether the row ends with `line`. The `piece` before it is read only by the first call for a row."""
        if not self.quoted:
            self.length = 0
            self._read(piece if self.lines else piece.removeprefix(codecs.BOM_UTF8))
        self._read(line if self.lines else line.removeprefix(codecs.BOM_UTF8))
        self.length += len(line)
        if self.quoted and self.length >= LONGEST:  # it would keep the whole file in memory
            raise OpenMark(*self.opened, f" within {LONGEST >> 20} MiB")
        return not self.quoted

    def end(self) -> None:
        """The text ends here."""
        if self.quoted:
            raise OpenMark(*self.opened)

    def _read(self, text: bytes) -> None:
        """Read whole lines."""
        if b'"' in text:
            self._marks(text)
        # bytes.count stops at each line, and lines are short.
        self.lines += int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))

    def _marks(self, text: bytes) -> None:
        letters = np.frombuffer(text, np.uint8)
        marks = np.flatnonzero(letters == ord('"'))
        opening, closing = marks[int(self.quoted) :: 2], marks[int(not self.quoted) :: 2]
        before, behind = letters[opening[opening > 0] - 1], letters[closing[closing < len(text) - 1] + 1]
        # Usually quotation marks open and close in turn: two marks in a row end a cell and start the next cell.
        if self.beside[before].all() and self.beside[behind].all():
            self.quoted ^= bool(marks.shape[0] % 2)
            begun = opening[(opening == 0) | (letters[opening - 1] != ord('"'))] if self.quoted else opening[:0]
            for start in begun[-1:].tolist():
                self._open(text, start)
            return
        shift, cell = int(self.quoted), None
        for cell in self.cell.finditer(b'"' + text if shift else text):
            start, end = cell.start() - shift, cell.end() - shift
            long = start < 0 or b"\n" in cell[0]
            if start >= 0 and (long or not cell[1]):
                self._open(text, start)
            if long and cell[1] and end < len(text) and text[end] not in self.ends:
                line = self.lines + text.count(b"\n", 0, end) + 1
                raise OpenMark(*self.opened, f": the next quotation mark, in line {line}, does not end the cell")
        self.quoted = cell is not None and not cell[1]

    def _open(self, text: bytes, start: int) -> None:
        """Note that the cell at `start` is open."""
        line = text[start : start + _SHOWN].partition(b"\n")[0]
        self.opened = self.lines + text.count(b"\n", 0, start) + 1, line
