"""Profiles, flame graphs and comparisons of traces."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import html
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Union

from ._library import (Error, choice, decoded, encoded_path, interruptible, known_task, lib, status_text,
                       tw_calltree_options, tw_flame_options, tw_profile_options)

if TYPE_CHECKING:
    from ._trace import Trace

BY = {"function": 0, "thread": 1, "caller": 2, "object": 3, "class": 4, "module": 5, "line": 6, "whole-thread": 7,
      "async": 8}
DIFF_BY = {"self": 0, "total": 1, "count": 2, "p50": 3}
SIGNIFICANCE = (None, False, True)
SHOWN = 50  # rows of a table in a notebook


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], count: int) -> str:
    """A table for a notebook, of the first rows."""
    def cells(tag: str, values: Iterable[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(value))}</{tag}>" for value in values) + "</tr>"

    shown = [row for row, _ in zip(rows, range(SHOWN))]
    more = f"<p>{count - SHOWN} more rows</p>" if count > SHOWN else ""
    return f"<table>{cells('th', columns)}{''.join(cells('td', row) for row in shown)}</table>{more}"


def _weights() -> "dict[str, int]":
    found = {}
    number = 1
    while lib.tw_weight_name(number):
        found[lib.tw_weight_name(number).decode()] = number
        number += 1
    return found


def _weight(word: Optional[str]) -> int:
    return 0 if word is None else choice("weight", word, _weights())


class _Table:
    """Rows, with pandas and a notebook in mind."""

    _rows: List[Any]
    columns: Sequence[str]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def __getitem__(self, row: int) -> Any:
        return self._rows[row]

    def _repr_html_(self) -> str:
        return html_table(self.columns, self._rows, len(self._rows))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the rows."""
        import pandas
        return pandas.DataFrame.from_records(self._rows, columns=self.columns)

    df = to_pandas


class Function(NamedTuple):
    """A row of a profile. `total` and `self` are of the weight: nanoseconds of calls, or samples, bytes, ...; min to max
    of single calls, 0 of samples."""

    name: str
    count: int  # type: ignore[assignment]  # a tuple's own count() is of no use here
    total: int
    self: int
    min: int
    p50: int
    p90: int
    p99: int
    max: int
    open: int
    unwound: int
    caller: Optional[str]
    process: int
    thread: Optional[int]
    thread_name: Optional[str]
    file: Optional[str]
    line: int


class Profile(_Table):
    """Where time went: a Function a row, those that took most themselves first. `weight` is what was counted."""

    columns = Function._fields

    def __init__(self, trace: "Trace", by: str, weight: Optional[str]):
        self._handle = ctypes.c_void_p()
        options = tw_profile_options(by=choice("rows by", by, BY), weight=_weight(weight))
        try:
            _fill(trace, lib.tw_profile_add, _new(lib.tw_profile_new, self._handle, options),
                  order=1 if by == "async" else 0)
            self.weight: str = lib.tw_weight_name(lib.tw_profile_weight(self._handle)).decode()
            self._rows = sorted(self._read(), key=lambda row: (-row.self, row.name))
        except BaseException:
            self._free()
            raise

    def _read(self) -> Iterator[Function]:
        number = 0
        while True:
            found = lib.tw_profile_row(self._handle, number)
            if not found:
                return
            row = found.contents
            yield Function(decoded(row.name) or "", row.count, row.total, row.self, row.min_ns, row.p50_ns, row.p90_ns,
                           row.p99_ns, row.max_ns, row.open, row.unwound, decoded(row.caller), row.process, known_task(row.thread),
                           decoded(row.thread_name), decoded(row.file), row.line)
            number += 1

    def _free(self) -> None:
        handle, self._handle = self._handle, ctypes.c_void_p()
        lib.tw_profile_free(handle)

    __del__ = _free


def _new(make: Any, handle: ctypes.c_void_p, options: Any) -> ctypes.c_void_p:
    status = make(ctypes.byref(handle), ctypes.byref(options))
    if status < 0:
        raise Error(status_text(status), status)
    return handle


def _fill(trace: "Trace", add: Any, handle: ctypes.c_void_p, **options: Any) -> None:
    """Adds a whole trace to what is made of it."""
    from ._trace import Reader
    reader = Reader(trace, **{"order": 0, **options})
    try:
        status = interruptible(reader.stop, lambda: int(add(handle, reader.handle)))
        if status < 0:
            raise reader.failure(status)
    finally:
        reader.findings.tell(5)
        reader.close()


class Flame:
    """A flame graph: SVG and HTML, for a file or a notebook."""

    def __init__(self, trace: "Trace", weight: Optional[str], title: Optional[str], per_thread: bool, inverted: bool):
        self._handle = ctypes.c_void_p()
        options = tw_calltree_options(weight=_weight(weight), per_thread=per_thread)
        self._title = os.path.basename(trace.path) if title is None else title
        self._inverted = inverted
        _fill(trace, lib.tw_calltree_add, _new(lib.tw_calltree_new, self._handle, options))

    def _write(self, path: bytes, form: int) -> None:
        options = tw_flame_options(title=self._title.encode().replace(b"\0", b""), form=form, inverted=self._inverted)
        status = lib.tw_flame_write(self._handle, path, ctypes.byref(options))
        if status < 0:
            raise Error(f"{os.fsdecode(path)}: {status_text(status)}", status)

    def _text(self, form: int) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "flame")
            self._write(os.fsencode(path), form)
            return path.read_text(encoding="utf-8")

    @property
    def svg(self) -> str:
        """The picture, with a script that zooms and searches."""
        return self._text(1)

    @property
    def html(self) -> str:
        """The same as a page of its own."""
        return self._text(2)

    def save(self, path: Union[str, bytes, "os.PathLike[str]"]) -> None:
        """Writes it: HTML when the path ends in .html, otherwise SVG; compressed when it ends in .gz or .zst."""
        self._write(encoded_path(path), 0)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def __del__(self) -> None:
        lib.tw_calltree_free(self._handle)


class Change(NamedTuple):
    """A function of two traces. Times are of the weight; `status`: "both", "only-a", "only-b"."""

    name: str
    status: str
    self_a: int
    self_b: int
    self_change: int
    total_a: int
    total_b: int
    total_change: int
    count_a: int
    count_b: int
    count_change: int


class Diff(_Table):
    """What differs between two traces: a Change a row, the largest first."""

    columns = Change._fields

    def __init__(self, before: "Trace", after: "Trace", by: str):
        number = choice("order", by, DIFF_BY)
        a, b = Profile(before, "function", None), Profile(after, "function", None)
        handle = ctypes.c_void_p()
        status = lib.tw_diff_new(ctypes.byref(handle), a._handle, b._handle, number)
        if status < 0:
            raise Error(f"{before.path} and {after.path}: {status_text(status)}", status)
        try:
            self._rows = list(self._read(handle))
        finally:
            lib.tw_diff_free(handle)

    @staticmethod
    def _read(handle: ctypes.c_void_p) -> Iterator[Change]:
        number = 0
        while True:
            found = lib.tw_diff_row(handle, number)
            if not found:
                return
            row = found.contents
            numbers = [n for value in (row.self, row.total, row.count) for n in (value.a, value.b, value.change)]
            yield Change(decoded(row.name) or "", ("both", "only-a", "only-b")[row.status], *numbers)
            number += 1
