"""Execution traces: XRay, FXT, TraceLog, xtrace, Chrome's JSON, uftrace.

    import trackway

    with trackway.open("out.fxt") as trace:
        for slice in trace.slices():
            print(slice.time, slice.duration, slice.name)
        slow = trace.sql("select name, dur from slice where dur > 1000000").df()

Times are nanoseconds. What is wrong with a trace is a DamageWarning; what can be read of it is read. The shared library
does the work: nothing is compiled here. doc/python.md is a tutorial.
"""
# SPDX-License-Identifier: Apache-2.0

from typing import Any, Sequence, Union

from ._analysis import Change, Diff, Flame, Function, Profile
from ._findings import DamageWarning, Finding
from ._library import Error, lib as _lib
from ._sql import Result
from ._trace import Event, Path, Slice, Trace, Track, Value
from ._writer import Loss, Thread, Writer

__version__: str = _lib.tw_version().decode()
__all__ = ["Change", "DamageWarning", "Diff", "Error", "Event", "Finding", "Flame", "Function", "Loss", "Profile",
           "Result", "Slice", "Thread", "Trace", "Track", "Value", "Writer", "open"]

for _item in (Change, DamageWarning, Diff, Error, Event, Finding, Flame, Function, Loss, Profile, Result, Slice, Thread,
              Trace, Track, Writer):
    _item.__module__ = __name__  # as messages name them


def open(path: Union[Path, Sequence[Path]], **options: Any) -> Trace:  # pylint: disable=redefined-builtin
    """Opens a trace of any format; of several paths, the traces as one: each begins at 0, and in sql() `file` tells which.

    format: its name ("fxt"), where the bytes do not tell. order: of events(): "track" (each track's in order), "time",
    or "file" (times are then the trace's own). threads: only these. function, category: only what matches a glob.
    start, end, min_duration: nanoseconds since the start of the trace. binary: the program, for the names of an XRay
    log's functions; a log that `trackway record` wrote knows its own. memory_limit: bytes; jobs: threads to use."""
    return Trace(path, **options)
