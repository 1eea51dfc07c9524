"""Traces that are written: a program's own events, in any format."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._library import (Error, choice, decoded, encoded_path, lib, status_text, tw_argument, tw_batch, tw_clock, tw_event,
                       tw_location, tw_name, tw_own_trace, tw_track)

if TYPE_CHECKING:
    from ._trace import Path, Value

KINDS = {name: number for number, name in enumerate(
    ("slice-begin", "slice-end", "slice-complete", "instant", "counter", "async-begin", "async-instant", "async-end",
     "flow-begin", "flow-step", "flow-end"))}
CPU_SAMPLE, LOG = 14, 16
NULL, BOOL, SIGNED, UNSIGNED, DOUBLE, TEXT, BYTES = 0, 1, 2, 3, 6, 7, 8
BATCH = 200  # of at most 255 arguments each: places of arguments have 16 bits
OPERATION_PHASES = {phase: KINDS["async-" + phase] for phase in ("begin", "instant", "end")}
FLOW_PHASES = {phase: KINDS["flow-" + phase] for phase in ("begin", "step", "end")}
SEVERITIES = {"trace": 0x10, "debug": 0x20, "info": 0x30, "warning": 0x40, "error": 0x50, "fatal": 0x60}
Arguments = Mapping[str, "Value"]


class Loss(NamedTuple):
    """What a format could not hold: kept in another form, or left out."""

    what: str
    approximated: int
    left_out: int


class Thread:
    """A thread or another track of a Writer: its methods make events. Times are nanoseconds on any clock of at least
    0."""

    def __init__(self, writer: "Writer", number: int):
        self._writer = writer
        self._number = number

    def _add(self, kind: int, time: int, name: str, category: str, args: Optional[Arguments], value: int = 0,
             number: int = 0, other: int = 0) -> None:
        self._writer._add(self._number, kind, time, name, category, dict(args or {}), value, number, other)

    def slice(self, name: str, start: int, duration: int, category: str = "", args: Optional[Arguments] = None) -> None:
        """What lasts from a time on."""
        self._add(KINDS["slice-complete"], start, name, category, args, duration)

    def begin(self, name: str, time: int, category: str = "", args: Optional[Arguments] = None) -> None:
        """The begin of a slice, which ends with the next end of its name."""
        self._add(KINDS["slice-begin"], time, name, category, args)

    def end(self, name: str, time: int, args: Optional[Arguments] = None) -> None:
        """The end of a slice."""
        self._add(KINDS["slice-end"], time, name, "", args)

    def instant(self, name: str, time: int, category: str = "", args: Optional[Arguments] = None) -> None:
        """What happens at a time."""
        self._add(KINDS["instant"], time, name, category, args)

    def counter(self, name: str, time: int, values: Mapping[str, Union[int, float]], category: str = "") -> None:
        """What series are at a time."""
        if not values:
            raise ValueError("a counter has at least one series")
        self._add(KINDS["counter"], time, name, category, values)

    def operation(self, phase: str, name: str, time: int, id: int, category: str = "",
                  args: Optional[Arguments] = None) -> None:
        """A part of an asynchronous operation: phase "begin", "instant" or "end"."""
        self._add(choice("phase", phase, OPERATION_PHASES), time, name, category, args, number=id)

    def flow(self, phase: str, name: str, time: int, id: int, category: str = "") -> None:
        """An arrow from slice to slice: phase "begin", "step" or "end"."""
        self._add(choice("phase", phase, FLOW_PHASES), time, name, category, None, number=id)

    def log(self, message: str, time: int, severity: str = "info", category: str = "") -> None:
        """A message."""
        self._add(LOG, time, "", category, {"message": message}, choice("severity", severity, SEVERITIES))

    def sample(self, time: int, stack: Sequence[str], cpu_ns: int) -> None:
        """A sample: the functions, the outermost first, that cpu_ns of processor time were in."""
        self._add(CPU_SAMPLE, time, stack[-1] if stack else "", "", None, cpu_ns, other=self._writer._stack(stack))


class Writer:
    """Writes a trace when it is closed, as a context manager at its end; after an exception nothing is written. Events
    may come in any order and are kept in memory. The format is that of the path's ending (.fxt, .json, .pftrace,
    .folded, ...), or `format`. `losses`, once it is closed, tells what that could not hold."""

    def __init__(self, path: "Path", format: Optional[str] = None):
        self._reader = ctypes.c_void_p()
        self._dictionary: Any = None
        self._path = encoded_path(path)
        word = lib.tw_writer_format_of(self._path) if format is None else encoded_path(format)
        if word is None:
            raise ValueError(f"{path!r} has no ending that a format is known by: name one by format=")
        self.losses: List[Loss] = []
        self._names: Dict[str, int] = {}
        self._events: List[Tuple[int, int, int, Tuple[Any, ...]]] = []
        self._writer_handle = ctypes.c_void_p()
        status = lib.tw_create(ctypes.byref(self._writer_handle), self._path, word, None)
        if status < 0:
            error = self._failure(status)
            self._discard()
            raise error
        self._dictionary = lib.tw_dictionary_new()
        if not self._dictionary:
            self._discard()
            raise MemoryError

    def _failure(self, status: int) -> Error:
        text = decoded(lib.tw_writer_error(self._writer_handle)) if self._writer_handle else None
        return Error(text or status_text(status), status)

    def _need_open(self) -> None:
        if not self._dictionary:
            raise ValueError("the writer is closed")

    # ---- Names, tracks, stacks. ----

    @staticmethod
    def _known(number: int) -> int:
        if number == 0xFFFFFFFF:
            raise MemoryError
        return number

    def _name(self, text: str) -> int:
        found = self._names.get(text)
        if found is None:
            if not isinstance(text, str):
                raise TypeError(f"a name is a text, not {type(text).__name__}")
            data = text.encode("utf-8", "surrogateescape")
            buffer = ctypes.create_string_buffer(data, len(data) + 1)
            name = tw_name(text=ctypes.addressof(buffer), length=len(data))
            found = self._known(lib.tw_dictionary_intern(self._dictionary, ctypes.byref(name))) if data else 0
            self._names[text] = found
        return found

    def _track(self, kind: int, process: int, thread: int, name: Optional[str]) -> int:
        for number in (process, thread):
            if not 0 <= number < 1 << 64:
                raise OverflowError("numbers of processes and threads have 64 bits")
        track = tw_track(kind=kind, process=process, thread=thread)
        number = self._known(lib.tw_dictionary_add_track(self._dictionary, ctypes.byref(track)))
        if name is not None:
            lib.tw_dictionary_name_track(self._dictionary, number, self._name(name))
        return number

    def _stack(self, functions: Sequence[str]) -> int:
        self._need_open()
        if isinstance(functions, (str, bytes)):
            raise TypeError("a stack is a sequence of names")
        stack = 0
        for function in functions:
            location = tw_location(name=self._name(function))
            place = self._known(lib.tw_dictionary_add_location(self._dictionary, ctypes.byref(location)))
            stack = self._known(lib.tw_dictionary_push(self._dictionary, stack, place))
        return stack

    def process(self, process: int, name: str) -> None:
        """Names a process."""
        self._need_open()
        self._track(1, process, 0, name)

    def thread(self, process: int, thread: int, name: Optional[str] = None) -> Thread:
        """A thread of a process."""
        self._need_open()
        return Thread(self, self._track(0, process, thread, name))

    # ---- Events. ----

    def _add(self, track: int, kind: int, time: int, name: str, category: str, args: Dict[str, "Value"], value: int,
             number: int, other: int) -> None:
        self._need_open()
        for word in (time, value, number):
            if not isinstance(word, int) or not 0 <= word < 1 << 64:
                raise OverflowError(f"times, durations and ids are whole numbers from 0 below 2^64, not {word!r}")
        if kind == KINDS["slice-complete"] and time + value >= 1 << 64:
            raise OverflowError("a slice ends below 2^64 ns")
        if len(args) > 255:
            raise ValueError("an event has at most 255 arguments")
        arguments = [(self._name(key), _argument_type(item), item) for key, item in args.items()]
        row = (track, kind, value, number, self._name(name), self._name(category), other, arguments)
        longest = -value if kind == KINDS["slice-complete"] else 0
        self._events.append((time, longest, len(self._events), row))

    def _write_batch(self, rows: Sequence[Tuple[int, int, int, Tuple[Any, ...]]]) -> None:
        events = (tw_event * len(rows))()
        arguments: List[tw_argument] = []
        kept: List[Any] = []
        for event, (time, _longest, _place, row) in zip(events, rows):
            event.time = time
            (event.track, event.kind, event.value, event.id, event.name, event.category, event.other, own) = row
            event.first_argument, event.argument_count = len(arguments), len(own)
            arguments += [_argument(name, kind, value, kept) for name, kind, value in own]
        array = (tw_argument * len(arguments))(*arguments)
        batch = tw_batch(events=ctypes.addressof(events), count=len(rows), arguments=ctypes.addressof(array))
        status = lib.tw_write(self._writer_handle, self._reader, ctypes.byref(batch))
        if status < 0:
            raise self._failure(status)

    def _write(self) -> None:
        self._events.sort()
        start = self._events[0][0] if self._events else 0
        trace = tw_own_trace(dictionary=self._dictionary, clock=tw_clock(start_ns=start))
        status = lib.tw_open_own(ctypes.byref(self._reader), ctypes.byref(trace), None)
        if status < 0:
            raise Error(status_text(status), status)
        for first in range(0, len(self._events), BATCH):
            self._write_batch(self._events[first:first + BATCH])
        status = lib.tw_finish(self._writer_handle)
        if status < 0:
            raise self._failure(status)
        while True:
            loss = lib.tw_writer_loss(self._writer_handle, len(self.losses))
            if not loss:
                return
            self.losses.append(Loss(loss.contents.what.decode(), loss.contents.approximated, loss.contents.left_out))

    def _discard(self) -> None:
        writer, self._writer_handle = getattr(self, "_writer_handle", None), ctypes.c_void_p()
        reader, self._reader = self._reader, ctypes.c_void_p()
        dictionary, self._dictionary = self._dictionary, None
        if writer:
            lib.tw_discard(writer)
        lib.tw_close(reader)
        lib.tw_dictionary_free(dictionary)
        self._events = []

    def close(self) -> None:
        """Writes it. Once it is closed this does nothing."""
        if not self._dictionary:
            return
        try:
            self._write()
        finally:
            self._discard()

    def discard(self) -> None:
        """Writes nothing, and leaves what is under the path as it was."""
        self._discard()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: object, *_about: object) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        if hasattr(self, "_dictionary"):
            self._discard()


def _argument_type(value: "Value") -> int:
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        if not -1 << 63 <= value < 1 << 64:
            raise OverflowError("an argument has 64 bits")
        return SIGNED if value < 1 << 63 else UNSIGNED
    for kind, number in ((float, DOUBLE), (str, TEXT), (bytes, BYTES)):
        if isinstance(value, kind):
            return number
    raise TypeError(f"an argument is a number, text, bytes or None, not {type(value).__name__}")


def _argument(name: int, kind: int, value: Any, kept: List[Any]) -> tw_argument:
    made = tw_argument(name=name, type=kind)
    if kind in (TEXT, BYTES):
        data = value.encode("utf-8", "surrogateescape") if kind == TEXT else value
        kept.append(ctypes.create_string_buffer(data, len(data) + 1))
        made.value.bytes, made.size = ctypes.addressof(kept[-1]), len(data)
    elif kind == DOUBLE:
        made.value.d = value
    elif kind == SIGNED:
        made.value.i = value
    elif kind != NULL:
        made.value.u = int(value)
    return made
