"""Questions in SQL, and their answers: rows, columns, pandas, Arrow."""
# SPDX-License-Identifier: Apache-2.0

import collections
import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._findings import Collector
from ._library import (Error, decoded, interruptible, lib, status_text, tw_sql_column, tw_sql_parameter)

if TYPE_CHECKING:
    from ._trace import Trace, Value

NULL, INT, REAL, TEXT, BYTES = range(5)
TYPES = ("null", "int", "float", "str", "bytes")


def _parameter(name: Optional[str], value: "Value", kept: List[Any]) -> tw_sql_parameter:
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"the name of a parameter is a text, not {type(name).__name__}")
    made = tw_sql_parameter(name=None if name is None else name.encode())
    if isinstance(value, (bool, int)):
        if not -1 << 63 <= value < 1 << 63:
            raise OverflowError("SQL has numbers of 64 bits")
        made.type, made.value.i = INT, int(value)
    elif isinstance(value, float):
        made.type, made.value.d = REAL, value
    elif isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        kept.append(ctypes.create_string_buffer(data, len(data) + 1))
        made.type, made.size = TEXT if isinstance(value, str) else BYTES, len(data)
        made.value.bytes = ctypes.addressof(kept[-1])
    elif value is not None:
        raise TypeError(f"a parameter is a number, text, bytes or None, not {type(value).__name__}")
    return made


class Database:
    """A trace that is asked; one thread at a time."""

    def __init__(self, trace: "Trace"):
        self.handle = ctypes.c_void_p()
        self.findings = Collector()
        self.stop = ctypes.c_int(0)
        self.options = trace._read_options(self.findings, self.stop, order=0)
        paths = (ctypes.c_char_p * len(trace._encoded))(*trace._encoded)
        status = lib.tw_sql_open(ctypes.byref(self.handle), paths, len(paths), ctypes.byref(self.options))
        if status < 0:
            error = self.failure(status)
            self.close()
            raise error

    def failure(self, status: int) -> Error:
        text = decoded(lib.tw_sql_error(self.handle)) if self.handle else None
        return Error(text or status_text(status), status)

    def query(self, query: str, values: Union[Sequence["Value"], Mapping[str, "Value"], None]) -> "Result":
        kept: List[Any] = []
        if isinstance(values, (str, bytes)):
            raise TypeError("parameters are a sequence or a mapping of values")
        pairs = values.items() if isinstance(values, Mapping) else ((None, value) for value in values or ())
        made = [_parameter(name, value, kept) for name, value in pairs]
        parameters = (tw_sql_parameter * len(made))(*made)
        if not isinstance(query, str):
            raise TypeError(f"a query is a text, not {type(query).__name__}")
        text = query.encode()
        if b"\0" in text:
            raise ValueError("a query has no zero byte")
        handle = ctypes.c_void_p()
        self.stop.value = 0

        def ask() -> int:
            return int(lib.tw_sql_query(self.handle, text, parameters, len(made), ctypes.byref(handle)))

        try:
            status = interruptible(self.stop, ask)
        except BaseException:
            lib.tw_sql_result_free(handle)
            raise
        result = Result(handle) if status == 0 else None
        self.findings.tell(4)
        if result is None:
            raise self.failure(status)
        return result

    def close(self) -> None:
        handle, self.handle = self.handle, ctypes.c_void_p()
        if handle:
            lib.tw_sql_close(handle)

    __del__ = close


class _Memory:
    """The result that columns are of, for as long as one of them is used."""

    def __init__(self, handle: ctypes.c_void_p):
        self.handle = handle

    def __del__(self) -> None:
        lib.tw_sql_result_free(self.handle)


class Result:
    """What a query answers. Iterating gives rows, named tuples; `columns` their names. All of it is in memory, and
    stays when the trace is closed."""

    def __init__(self, handle: ctypes.c_void_p):
        self._memory = _Memory(handle)
        self._count = int(lib.tw_sql_rows(handle))
        self._columns: List[tw_sql_column] = [lib.tw_sql_column(handle, i).contents
                                              for i in range(lib.tw_sql_columns(handle))]
        self.columns: List[str] = [column.name.decode("utf-8", "replace") for column in self._columns]
        self.types: List[str] = [TYPES[column.type] for column in self._columns]
        self._lists: Dict[int, List[Any]] = {}
        self._Row: Any = collections.namedtuple("Row", self.columns, rename=True)  # type: ignore[misc]

    def _buffer(self, address: Optional[int], kind: Any, count: int) -> Any:
        """Memory of the result, which lives as long as this."""
        array = (kind * count).from_address(address) if count else (kind * 0)()
        array._owner = self._memory
        return array

    def _texts(self, column: tw_sql_column) -> List[Any]:
        """The different values of a column."""
        offsets = self._buffer(column.offsets, ctypes.c_int64, column.values + 1)[:]
        data = ctypes.string_at(column.bytes, offsets[-1])
        parts: List[Any] = [data[a:b] for a, b in zip(offsets, offsets[1:])]
        return parts if column.type == BYTES else [part.decode() for part in parts]

    def _valid(self, column: tw_sql_column) -> List[bool]:
        data = ctypes.string_at(column.valid, (self._count + 7) // 8)
        return [bool(data[i >> 3] >> (i & 7) & 1) for i in range(self._count)]

    def _values(self, column: tw_sql_column) -> List[Any]:
        if column.type == NULL:
            return [None] * self._count
        if column.type == INT:
            return list(self._buffer(column.ints, ctypes.c_int64, self._count)[:])
        if column.type == REAL:
            return list(self._buffer(column.reals, ctypes.c_double, self._count)[:])
        texts = self._texts(column)
        return [texts[code] for code in self._buffer(column.codes, ctypes.c_int32, self._count)[:]]

    def column(self, which: Union[int, str]) -> List[Any]:
        """The values of a column, by its place or its name."""
        if isinstance(which, str) and which not in self.columns:
            raise KeyError(f"no column {which!r}: there are {', '.join(self.columns)}")
        number = self.columns.index(which) if isinstance(which, str) else which
        if number not in self._lists:
            column = self._columns[number]
            values = self._values(column)
            if column.valid and column.type != NULL:
                values = [value if valid else None for value, valid in zip(values, self._valid(column))]
            self._lists[number] = values
        return self._lists[number]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return map(self._Row._make, zip(*(self.column(i) for i in range(len(self.columns)))))

    def __getitem__(self, row: Union[int, slice]) -> Any:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(self._count))]
        return self._Row._make([self.column(i)[row] for i in range(len(self.columns))])

    def __repr__(self) -> str:
        return f"<trackway.Result of {self._count} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from ._analysis import html_table
        return html_table(self.columns, self, len(self))

    # ---- pandas. ----

    def _series(self, numpy: Any, pandas: Any, column: tw_sql_column) -> Any:
        count = self._count
        missing = None
        if column.valid:
            bits = numpy.frombuffer(self._buffer(column.valid, ctypes.c_uint8, (count + 7) // 8), dtype="u1")
            missing = numpy.unpackbits(bits, count=count, bitorder="little") == 0
        if column.type == NULL:
            return numpy.full(count, None, dtype=object)
        if column.type == INT:
            ints = numpy.frombuffer(self._buffer(column.ints, ctypes.c_int64, count), dtype="i8")
            return ints if missing is None else pandas.arrays.IntegerArray(ints.copy(), missing)
        if column.type == REAL:
            reals = numpy.frombuffer(self._buffer(column.reals, ctypes.c_double, count), dtype="f8")
            return reals if missing is None else numpy.where(missing, numpy.nan, reals)
        texts = numpy.empty(column.values, dtype=object)
        texts[:] = self._texts(column)
        codes = numpy.frombuffer(self._buffer(column.codes, ctypes.c_int32, count), dtype="i4")
        made = texts[codes]
        if missing is not None:
            made[missing] = None
        return made

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Whole numbers with NULL among them are Int64."""
        try:
            import numpy
            import pandas
        except ImportError as error:
            raise ImportError("a DataFrame needs pandas: install Debian's package python3-pandas, or `pip install pandas` "
                              f"({error})") from None
        made = pandas.DataFrame({i: self._series(numpy, pandas, column) for i, column in enumerate(self._columns)})
        made.columns = self.columns
        return made

    df = to_pandas

    # ---- Arrow. ----

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule of Arrow's PyCapsule interface: pyarrow, polars, duckdb and others take the result itself."""
        stream = _new_stream()
        status = lib.tw_sql_arrow(self._memory.handle, stream)
        if status < 0:
            _PYTHON.PyMem_Free(stream)
            raise MemoryError(status_text(status))
        return _PYTHON.PyCapsule_New(stream, _STREAM, _END)


# ---- Capsules: what a consumer has not taken is released with them. ----

_STREAM = b"arrow_array_stream"  # must live as long as any capsule
_STREAM_SIZE = 5 * ctypes.sizeof(ctypes.c_void_p)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_PYTHON = ctypes.PyDLL(None)
_PYTHON.PyCapsule_New.restype = ctypes.py_object
_PYTHON.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_PYTHON.PyCapsule_GetPointer.restype = ctypes.c_void_p
_PYTHON.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_PYTHON.PyMem_Malloc.restype = ctypes.c_void_p
_PYTHON.PyMem_Malloc.argtypes = [ctypes.c_size_t]
_PYTHON.PyMem_Free.restype = None
_PYTHON.PyMem_Free.argtypes = [ctypes.c_void_p]


def _new_stream() -> int:
    stream = _PYTHON.PyMem_Malloc(_STREAM_SIZE)
    if not stream:
        raise MemoryError
    return int(stream)


def _end_capsule(capsule: int) -> None:
    stream = _PYTHON.PyCapsule_GetPointer(capsule, _STREAM)
    release = ctypes.c_void_p.from_address(stream + 3 * ctypes.sizeof(ctypes.c_void_p)).value
    if release:
        _RELEASE(release)(stream)
    _PYTHON.PyMem_Free(stream)


_END_FUNCTION = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_end_capsule)
_END = ctypes.cast(_END_FUNCTION, ctypes.c_void_p)
