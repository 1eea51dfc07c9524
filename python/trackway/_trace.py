"""Traces that are read: events, slices, and what is made of them."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import os
import struct
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _analysis, _sql
from ._findings import Collector
from ._library import (Error, U64, decoded, encoded_path, interruptible, known_task, lib, status_text, text_of,
                       tw_argument, tw_batch, tw_merge_source, tw_read_options)

Value = Union[None, bool, int, float, str, bytes]
Path = Union[str, bytes, "os.PathLike[str]"]

ORDERS = {"track": 0, "time": 1, "file": 2}
EVENT = struct.Struct("=QQQQIIIIHBBHBB")
KINDS: List[str] = []
while lib.tw_event_kind_name(len(KINDS)):
    KINDS.append(lib.tw_event_kind_name(len(KINDS)).decode())
COMPLETE = KINDS.index("slice-complete")
FLAG_OPEN, FLAG_UNWOUND = 4, 64


class Track(NamedTuple):
    """The line of a viewer that events stand on."""

    kind: str  # "thread", "process", "cpu", "other"
    process: int
    thread: Optional[int]  # of a CPU its number; None: the trace has "?" for it
    name: str
    process_name: str


class Event(NamedTuple):
    """An event. Times are nanoseconds since the start of the trace; `value`, `id` and `other` are what the kind says
    (trackway-event(3), TW_EVENT_LIST)."""

    time: int
    kind: str  # "slice-begin", "instant", "counter", ...
    name: str
    category: str
    track: Track
    args: Dict[str, Value]
    value: int
    id: int
    other: int
    cpu: int
    flags: int
    offset: int  # of its record, in bytes


class Slice(NamedTuple):
    """A slice, whole. Times are nanoseconds, `time` since the start of the trace."""

    time: int
    duration: int
    name: str
    category: str
    track: Track
    args: Dict[str, Value]
    end: str  # "ended", "unwound" (by the end of one around it), "open" (it has none)
    cpu: int
    offset: int


class Reader:
    """A reader of the library's, and the names of its events."""

    def __init__(self, trace: "Trace", **options: Any):
        self.handle = ctypes.c_void_p()
        self.findings = Collector()
        self.stop = ctypes.c_int(0)
        self.trace = trace  # whose options and symbols are borrowed
        self.options = trace._read_options(self.findings, self.stop, **options)
        status = self._open(trace._encoded)
        if status < 0:
            error = self.failure(status)
            self.close()
            raise error
        self.dictionary = lib.tw_reader_dictionary(self.handle)

    def _open(self, paths: List[bytes]) -> int:
        if len(paths) == 1:
            return int(lib.tw_open(ctypes.byref(self.handle), paths[0], ctypes.byref(self.options)))
        sources = (tw_merge_source * len(paths))(*(tw_merge_source(path=path) for path in paths))
        return int(lib.tw_open_merged(ctypes.byref(self.handle), sources, len(paths), None, ctypes.byref(self.options)))

    def failure(self, status: int) -> Error:
        text = lib.tw_reader_error(self.handle).decode("utf-8", "replace") if self.handle else ""
        return Error(text or status_text(status), status)

    def close(self) -> None:
        handle, self.handle = self.handle, ctypes.c_void_p()
        if handle:
            lib.tw_close(handle)

    __del__ = close


class Names:
    """Names and tracks by number, of one batch: they may become better known as more is read."""

    KINDS = ("thread", "process", "cpu", "other")

    def __init__(self, dictionary: int):
        self.dictionary = dictionary
        self.texts: Dict[int, str] = {}
        self.tracks: Dict[int, Track] = {}

    def text(self, number: int) -> str:
        found = self.texts.get(number)
        if found is None:
            found = self.texts[number] = text_of(lib.tw_dictionary_name(self.dictionary, number))
        return found

    def track(self, number: int) -> Track:
        found = self.tracks.get(number)
        if found is None:
            track = lib.tw_dictionary_track(self.dictionary, number).contents
            found = self.tracks[number] = Track(
                self.KINDS[track.kind], track.process, known_task(track.thread), self.text(track.name),
                text_of(lib.tw_dictionary_process_name(self.dictionary, track.process)))
        return found


def _value(argument: tw_argument) -> Value:
    kind, value = argument.type, argument.value
    if kind >= 7:  # TW_ARG_TEXT, TW_ARG_BYTES
        data = ctypes.string_at(value.bytes, argument.size) if argument.size else b""
        return data.decode("utf-8", "replace") if kind == 7 else data
    if kind == 0:
        return None
    if kind == 1:
        return bool(value.u)
    if kind == 2:
        return int(value.i)
    return float(value.d) if kind == 6 else int(value.u)


def _arguments(names: Names, batch: tw_batch, first: int, count: int) -> Dict[str, Value]:
    size = ctypes.sizeof(tw_argument)
    found: Dict[str, Value] = {}
    for i in range(first, first + count):
        argument = tw_argument.from_address(batch.arguments + i * size)
        found[names.text(argument.name)] = _value(argument)
    return found


def _make_event(names: Names, batch: tw_batch, row: Any) -> Event:
    time, offset, value, number, track, name, category, other, first, count, kind, cpu, flags, _provider = row
    return Event(time, KINDS[kind], names.text(name), names.text(category), names.track(track),
                 _arguments(names, batch, first, count) if count else {}, value, number, other, cpu, flags, offset)


def _make_slice(names: Names, batch: tw_batch, row: Any) -> Optional[Slice]:
    time, offset, value, _id, track, name, category, _other, first, count, kind, cpu, flags, _provider = row
    if kind != COMPLETE:
        return None
    end = "open" if flags & FLAG_OPEN else "unwound" if flags & FLAG_UNWOUND else "ended"
    return Slice(time, value, names.text(name), names.text(category), names.track(track),
                 _arguments(names, batch, first, count) if count else {}, end, cpu, offset)


class Trace:
    """A trace, or several as one: made by trackway.open(). Each of its methods reads the files anew, so several may go
    on at once, in several threads. It is an iterator of its events, and a context manager."""

    def __init__(self, path: Union[Path, Sequence[Path]], *, format: Optional[str] = None, order: str = "track",
                 threads: Optional[Sequence[int]] = None, function: Optional[str] = None,
                 category: Optional[str] = None, start: int = 0, end: int = 0, min_duration: int = 0,
                 binary: Optional[Path] = None, memory_limit: int = 0, jobs: int = 0):
        if order not in ORDERS:
            raise ValueError(f"no order {order!r}: there are {', '.join(ORDERS)}")
        several = isinstance(path, Sequence) and not isinstance(path, (str, bytes))
        paths: List[Any] = list(path) if several else [path]  # type: ignore[arg-type]
        if not paths:
            raise ValueError("no file is named")
        if len(paths) > 1 and order == "file":
            raise ValueError("several files have no order of the file: the orders are track, which is that of time, and time")
        self.paths = [os.fsdecode(one) for one in paths]
        self.path = ", ".join(self.paths)
        self._encoded = [encoded_path(one) for one in paths]
        self._order = ORDERS[order]
        self._kept: Dict[str, Any] = {"memory_limit": memory_limit, "jobs": jobs, "from_ns": start, "to_ns": end,
                                      "min_duration_ns": min_duration}
        called = {"from_ns": "start", "to_ns": "end", "min_duration_ns": "min_duration"}
        for name, number in self._kept.items():
            if not isinstance(number, int) or not 0 <= number < (1 << 32 if name == "jobs" else 1 << 64):
                raise ValueError(f"{called.get(name, name)} is a whole number of at least 0, not {number!r}")
        for number in threads or ():
            if not isinstance(number, int) or not 0 <= number < 1 << 64:
                raise ValueError(f"threads are whole numbers of at least 0, not {number!r}")
        for name, text in (("format", format), ("function", function), ("category", category)):
            self._kept[name] = None if text is None else encoded_path(text)
        self._threads = None if threads is None else (U64 * len(threads))(*threads)
        self._lock = threading.Lock()
        self._database: Optional[_sql.Database] = None
        self._closed = False
        self._symbols = ctypes.c_void_p()
        if binary is not None:
            self._open_symbols(encoded_path(binary))
        else:
            self._take_symbols()
        reader = Reader(self)
        self.format = lib.tw_reader_format(reader.handle).decode()
        reader.close()

    def _open_symbols(self, path: bytes) -> None:
        status = lib.tw_symbols_open(ctypes.byref(self._symbols), path)
        if status < 0:
            text = decoded(lib.tw_symbols_error(self._symbols)) if self._symbols else None
            raise Error(text or status_text(status), status)

    def _take_symbols(self) -> None:
        """The programs that the trace tells of itself."""
        if lib.tw_symbols_new(ctypes.byref(self._symbols)) < 0:
            raise MemoryError
        for path, encoded in zip(self.paths, self._encoded):
            if lib.tw_symbols_add_trace(self._symbols, encoded) == 0:
                continue
            text = decoded(lib.tw_symbols_error(self._symbols))
            warnings.warn(f"{path}: names are missing: {text}", stacklevel=4)

    def _read_options(self, findings: Collector, stop: ctypes.c_int, **more: Any) -> tw_read_options:
        if self._closed:
            raise ValueError("the trace is closed")
        options = tw_read_options(on_finding=findings.function, order=self._order,
                                  stop=ctypes.cast(ctypes.pointer(stop), ctypes.c_void_p))
        if self._threads is not None:
            options.threads = ctypes.cast(self._threads, ctypes.c_void_p)
            options.thread_count = len(self._threads)
        if self._symbols:
            options.namer = lib.tw_symbols_namer(self._symbols)
            options.thread_namers = lib.tw_symbols_thread_namers(self._symbols)
        for name, value in {**self._kept, **more}.items():
            setattr(options, name, value)
        return options

    # ---- Events. ----

    def _rows(self, make: Callable[[Names, tw_batch, Any], Any], **options: Any) -> Iterator[Any]:
        reader = Reader(self, **options)
        batch = tw_batch()
        try:
            while True:
                status = lib.tw_read(reader.handle, ctypes.byref(batch))
                reader.findings.tell(3)
                if status < 0:
                    raise reader.failure(status)
                if status == 0:
                    return
                names = Names(reader.dictionary)
                events = ctypes.string_at(batch.events, batch.count * EVENT.size)
                made = [make(names, batch, row) for row in EVENT.iter_unpack(events)]
                yield from (event for event in made if event is not None)
        finally:
            reader.close()

    def events(self) -> Iterator[Event]:
        """All events, in the order that the trace was opened with."""
        return self._rows(_make_event, from_start=self._order != ORDERS["file"])

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def slices(self) -> Iterator[Slice]:
        """All slices, each with its duration, as soon as its end is known: in the order of their ends."""
        order = {"order": ORDERS["track"]} if self._order == ORDERS["file"] else {}
        return self._rows(_make_slice, complete_slices=True, from_start=True, **order)

    # ---- Questions. ----

    def sql(self, query: str, parameters: Union[Sequence[Value], Mapping[str, Value], None] = None) -> "_sql.Result":
        """What a query over the trace's tables answers (trackway-sql(7)). parameters: values for `?` in their order,
        or for `:name`."""
        with self._lock:
            if self._closed:
                raise ValueError("the trace is closed")
            if self._database is None:
                self._database = _sql.Database(self)
            return self._database.query(query, parameters)

    def stat(self, by: str = "function", weight: Optional[str] = None) -> "_analysis.Profile":
        """Where time went. by: "function", "thread", "caller", "class", "module", "line", "whole-thread", "async";
        weight: "calls", "samples", "cpu", "wall", "bytes", "allocations"; None: what the trace has."""
        return _analysis.Profile(self, by, weight)

    def flame(self, weight: Optional[str] = None, title: Optional[str] = None, per_thread: bool = False,
              inverted: bool = False) -> "_analysis.Flame":
        """A flame graph, which shows itself in a notebook."""
        return _analysis.Flame(self, weight, title, per_thread, inverted)

    def diff(self, after: "Trace", by: str = "self") -> "_analysis.Diff":
        """What a later trace of the same program does otherwise. by: what rows are sorted by: "self", "total", "count",
        "p50"."""
        return _analysis.Diff(self, after, by)

    # ---- Ending. ----

    def close(self) -> None:
        """Ends it: nothing can be asked any more. What was answered stays."""
        with self._lock:
            self._closed = True
            if self._database is not None:
                self._database.close()
            self._database = None

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_about: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<trackway.Trace {self.path!r}, {self.format}>"

    def __del__(self) -> None:
        symbols = getattr(self, "_symbols", None)  # no reader is left: each refers to its trace
        if symbols:
            lib.tw_symbols_close(symbols)


__all__ = ["Error", "Event", "Slice", "Trace", "Track", "Value", "interruptible"]
