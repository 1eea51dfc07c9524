#!/usr/bin/python3
"""python_tests - the package trackway for Python, over the library that was built. Prints TAP.

usage: python_tests.py TOOL        TRACKWAY_LIBRARY is the library's path
"""
# SPDX-License-Identifier: Apache-2.0

import collections
import contextlib
import csv
import ctypes
import doctest
import gc
import importlib.util
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings
import xml.etree.ElementTree
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

import trackway  # noqa: E402  pylint: disable=wrong-import-position
from trackway import _library, _sql  # noqa: E402

TOOL = sys.argv[1]
LOG = DATA / "xray/v5.xray"
TRACES = [LOG, DATA / "fxt/oneshot_all.fxt", DATA / "tracelog/small-d2-64.log", DATA / "chrome/phases.json",
          DATA / "fxt/streaming.fxt", DATA / "fxt/ret130.fxt", DATA / "tracelog/kinds.log", DATA / "chrome/nestasync.json",
          DATA / "chrome/overhang.json", DATA / "profiling/profiling-nested.xray"]

# Microseconds: outer from 10, 30 long, with inner in it from 20, 5 long; a counter; a begin without an end.
JSON = {"traceEvents": [
    {"ph": "X", "pid": 1, "tid": 2, "ts": 10, "dur": 30, "name": "outer", "cat": "a", "args": {"n": 7, "s": "text"}},
    {"ph": "X", "pid": 1, "tid": 2, "ts": 20, "dur": 5, "name": "inner"},
    {"ph": "C", "pid": 1, "tid": 2, "ts": 30, "name": "memory", "args": {"kb": 64}},
    {"ph": "B", "pid": 1, "tid": 3, "ts": 40, "name": "open"},
    {"ph": "i", "pid": 1, "tid": 3, "ts": 47, "name": "last", "s": "t"},
]}


def need(module):
    """Whether a module is there: where CI is set it must be."""
    if importlib.util.find_spec(module) is None:
        if os.environ.get("CI"):
            raise AssertionError(f"{module} is not installed: scripts/install-deps")
        raise unittest.SkipTest(f"no {module}")


def tool(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode("utf-8", "replace")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.json = self.folder / "trace.json"
        self.json.write_text(json.dumps(JSON))
        catcher = warnings.catch_warnings()
        catcher.__enter__()
        self.addCleanup(catcher.__exit__)
        warnings.simplefilter("ignore", trackway.DamageWarning)


# ---- Reading. ----

class Reading(Case):
    def test_structs_are_those_of_the_headers(self):
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no compiler")
        structs = [item for name, item in vars(_library).items()
                   if isinstance(item, type) and issubclass(item, ctypes.Structure)]
        lines = [f'printf("%zu\\n", sizeof(struct {item.__name__}));' + "".join(
            f'printf("%zu %zu\\n", offsetof(struct {item.__name__}, {field}), '
            f"sizeof(((struct {item.__name__} *)0)->{field}));" for field, _ in item._fields_) for item in structs]
        source = self.folder / "sizes.c"
        source.write_text("#include <stdio.h>\n#include <trackway/trackway.h>\nint main(void) {" + "\n".join(lines) + "}")
        subprocess.run([compiler, f"-I{ROOT}/include", source, "-o", self.folder / "sizes"], check=True)
        said = subprocess.run([self.folder / "sizes"], stdout=subprocess.PIPE, text=True, check=True).stdout
        ours = [line for item in structs for line in [f"{ctypes.sizeof(item)}"] + [
            f"{getattr(item, field).offset} {getattr(item, field).size}" for field, _ in item._fields_]]
        self.assertEqual(said.split("\n")[:-1], ours)
        self.assertGreater(len(structs), 15)

    def test_several_files_are_one_trace(self):
        other = self.folder / "other.json"
        other.write_text('[{"ph":"X","name":"elsewhere","pid":9,"tid":9,"ts":5000,"dur":2}]')
        for paths in ([self.json, str(other)], (os.fsencode(self.json), other)):
            trace = trackway.open(paths)
            # Each begins at 0; the other's slice is 2 us long.
            self.assertEqual([(e.name, e.time, e.track.process) for e in trace],
                             [("outer", 0, 1), ("elsewhere", 0, 9), ("inner", 10000, 1), ("memory", 20000, 1),
                              ("open", 30000, 1), ("last", 37000, 1)])
            self.assertEqual([s.name for s in trace.slices() if s.track.process == 9], ["elsewhere"])
            self.assertEqual([list(row) for row in trace.sql("select file, sum(dur) from slice where name <> 'open' group by 1 order by 2")],
                             [[str(other), 2000], [str(self.json), 30000 + 5000]])
            self.assertEqual((trace.paths, trace.format), ([str(self.json), str(other)], "merged"))
        self.assertEqual(trackway.open([self.json]).format, "chrome")
        with self.assertRaisesRegex(ValueError, "no file is named"):
            trackway.open([])
        with self.assertRaisesRegex(ValueError, "several files"):
            trackway.open([self.json, other], order="file")
        with self.assertRaisesRegex(trackway.Error, "none.json"):
            trackway.open([self.json, self.folder / "none.json"])
        with self.assertRaises(TypeError):
            trackway.open(7)

    def test_wrong_words_are_told(self):
        for words, wanted in (({"start": -1}, "start is"), ({"end": 1.5}, "end is"), ({"threads": [-1]}, "threads are"),
                              ({"threads": [1 << 64]}, "threads are")):
            with self.assertRaisesRegex(ValueError, wanted):
                trackway.open(self.json, **words)
        trace = trackway.open(self.json)
        with self.assertRaisesRegex(TypeError, "name of a parameter"):
            trace.sql("select :a", {5: 1})
        found = trace.sql("select name, dur from slice where dur in (5000, 30000) order by dur")
        self.assertEqual(found[-2:], [("inner", 5000), ("outer", 30000)])
        self.assertEqual((found[1:1], found[::-1][0].name), ([], "outer"))
        with self.assertRaisesRegex(KeyError, "no column 'nmae': there are name, dur"):
            found.column("nmae")

    def test_an_answer_has_a_limit(self):
        trace = trackway.open(self.json, memory_limit=1 << 20)
        with self.assertRaisesRegex(trackway.Error, "memory limit"):
            trace.sql("with recursive n(i) as (select 1 union all select i + 1 from n) select i from n")
        self.assertEqual(len(trace.sql("select name from slice")), 3)

    def test_a_window_that_ends_first_is_refused(self):
        with self.assertRaisesRegex(trackway.Error, "ends before it begins"):
            trackway.open(self.json, start=6, end=5)

    def test_events_have_what_the_file_says(self):
        events = list(trackway.open(self.json, order="time"))
        self.assertEqual([(e.kind, e.name, e.time) for e in events],
                         [("slice-complete", "outer", 0), ("slice-complete", "inner", 10000), ("counter", "memory", 20000),
                          ("slice-begin", "open", 30000), ("instant", "last", 37000)])
        self.assertEqual((events[0].value, events[0].category, events[0].args), (30000, "a", {"n": 7, "s": "text"}))
        self.assertEqual((events[0].track.kind, events[0].track.process, events[0].track.thread), ("thread", 1, 2))
        self.assertEqual(events[2].args, {"kb": 64})

    def test_a_thread_that_is_not_known_has_no_number(self):
        path = self.folder / "unknown.log"
        path.write_text('prf stm 2024-01-01 00:00:00.000 +00:00\nfun nam 0x00000002 "A::B" "void" "()"\nsam str ? 10 1 0:0 0x2\n', encoding="ascii")
        trace = trackway.open(path)
        self.assertEqual([e.track.thread for e in trace if e.kind == "stack-sample"], [None])
        self.assertEqual([row.thread for row in trace.stat(by="thread")], [None])

    def test_slices_have_durations(self):
        slices = {s.name: (s.time, s.duration, s.end) for s in trackway.open(self.json).slices()}
        self.assertEqual(slices, {"outer": (0, 30000, "ended"), "inner": (10000, 5000, "ended"),
                                  "open": (30000, 7000, "open")})

    def test_slices_are_those_of_sql(self):
        counted = 0
        for path in TRACES:
            trace = trackway.open(path)
            if trace.format == "xray-profiling":
                continue
            rows = trace.sql("select ts, dur, coalesce(name, ''), coalesce(category, ''), end_kind from slice")
            ours = collections.Counter((s.time, s.duration, s.name, s.category, s.end) for s in trace.slices())
            self.assertEqual(ours, collections.Counter(map(tuple, rows)), path)
            counted += len(rows)
        self.assertGreater(counted, 100)

    def test_options_choose(self):
        def names(**options):
            return sorted(s.name for s in trackway.open(self.json, **options).slices())
        self.assertEqual(names(min_duration=6000), ["open", "outer"])
        self.assertEqual(names(function="in*"), ["inner"])
        self.assertEqual(names(category="a"), ["outer"])
        self.assertEqual(names(threads=[3]), ["open"])
        self.assertEqual(names(start=32000), ["open"])
        self.assertEqual(names(order="file"), ["inner", "open", "outer"])

    def test_what_is_no_trace_is_an_error(self):
        empty = self.folder / "empty"
        empty.write_bytes(b"")
        for path, text in (("/none/such", "No such file"), (__file__, "expected the header"), (empty, "is empty"),
                           (self.folder, "")):
            with self.assertRaisesRegex(trackway.Error, text) as raised:
                trackway.open(path)
            self.assertLess(raised.exception.status, 0)
            self.assertNotIn("\n", str(raised.exception))
        for wrong in ({"order": "x"}, {"start": -1}, {"jobs": 1 << 40}, {"min_duration": 1.5}):
            with self.assertRaises(ValueError):
                trackway.open(self.json, **wrong)
        with self.assertRaises(ValueError):
            trackway.open("a\0b")
        with self.assertRaises(trackway.Error):
            trackway.open(self.json, format="none")
        with self.assertRaises(trackway.Error):
            trackway.open(self.json, binary="/none/such")

    def test_damage_is_a_warning_and_the_rest_is_there(self):
        whole = list(trackway.open(LOG))
        data = bytearray(LOG.read_bytes())
        data[300:340] = b"\xff" * 40
        damaged = self.folder / "damaged.xray"
        damaged.write_bytes(data)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            rest = list(trackway.open(damaged))
        findings = [w.message.finding for w in told if w.category is trackway.DamageWarning]
        self.assertTrue(findings)
        self.assertEqual(findings[0].file, str(damaged))
        self.assertEqual(told[0].filename, __file__)
        self.assertTrue(any(300 - 16 <= finding.at < 340 for finding in findings))
        self.assertIn("lost", [event.kind for event in rest])
        self.assertGreater(len(rest), len(whole) // 2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(trackway.DamageWarning):
                list(trackway.open(damaged))

    def test_generators_may_be_left(self):
        before = len(os.listdir("/proc/self/fd"))
        trace = trackway.open(DATA / "fxt/oneshot_all.fxt")
        for _ in range(50):
            next(trace.events())
            next(trace.slices(), None)
        kept = trace.events()
        next(kept)
        trace.close()
        next(kept)  # it has begun
        kept.close()
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_what_is_closed_says_so(self):
        with trackway.open(self.json) as trace:
            result = trace.sql("select name from slice")
        self.assertEqual(len(list(result)), 3)
        for use in (trace.stat, trace.flame, lambda: next(trace.events()), lambda: trace.sql("select 1"),
                    lambda: trace.diff(trackway.open(self.json))):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        trace.close()

    def test_threads_ask_at_once(self):
        trace = trackway.open(DATA / "fxt/oneshot_all.fxt")
        expected = sorted(map(tuple, trace.sql("select ts, dur, name from slice")))
        total = trace.stat()[0]
        wrong = []

        def work():
            for _ in range(3):
                if sorted(map(tuple, trace.sql("select ts, dur, name from slice"))) != expected:
                    wrong.append("sql")
                if sorted((s.time, s.duration, s.name) for s in trace.slices()) != expected:
                    wrong.append("slices")
                if trace.stat()[0] != total:
                    wrong.append("stat")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_no_damage_is_a_crash(self):
        """Cut and changed files: each call gives something, or an error of ours."""
        dice = random.Random(39)
        path = self.folder / "attacked"
        for source in TRACES:
            data = source.read_bytes()
            for _ in range(6):
                changed = bytearray(data[:dice.randrange(1, len(data))] if dice.random() < 0.5 else data)
                for _ in range(dice.randrange(8)):
                    changed[dice.randrange(len(changed))] = dice.randrange(256)
                path.write_bytes(changed)
                with contextlib.suppress(trackway.Error):
                    trace = trackway.open(path)
                    for use in (lambda: list(trace), lambda: list(trace.slices()), trace.stat, lambda: trace.flame().svg,
                                lambda: list(trace.sql("select * from slice")), lambda: list(trace.sql("select * from args"))):
                        with contextlib.suppress(trackway.Error):
                            use()


# ---- SQL. ----

class Schema(ctypes.Structure):
    """Arrow's structs, as its document has them."""


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


VOID = ctypes.c_void_p
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", ctypes.CFUNCTYPE(None, VOID)), ("private_data", VOID)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(VOID)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
                  ("release", ctypes.CFUNCTYPE(None, VOID)), ("private_data", VOID)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, VOID, VOID)),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, VOID, VOID)),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, VOID)),
                   ("release", ctypes.CFUNCTYPE(None, VOID)), ("private_data", VOID)]


def arrow_values(schema, array):
    """The values of an array of the types that a result has."""
    kind = schema.format.decode()
    if kind == "n" or not array.length:
        return [None] * array.length
    valid = array.buffers[0]
    bits = ctypes.string_at(valid, (array.length + 7) // 8) if valid else None
    if kind in ("U", "Z"):
        offsets = (ctypes.c_int64 * (array.length + 1)).from_address(array.buffers[1])
        data = ctypes.string_at(array.buffers[2], offsets[array.length])
        values = [data[a:b] for a, b in zip(offsets, offsets[1:])]
        values = [value.decode() for value in values] if kind == "U" else values
    else:
        c_type = {"l": ctypes.c_int64, "g": ctypes.c_double, "i": ctypes.c_int32}[kind]
        values = list((c_type * array.length).from_address(array.buffers[1]))
    if schema.dictionary:
        meaning = arrow_values(schema.dictionary.contents, array.dictionary.contents)
        values = [meaning[value] for value in values]
    return [None if bits and not bits[i >> 3] >> (i & 7) & 1 else value for i, value in enumerate(values)]


def arrow_columns(source):
    """What a consumer of the PyCapsule interface gets."""
    capsule = source.__arrow_c_stream__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = VOID, [ctypes.py_object, ctypes.c_char_p]
    stream = Stream.from_address(get(capsule, b"arrow_array_stream"))
    schema, array, found = Schema(), Array(), []
    assert stream.get_schema(ctypes.addressof(stream), ctypes.addressof(schema)) == 0
    names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
    while stream.get_next(ctypes.addressof(stream), ctypes.addressof(array)) == 0 and array.release:
        found.append([arrow_values(schema.children[i].contents, array.children[i].contents)
                      for i in range(array.n_children)])
        array.release(ctypes.addressof(array))
    schema.release(ctypes.addressof(schema))
    return names, found


MIXED = ("select 1 as i, 0.5 as r, 'x' as t, null as n, x'00ff' as b union all "
         "select null, 1.5, null, null, x'' union all select -3, null, 'x', null, null")


class Sql(Case):
    def test_rows_are_named_tuples(self):
        result = trackway.open(self.json).sql("select name, dur, count(*) over () from slice order by dur")
        self.assertEqual(result.columns, ["name", "dur", "count(*) over ()"])
        self.assertEqual([tuple(row) for row in result], [("inner", 5000, 3), ("open", 7000, 3), ("outer", 30000, 3)])
        self.assertEqual((result[0].name, result[-1].dur, len(result), result.column("dur")),
                         ("inner", 30000, 3, [5000, 7000, 30000]))
        self.assertEqual(result.types, ["str", "int", "int"])
        self.assertIn("<td>inner</td>", result._repr_html_())

    def test_types(self):
        result = trackway.open(self.json).sql(MIXED)
        self.assertEqual([tuple(row) for row in result],
                         [(1, 0.5, "x", None, b"\0\xff"), (None, 1.5, None, None, b""), (-3, None, "x", None, None)])
        self.assertEqual(result.types, ["int", "float", "str", "null", "bytes"])
        self.assertEqual(list(trackway.open(self.json).sql("select name from slice where 0")), [])

    def test_it_is_what_the_tool_answers(self):
        query = "select ts, dur, name, category, depth, args from slice order by id"
        for path in TRACES[:4]:
            said = list(csv.reader(io.StringIO(tool("sql", "--csv", path, query))))
            ours = [["" if value is None else str(value) for value in row] for row in trackway.open(path).sql(query)]
            self.assertEqual(ours, said[1:], path)
            self.assertTrue(ours)

    def test_parameters(self):
        trace = trackway.open(self.json)
        self.assertEqual([tuple(r) for r in trace.sql("select ?, ?, ?", [1, "a\0é", None])], [(1, "a\0é", None)])
        self.assertEqual([tuple(r) for r in trace.sql("select :a, @b", {"a": 2.5, "b": b"\0"})], [(2.5, b"\0")])
        self.assertEqual(len(trace.sql("select 1 from slice where dur >= :least", {"least": 7000})), 2)
        for wrong, error in (([1 << 63], OverflowError), ([object()], TypeError), ("text", TypeError)):
            with self.assertRaises(error):
                trace.sql("select ?", wrong)

    def test_wrong_statements(self):
        trace = trackway.open(self.json)
        for query, text in (("selec", '1:1: near "selec"'), ("select\nfoo from slice", "2:1: no such column: foo"),
                            ("create table x(a)", "not authorized"), ("attach 'x' as y", "not authorized"),
                            ("select load_extension('x')", "not authorized|no such function")):
            with self.assertRaisesRegex(trackway.Error, text):
                trace.sql(query)
        with self.assertRaises(ValueError):
            trace.sql("select 1\0")
        self.assertEqual(list(trace.sql("select 1 as a"))[0].a, 1)

    def test_interrupts_end_a_query(self):
        trace = trackway.open(self.json)
        asking = threading.Event()

        def interrupt():
            while not any(thread.name == "trackway" for thread in threading.enumerate()):
                asking.wait(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        was = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            thread.start()
            with self.assertRaises(KeyboardInterrupt):
                trace.sql("with recursive n(i) as (select 0 union all select i + 1 from n) select count(*) from n")
        finally:
            thread.join()
            signal.signal(signal.SIGINT, was)
        self.assertEqual(list(trace.sql("select 1 as a"))[0].a, 1)

    def test_without_pandas_one_line_says_what_to_install(self):
        with unittest.mock.patch.dict(sys.modules, {"numpy": None, "pandas": None}):
            with self.assertRaisesRegex(ImportError, "^a DataFrame needs pandas: install .* python3-pandas, .*"):
                trackway.open(LOG).sql("select 1").df()

    def test_pandas(self):
        need("pandas")
        trace = trackway.open(self.json)
        frame = trace.sql(MIXED).to_pandas()
        self.assertEqual(list(frame.columns), list("irtnb"))
        self.assertEqual([str(kind) for kind in frame.dtypes], ["Int64", "float64", "object", "object", "object"])
        self.assertEqual(frame["i"].sum(), -2)
        self.assertEqual(frame["r"].sum(), 2.0)
        self.assertEqual(frame["r"].isna().tolist(), [False, False, True])
        self.assertEqual(list(frame["t"]), ["x", None, "x"])
        self.assertEqual(int(frame["n"].isna().sum()), 3)
        frame = trace.sql("select name, dur, dur as dur from slice order by dur").df()
        del trace
        gc.collect()
        self.assertEqual(frame.iloc[:, 1].tolist(), [5000, 7000, 30000])
        self.assertEqual(len(trackway.open(self.json).sql("select * from slice where 0").df()), 0)
        self.assertEqual(trackway.open(self.json).stat().df()["name"].tolist(), ["outer", "open", "inner"])

    def test_columns_are_not_made_cell_by_cell(self):
        need("pandas")
        trace = trackway.open(self.json)
        counts = []
        for rows in (1000, 100000):
            result = trace.sql("with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?) "
                               "select i, i * 0.5 as r, 'name ' || (i % 10) as t from n", [rows])
            result.df()
            calls = []
            sys.setprofile(lambda _frame, event, _what: calls.append(event))
            try:
                self.assertEqual(len(result.df()), rows)
            finally:
                sys.setprofile(None)
            counts.append(len(calls))
        self.assertLess(abs(counts[1] - counts[0]), 100)

    def test_arrow(self):
        trace = trackway.open(self.json)
        result = trace.sql(MIXED)
        names, batches = arrow_columns(result)
        self.assertEqual(names, list("irtnb"))
        self.assertEqual(len(batches), 1)
        self.assertEqual(list(zip(*batches[0])), [tuple(row) for row in result])
        rows = [tuple(row) for row in trackway.open(TRACES[1]).sql("select ts, dur, name, category, args from slice")]
        names, batches = arrow_columns(trackway.open(TRACES[1]).sql("select ts, dur, name, category, args from slice"))
        self.assertEqual(list(zip(*batches[0])), rows)
        released, release = [], _sql._RELEASE
        _sql._RELEASE = lambda address: lambda stream: released.append(release(address)(stream))
        for _ in range(100):  # capsules that nobody takes
            result.__arrow_c_stream__()
        gc.collect()
        _sql._RELEASE = release
        self.assertEqual(len(released), 100)


# ---- Analyses. ----

class Analyses(Case):
    def test_stat(self):
        profile = trackway.open(self.json).stat()
        self.assertEqual([(f.name, f.count, f.total, f.self, f.open) for f in profile],
                         [("outer", 1, 30000, 25000, 0), ("open", 1, 7000, 7000, 1), ("inner", 1, 5000, 5000, 0)])
        self.assertEqual(profile.weight, "calls")
        self.assertIn("<td>outer</td>", profile._repr_html_())
        for path in (LOG, TRACES[1], TRACES[4]):
            said = {row["name"]: (row["count"], row["total_ns"], row["self_ns"])
                    for row in map(json.loads, tool("stat", "--json", path).splitlines()) if "name" in row}
            self.assertEqual({f.name: (f.count, f.total, f.self) for f in trackway.open(path).stat()}, said)
        by = trackway.open(self.json).stat(by="thread")
        self.assertEqual({(f.name, f.thread) for f in by}, {("outer", 2), ("inner", 2), ("open", 3)})
        for wrong in ({"by": "x"}, {"weight": "x"}):
            with self.assertRaises(ValueError):
                trackway.open(self.json).stat(**wrong)
        with self.assertRaises(trackway.Error):
            trackway.open(LOG).stat(weight="bytes")

    def test_flame(self):
        flame = trackway.open(self.json).flame(title="a <title>")
        root = xml.etree.ElementTree.fromstring(flame.svg)
        self.assertTrue(root.tag.endswith("svg"))
        for text in ("outer", "inner", "a &lt;title"):
            self.assertIn(text, flame.svg)
        self.assertTrue(flame.html.startswith("<!DOCTYPE html>") or "<html" in flame.html[:200])
        self.assertIn("srcdoc", flame._repr_html_())
        self.assertEqual(flame._repr_svg_(), flame.svg)
        flame.save(self.folder / "flame.html")
        self.assertEqual((self.folder / "flame.html").read_text(), flame.html)
        with self.assertRaisesRegex(trackway.Error, "/none/such"):
            flame.save("/none/such/x.svg")

    def test_diff(self):
        after = json.loads(json.dumps(JSON))
        after["traceEvents"][1]["dur"] = 9
        after["traceEvents"].append({"ph": "X", "pid": 1, "tid": 3, "ts": 50, "dur": 1, "name": "new"})
        later = self.folder / "later.json"
        later.write_text(json.dumps(after))
        rows = {row.name: row for row in trackway.open(self.json).diff(trackway.open(later))}
        self.assertEqual((rows["inner"].self_change, rows["outer"].self_change), (4000, -4000))
        self.assertEqual((rows["new"].status, rows["new"].self_b, rows["inner"].count_change), ("only-b", 1000, 0))
        with self.assertRaises(ValueError):
            trackway.open(self.json).diff(trackway.open(later), by="x")


# ---- Writing. ----

class Writing(Case):
    def write(self, path, **options):
        with trackway.Writer(path, **options) as writer:
            writer.process(10, "program")
            main, other = writer.thread(10, 11, "main"), writer.thread(10, 12)
            other.instant("late", 9000)
            main.slice("inner", 2000, 500)
            main.slice("outer", 1000, 5000, category="c", args={"i": -1, "u": (1 << 64) - 1, "f": 0.5, "t": "é", "n": None,
                                                              "y": True, "raw": b"\0\1"})
            main.begin("told", 7000)
            main.end("told", 8000)
            main.counter("memory", 1500, {"kb": 64})
            main.sample(3000, ["a", "b"], 1000)
            main.log("a message", 3500, severity="error")
            main.operation("begin", "load", 4000, 5)
            main.operation("end", "load", 4500, 5)
            main.flow("begin", "arrow", 1200, 6)
            other.flow("end", "arrow", 9000, 6)
        return writer

    def test_it_is_read_again(self):
        for name in ("own.fxt", "own.json", "own.json.gz"):
            path = self.folder / name
            self.write(path)
            trace = trackway.open(path)
            slices = {s.name: (s.time, s.duration, s.track.thread) for s in trace.slices()}
            self.assertEqual(slices, {"outer": (0, 5000, 11), "inner": (1000, 500, 11), "told": (6000, 1000, 11)}, name)
            args = next(s.args for s in trace.slices() if s.name == "outer")
            self.assertEqual((args["i"], args["u"], args["f"], args["t"], args["n"], args["y"]),
                             (-1, (1 << 64) - 1, 0.5, "é", None, True), name)
            self.assertEqual(next(s.track.name for s in trace.slices()), "main")

    def test_others_read_it(self):
        self.write(self.folder / "own.json")
        events = {event.get("name"): event for event in json.loads((self.folder / "own.json").read_text())["traceEvents"]}
        self.assertEqual((events["outer"]["ts"], events["outer"]["dur"]), (0, 5))
        self.assertEqual(events["memory"]["args"], {"kb": 64})
        self.write(self.folder / "own.folded")
        # Calls are counted where there are some: what each has of its own.
        self.assertEqual(sorted((self.folder / "own.folded").read_text().splitlines()),
                         ["outer 4500", "outer;inner 500", "told 1000"])

    def test_wrong_words_and_names(self):
        with trackway.Writer(self.folder / "own.fxt") as writer:
            thread = writer.thread(1, 2)
            for call, says in ((lambda: thread.flow("xx", "a", 1, 2), "no phase 'xx': there are begin, step, end"),
                               (lambda: thread.operation("xx", "a", 1, 2), "no phase 'xx': there are begin, instant, end"),
                               (lambda: thread.log("a", 1, severity="x"), "no severity 'x': there are trace, ")):
                with self.assertRaisesRegex(ValueError, says):
                    call()
            with self.assertRaisesRegex(TypeError, "a name is a text, not NoneType"):
                thread.slice(None, 1, 2)
        with self.assertRaisesRegex(TypeError, "a query is a text, not int"):
            trackway.open(self.folder / "own.fxt").sql(1)

    def test_every_format(self):
        count = 0
        while _library.lib.tw_writer_format_name is not None:
            _library.lib.tw_writer_format_name.restype = ctypes.c_char_p
            name = _library.lib.tw_writer_format_name(ctypes.c_size_t(count))
            if name is None:
                break
            count += 1
            path = self.folder / f"own-{name.decode()}"
            try:
                writer = self.write(path, format=name.decode())
            except trackway.Error as error:
                self.assertRegex(str(error), "record by record|only|made from", name)
                continue
            self.assertTrue(path.exists(), name)
            self.assertTrue(all(loss.approximated + loss.left_out for loss in writer.losses), name)
        self.assertGreater(count, 8)

    def test_nothing_is_left_behind(self):
        path = self.folder / "own.fxt"
        with self.assertRaises(KeyError):
            with trackway.Writer(path) as writer:
                writer.thread(1, 2).instant("x", 1)
                raise KeyError
        writer = trackway.Writer(path)
        writer.discard()
        del writer
        trackway.Writer(path)  # and forgotten
        gc.collect()
        self.assertEqual(sorted(item.name for item in self.folder.iterdir()), ["trace.json"])
        with trackway.Writer(path):
            pass
        self.assertEqual(list(trackway.open(path)), [])

    def test_wrong_use(self):
        with self.assertRaisesRegex(ValueError, "ending"):
            trackway.Writer(self.folder / "x.unknown")
        with self.assertRaises(trackway.Error):
            trackway.Writer(self.folder / "x", format="none")
        with self.assertRaises(trackway.Error):
            trackway.Writer("/none/such/x.fxt").close()
        writer = trackway.Writer(self.folder / "x.fxt")
        thread = writer.thread(1, 2)
        for error, call in (
                (TypeError, lambda: thread.sample(1, "main", 5)), (OverflowError, lambda: thread.instant("x", -1)), (OverflowError, lambda: thread.instant("x", 1.5)),
                (OverflowError, lambda: thread.slice("x", 1, 1 << 64)),
                (OverflowError, lambda: thread.slice("x", (1 << 64) - 1, 1)),
                (OverflowError, lambda: thread.instant("x", 1, args={"a": 1 << 64})),
                (TypeError, lambda: thread.instant("x", 1, args={"a": []})),
                (ValueError, lambda: thread.instant("x", 1, args={str(i): i for i in range(256)})),
                (ValueError, lambda: thread.counter("x", 1, {})), (ValueError, lambda: thread.flow("no", "x", 1, 1)),
                (OverflowError, lambda: writer.thread(-1, 2))):
            with self.assertRaises(error):
                call()
        writer.close()
        for use in (lambda: thread.instant("x", 1), lambda: writer.thread(1, 2), lambda: thread.sample(1, ["a"], 1)):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        writer.close()


# ---- The tutorial. ----

class Tutorial(Case):
    def test_each_block_says_what_it_prints(self):
        need("pandas")
        warnings.simplefilter("error", trackway.DamageWarning)
        text = (ROOT / "doc/python.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        self.assertGreater(len(blocks), 10)
        self.assertEqual(text.count("```python"), len(blocks))
        said, here, names = io.StringIO(), os.getcwd(), {"__name__": "tutorial"}
        os.chdir(self.folder)
        try:
            for number, block in enumerate(blocks, 1):
                test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", "doc/python.md", 0)
                runner = doctest.DocTestRunner(verbose=False)
                runner.run(test, out=said.write, clear_globs=False)
                names = test.globs
        finally:
            os.chdir(here)
        self.assertFalse(said.getvalue(), said.getvalue())


# ---- The package. ----

class Package(Case):
    def test_a_missing_library_is_one_line(self):
        ran = subprocess.run([sys.executable, "-c", "import trackway"], cwd=ROOT / "python", text=True, check=False,
                             stderr=subprocess.PIPE,
                             env={**os.environ, "TRACKWAY_LIBRARY": "/none/such.so", "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stderr.splitlines()[-1], "^ImportError: trackway needs libtrackway.so.0: install .*")

    def test_types_are_checked(self):
        need("mypy")
        use = self.folder / "use.py"
        use.write_text("import trackway\nt: trackway.Trace = trackway.open('x')\nname: str = next(t.slices()).name\n"
                       "wrong: int = next(t.slices()).name\n")
        ran = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "python/pyproject.toml", "--cache-dir",
                              self.folder / "cache", ROOT / "python/trackway"], stdout=subprocess.PIPE, text=True,
                             check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        ran = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", self.folder / "cache", "--strict", use],
                             stdout=subprocess.PIPE, text=True, check=False, cwd=self.folder,
                             env={**os.environ, "MYPYPATH": str(ROOT / "python")})
        self.assertRegex(ran.stdout, r"use.py:4: error: Incompatible types")
        self.assertNotIn("use.py:3", ran.stdout)

    def test_a_log_of_the_recorder_names_its_functions(self):
        if not shutil.which("gcc"):
            self.skipTest("no gcc")
        source, log = self.folder / "program.c", self.folder / "program.xray"
        text = "__attribute__((noinline)) static void parse(void) { __asm__(\"\"); }\nint main(void) { parse(); return 0; }\n"
        source.write_text(text)
        build = ["gcc", "-finstrument-functions", source, "-o", self.folder / "program"]
        subprocess.run(build, check=True)
        tool("record", "--to", "xray-fdr", "-o", log, "--", self.folder / "program")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with trackway.open(log) as trace:
                self.assertEqual([slice.name for slice in trace.slices()], ["parse", "main"])
                self.assertEqual(list(trace.sql("select name from slice order by ts")), [("main",), ("parse",)])
        other = self.folder / "other.xray"
        subprocess.run(["gcc", "-O1", "-finstrument-functions", source, "-o", self.folder / "other"], check=True)
        tool("record", "--to", "xray-fdr", "-o", other, "--", self.folder / "other")
        self.assertEqual({slice.name for slice in trackway.open([log, log]).slices()}, {"parse", "main"})
        source.write_text(text.replace("parse", "write"))
        subprocess.run(["gcc", "-O1", "-finstrument-functions", source, "-o", self.folder / "third"], check=True)
        tool("record", "--to", "xray-fdr", "-o", other, "--", self.folder / "third")
        self.assertEqual(sorted(slice.name for slice in trackway.open([log, other]).slices()), ["main", "main", "parse", "write"])
        several = self.folder / "several.xray"
        several.write_bytes(log.read_bytes() + other.read_bytes())
        self.assertEqual(sorted(slice.name for slice in trackway.open(several).slices()), ["main", "main", "parse", "write"])
        source.write_text(text + "int more;\n")
        subprocess.run(build + ["-Wl,--build-id=0x12345678"], check=True)
        with self.assertWarnsRegex(UserWarning, "program.xray: names are missing: .* built anew") as caught:
            trace = trackway.open(log)
        self.assertEqual(caught.filename, __file__)
        self.assertRegex(next(trace.slices()).name, "^#[0-9]+$")

    def test_the_wheel_is_pure(self):
        need("setuptools")
        need("wheel")
        source = self.folder / "python"
        shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run([sys.executable, "-c", "import setuptools.build_meta as b; b.build_wheel('out')"], cwd=source,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (wheel,) = (source / "out").iterdir()
        self.assertRegex(wheel.name, r"^trackway-[0-9.]+-py3-none-any\.whl$")
        with zipfile.ZipFile(wheel) as inside:
            names = set(inside.namelist())
        here = {f"trackway/{item.name}" for item in (ROOT / "python/trackway").iterdir() if item.is_file()}
        self.assertLessEqual(here, names)
        self.assertIn("trackway/py.typed", names)
        self.assertTrue(any(name.endswith(".dist-info/LICENSE") for name in names), names)

    def test_all_is_documented(self):
        for name in trackway.__all__:
            item = getattr(trackway, name)
            if name in ("Value",):
                continue
            self.assertTrue(item.__doc__, name)
            for member, value in vars(item).items() if isinstance(item, type) else ():
                if not member.startswith("_") and callable(value):
                    self.assertTrue(value.__doc__, f"{name}.{member}")

    def test_versions_agree(self):
        version = re.search(r"^version = \"(.*)\"", (ROOT / "python/pyproject.toml").read_text(), re.M).group(1)
        self.assertEqual(version, trackway.__version__)


class Tap(unittest.TestResult):
    """Prints a line a test."""

    number = 0

    def line(self, test, word, more="", text=""):
        self.number += 1
        name = type(test).__name__ + ": " + test._testMethodName.removeprefix("test_").replace("_", " ")
        print(f"{word} {self.number} - {name}{more}", *text.splitlines(), sep="\n# ", flush=True)

    def addSuccess(self, test):
        self.line(test, "ok")

    def addSkip(self, test, reason):
        self.line(test, "ok", f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(test, "not ok", text=self._exc_info_to_string(err, test))

    addError = addFailure


def main():
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    if len(sys.argv) > 2:  # only those whose name has this
        tests = unittest.TestSuite(t for group in tests for t in group if sys.argv[2] in t.id())
    print(f"TAP version 13\n1..{tests.countTestCases()}")
    result = Tap()
    tests.run(result)
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
