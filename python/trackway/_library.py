"""The shared library: finding it, its structs and functions as its headers have them."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import ctypes.util
import os
import pathlib
import sysconfig
import threading
from typing import Any, Callable, List, Mapping, Optional, TypeVar

VERSION = "0.1"  # of the headers that the structs below are of
NAME = "libtrackway.so.0"

U8, U16, U32, U64, I64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
INT, SIZE, TEXT, POINTER, BOOL, REAL = (ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_bool,
                                        ctypes.c_double)


class Error(Exception):
    """What the library cannot do: a file that is no trace, a wrong statement, a full disk. `status` is its number."""

    def __init__(self, text: str, status: int = 0):
        super().__init__(text)
        self.status = status


def _beside() -> List[str]:
    """Where the library is that was installed with this package, under one prefix."""
    prefix = pathlib.Path(__file__).resolve().parents[4:5]
    folders = ["lib/" + str(sysconfig.get_config_var("MULTIARCH") or ""), "lib", "lib64"]
    return [str(root / folder / NAME) for root in prefix for folder in folders]


def _load() -> ctypes.CDLL:
    own = os.environ.get("TRACKWAY_LIBRARY")
    last = ""
    for path in [own] if own else [NAME, *_beside()]:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            last = last or str(error)
    raise ImportError(f"trackway needs {NAME}: install Debian's package libtrackway0 or Trackway itself, or let "
                      f"TRACKWAY_LIBRARY be the library's path ({last})")


lib = _load()
lib.tw_version.restype = TEXT
if lib.tw_version().decode().rsplit(".", 1)[0] != VERSION:
    raise ImportError(f"trackway {VERSION} for Python needs {NAME} of {VERSION}, found {lib.tw_version().decode()}: "
                      "install both of one version")


# ---- Structs. A test compares them with the headers. ----

FINDING_FUNCTION = ctypes.CFUNCTYPE(None, POINTER, POINTER)


class tw_finding(ctypes.Structure):
    _fields_ = [("severity", INT), ("rule", TEXT), ("file", TEXT), ("record", U64), ("at", U64), ("line", U64),
                ("column", U64), ("text", TEXT)]


class _Sized:
    """Begins with its size, by which the library knows the members that there are here."""

    def __init__(self, **members: Any) -> None:
        super().__init__(struct_size=ctypes.sizeof(self), **members)  # type: ignore


class tw_read_options(_Sized, ctypes.Structure):
    _fields_ = [("struct_size", SIZE),
                ("format", TEXT), ("order", INT), ("checking", INT), ("findings_only", BOOL),
                ("on_finding", FINDING_FUNCTION), ("finding_context", POINTER), ("namer", POINTER),
                ("threads", POINTER), ("thread_count", SIZE), ("thread_processes", POINTER), ("provider", TEXT),
                ("function", TEXT), ("category", TEXT), ("from_ns", U64), ("to_ns", U64), ("min_duration_ns", U64),
                ("jobs", ctypes.c_uint), ("reorder_window", U64), ("frequency", U64), ("event_names", POINTER),
                ("event_name_count", SIZE), ("mangled", BOOL), ("before", POINTER), ("before_count", SIZE),
                ("counts", INT), ("names_ahead", BOOL), ("fold_async", BOOL), ("pdb_folder", TEXT),
                ("memory_limit", SIZE), ("thread_cost", SIZE), ("listing", BOOL), ("xtrace", POINTER), ("temporary_directory", TEXT),
                ("stop", POINTER), ("complete_slices", BOOL), ("from_start", BOOL),
                ("thread_namers", POINTER)]


class tw_clock(ctypes.Structure):
    _fields_ = [("ticks_per_second", U64), ("start_ns", U64), ("end_ns", U64), ("has_cpu", BOOL),
                ("instructions", BOOL), ("has_wall", BOOL), ("since_boot", BOOL), ("wall_ns", I64)]


class tw_event(ctypes.Structure):
    _fields_ = [("time", U64), ("offset", U64), ("value", U64), ("id", U64), ("track", U32), ("name", U32),
                ("category", U32), ("other", U32), ("first_argument", U16), ("argument_count", U8), ("kind", U8),
                ("cpu", U16), ("flags", U8), ("provider", U8)]


class tw_value(ctypes.Union):
    _fields_ = [("i", I64), ("u", U64), ("d", REAL), ("bytes", POINTER)]


class tw_argument(ctypes.Structure):
    _fields_ = [("name", U32), ("type", U8), ("reserved", U8), ("raw", U16), ("value", tw_value), ("size", U32),
                ("raw_more", U32)]


class tw_batch(ctypes.Structure):
    _fields_ = [("events", POINTER), ("count", SIZE), ("arguments", POINTER)]


class tw_name(ctypes.Structure):
    _fields_ = [("text", POINTER), ("length", SIZE), ("id", U64), ("file", TEXT), ("line", U32), ("owner", U32),
                ("module", U32)]


class tw_track(ctypes.Structure):
    _fields_ = [("process", U64), ("thread", U64), ("name", U32), ("kind", INT)]


class tw_location(ctypes.Structure):
    _fields_ = [("name", U32), ("file", U32), ("line", U32), ("address", U64)]


class tw_stack(ctypes.Structure):
    _fields_ = [("caller", U32), ("location", U32), ("depth", U32)]


class tw_merge_source(ctypes.Structure):
    _fields_ = [("path", TEXT), ("offset_ns", I64)]


class tw_own_trace(_Sized, ctypes.Structure):
    _fields_ = [("struct_size", SIZE),
                ("name", TEXT), ("dictionary", POINTER), ("clock", tw_clock), ("read", POINTER), ("context", POINTER)]


class tw_loss(ctypes.Structure):
    _fields_ = [("what", TEXT), ("approximated", U64), ("left_out", U64)]


class tw_profile_options(_Sized, ctypes.Structure):
    _fields_ = [("struct_size", SIZE),
                ("by", INT), ("weight", INT), ("one_weight", BOOL), ("min_duration_ns", U64), ("recursive", BOOL),
                ("jobs", ctypes.c_uint), ("memory_limit", SIZE)]


class tw_profile_row(ctypes.Structure):
    _fields_ = [("name", TEXT), ("id", U64), ("file", TEXT), ("line", U32), ("owner", TEXT), ("module", TEXT),
                ("caller", TEXT), ("caller_id", U64), ("object", TEXT), ("process", U64), ("thread", U64),
                ("threadless", BOOL), ("process_name", TEXT), ("thread_name", TEXT), ("count", U64), ("summed", U64),
                ("open", U64), ("unwound", U64), ("total", U64), ("self", U64), ("weighed", POINTER), ("min_ns", U64),
                ("p50_ns", U64), ("p90_ns", U64), ("p99_ns", U64), ("max_ns", U64)]


class tw_calltree_options(_Sized, ctypes.Structure):
    _fields_ = [("struct_size", SIZE),
                ("weight", INT), ("per_thread", BOOL), ("min_duration_ns", U64), ("jobs", ctypes.c_uint),
                ("memory_limit", SIZE), ("max_depth", U32)]


class tw_flame_options(_Sized, ctypes.Structure):
    _fields_ = [("struct_size", SIZE),
                ("weight", INT), ("title", TEXT), ("form", INT), ("inverted", BOOL), ("min_share", REAL),
                ("max_depth", U32), ("sampled_bytes", U64)]


class tw_diff_value(ctypes.Structure):
    _fields_ = [("a", U64), ("b", U64), ("change", I64), ("ratio", REAL)]


class tw_diff_row(ctypes.Structure):
    _fields_ = [("name", TEXT), ("status", INT), ("count", tw_diff_value), ("total", tw_diff_value),
                ("self", tw_diff_value), ("p50_ns", tw_diff_value), ("significance", INT), ("p", REAL), ("low", REAL),
                ("high", REAL)]


class tw_sql_parameter(ctypes.Structure):
    _fields_ = [("name", TEXT), ("type", INT), ("value", tw_value), ("size", SIZE)]


class tw_sql_column(ctypes.Structure):
    _fields_ = [("name", TEXT), ("type", INT), ("valid", POINTER), ("nulls", U64), ("ints", POINTER),
                ("reals", POINTER), ("codes", POINTER), ("offsets", POINTER), ("bytes", POINTER), ("values", SIZE)]


# ---- Functions: what they return, and what they take. ----

def _p(struct: Any) -> Any:
    return ctypes.POINTER(struct)


_FUNCTIONS = {
    "tw_status_text": (TEXT, INT),
    "tw_open": (INT, _p(POINTER), TEXT, _p(tw_read_options)),
    "tw_read": (INT, POINTER, _p(tw_batch)),
    "tw_close": (None, POINTER),
    "tw_reader_error": (TEXT, POINTER),
    "tw_open_merged": (INT, _p(POINTER), _p(tw_merge_source), SIZE, POINTER, _p(tw_read_options)),
    "tw_reader_format": (TEXT, POINTER),
    "tw_reader_dictionary": (POINTER, POINTER),
    "tw_reader_clock": (_p(tw_clock), POINTER),
    "tw_event_kind_name": (TEXT, ctypes.c_uint),
    "tw_severity_name": (TEXT, INT),
    "tw_dictionary_name": (_p(tw_name), POINTER, U32),
    "tw_dictionary_track": (_p(tw_track), POINTER, U32),
    "tw_dictionary_process_name": (_p(tw_name), POINTER, U64),
    "tw_dictionary_thread_name": (_p(tw_name), POINTER, U64, U64),
    "tw_dictionary_stack": (_p(tw_stack), POINTER, U32),
    "tw_dictionary_location": (_p(tw_location), POINTER, U32),
    "tw_dictionary_new": (POINTER,),
    "tw_dictionary_free": (None, POINTER),
    "tw_dictionary_intern": (U32, POINTER, _p(tw_name)),
    "tw_dictionary_add_track": (U32, POINTER, _p(tw_track)),
    "tw_dictionary_name_track": (None, POINTER, U32, U32),
    "tw_dictionary_add_location": (U32, POINTER, _p(tw_location)),
    "tw_dictionary_push": (U32, POINTER, U32, U32),
    "tw_open_own": (INT, _p(POINTER), _p(tw_own_trace), _p(tw_read_options)),
    "tw_create": (INT, _p(POINTER), TEXT, TEXT, POINTER),
    "tw_write": (INT, POINTER, POINTER, _p(tw_batch)),
    "tw_finish": (INT, POINTER),
    "tw_discard": (None, POINTER),
    "tw_writer_error": (TEXT, POINTER),
    "tw_writer_loss": (_p(tw_loss), POINTER, SIZE),
    "tw_writer_format_of": (TEXT, TEXT),
    "tw_symbols_open": (INT, _p(POINTER), TEXT),
    "tw_symbols_new": (INT, _p(POINTER)),
    "tw_symbols_add_trace": (INT, POINTER, TEXT),
    "tw_symbols_close": (None, POINTER),
    "tw_symbols_error": (TEXT, POINTER),
    "tw_symbols_namer": (POINTER, POINTER),
    "tw_symbols_thread_namers": (POINTER, POINTER),
    "tw_profile_new": (INT, _p(POINTER), _p(tw_profile_options)),
    "tw_profile_add": (INT, POINTER, POINTER),
    "tw_profile_weight": (INT, POINTER),
    "tw_profile_row": (_p(tw_profile_row), POINTER, SIZE),
    "tw_profile_free": (None, POINTER),
    "tw_weight_name": (TEXT, INT),
    "tw_calltree_new": (INT, _p(POINTER), _p(tw_calltree_options)),
    "tw_calltree_add": (INT, POINTER, POINTER),
    "tw_calltree_free": (None, POINTER),
    "tw_flame_write": (INT, POINTER, TEXT, _p(tw_flame_options)),
    "tw_diff_new": (INT, _p(POINTER), POINTER, POINTER, INT),
    "tw_diff_row": (_p(tw_diff_row), POINTER, SIZE),
    "tw_diff_free": (None, POINTER),
    "tw_sql_open": (INT, _p(POINTER), _p(TEXT), SIZE, _p(tw_read_options)),
    "tw_sql_query": (INT, POINTER, TEXT, _p(tw_sql_parameter), SIZE, _p(POINTER)),
    "tw_sql_error": (TEXT, POINTER),
    "tw_sql_close": (None, POINTER),
    "tw_sql_rows": (SIZE, POINTER),
    "tw_sql_columns": (SIZE, POINTER),
    "tw_sql_column": (_p(tw_sql_column), POINTER, SIZE),
    "tw_sql_result_free": (None, POINTER),
    "tw_sql_arrow": (INT, POINTER, POINTER),
}
for _name, (_result, *_arguments) in _FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments


def text_of(pointer: Any) -> str:
    """The text of a struct tw_name."""
    name = pointer.contents
    return ctypes.string_at(name.text, name.length).decode("utf-8", "replace")


def decoded(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode("utf-8", "replace")


def known_task(number: int) -> Optional[int]:
    """The number of a thread; None: the trace has "?" for it."""
    return None if number == 0xffffffff7fffffff else number


def status_text(status: int) -> str:
    return str(lib.tw_status_text(status).decode())


def choice(what: str, word: Optional[str], words: Mapping[str, int]) -> int:
    """The number of a word that was chosen."""
    if word is None or word not in words:
        raise ValueError(f"no {what} {word!r}: there are {', '.join(words)}")
    return words[word]


def encoded_path(path: "os.PathLike[str] | str | bytes") -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("a path has no zero byte")
    return name


Answer = TypeVar("Answer")


def interruptible(stop: Any, call: Callable[[], Answer]) -> Answer:
    """Runs what may take long. In the main thread Ctrl-C ends it, which a call of the library alone would not see."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    answers: List[Answer] = []
    errors: List[BaseException] = []
    begun, done = threading.Lock(), threading.Event()

    def work() -> None:
        if not begun.acquire(blocking=False):  # it was ended before
            return
        try:
            answers.append(call())
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)
        finally:
            done.set()

    try:
        threading.Thread(target=work, name="trackway").start()
        done.wait()
    except BaseException:
        stop.value = 1
        while not begun.acquire(blocking=False) and not done.is_set():
            try:
                done.wait()
            except KeyboardInterrupt:  # it is ending
                pass
        raise
    if errors:
        raise errors[0]
    return answers[0]
