#!/usr/bin/python3
# flight_real.py - the calls that the flight recorder counts in programs of others, against callgrind's.
# SPDX-License-Identifier: Apache-2.0
"""usage: flight_real.py --tool TRACKWAY [--library FILE] --sources FOLDER [--fetch] [NAME|NAME-hooks|NAME-sleds...]

Prints TAP. FOLDER has Debian's sources, as `apt-get source` unpacks them; --fetch gets what is missing there, and changes
nothing else of the system. A program whose source is not there is skipped.

Each is built with -finstrument-functions and, where there is clang, with sleds, and run under callgrind with the recorder
in it: so both have seen the same run, and each function must have been called as often. Then the program runs by itself, with
`trackway record`: the counts must be the same again, but for the programs of which two runs differ: Lua and jq take hashes from
addresses, and threads wait for each other.
"""
import argparse
import collections
import csv
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LUA = """
local t = {}
for i = 1, 3000 do t[i] = (i * 7919) % 3001 .. "x" end
table.sort(t)
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local bad = 0
for i = 1, 50 do if not pcall(function() error(i) end) then bad = bad + 1 end end
local co = coroutine.wrap(function() for i = 1, 40 do coroutine.yield(i) end end)
for i = 1, 40 do co() end
print(fib(14), #table.concat(t), bad, string.rep("ab", 100):gsub("b", "c"))
"""
NINJA = "rule r\n  command = true $in\n" + "".join(f"build o{i}: r {'o%d' % (i - 1) if i else ''}\n" for i in range(300))
TEXT = "".join(f"{i * i % 977} the quick brown fox {i}\n" for i in range(4000))
JSON = "[" + ",".join('{"id":%d,"name":"n%d","list":[%d,1.5,null,true]}' % (i, i, i * 3) for i in range(150)) + "]"

# name: package, compiler, sources, flags, files of the run, words, whether two runs differ: by addresses, or as threads wait for each other
Program = collections.namedtuple("Program", "package compiler sources flags files words varies", defaults=(False,))
PROGRAMS = {
    "lua": Program("lua5.4", "cc", ["src/*.c", "!src/luac.c"], ["-DLUA_USE_LINUX", "-lm", "-ldl"], {"in": LUA}, ["in"], True),
    "bzip2": Program("bzip2", "cc", ["blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c", "bzlib.c",
                                     "bzip2.c"], [], {"in": TEXT}, ["-k", "-c", "in"]),
    "jq": Program("jq", "cc", ["src/*.c", "!src/inject_errors.c"],
                  ["-D_GNU_SOURCE", "-DIEEE_8087", "-DHAVE_MEMMEM", "-DHAVE_ISATTY", "-DUSE_DECNUM=0", "-DHAVE_MKSTEMP", "-Isrc", "-lm", "-w"], {"in": JSON},
                  ["-c", "map(select(.id % 3 == 0) | .list | map(numbers) | add) | sort", "in"], True),
    "ninja": Program("ninja-build", "c++", ["src/*.cc", "!src/*test*.cc", "!src/*win32.cc", "!src/*perf*.cc", "!src/browse.cc",
                                            "!src/*.in.cc", "!src/hash_collision_bench.cc", "!src/gen*"], ["-w"],
                     {"build.ninja": NINJA}, ["-n"]),
    "lzlib": Program("lzlib", "cc", ["lzlib.c", "carg_parser.c", "minilzip.c"], ['-DPROGVERSION="1.13"', "-w"], {"in": TEXT},
                     ["-k", "-c", "-0", "in"]),
    "pbzip2": Program("pbzip2", "c++", ["pbzip2.cpp", "BZ2StreamScanner.cpp", "ErrorContext.cpp"],
                      ["-DUSE_STACKSIZE_CUSTOMIZATION", "-D_FILE_OFFSET_BITS=64", "-lbz2", "-pthread", "-w", "-Wno-reserved-user-defined-literal"], {"in": TEXT * 5},
                      ["-k", "-c", "-p3", "-b1", "in"], True),
}
BUILDS = {
    "hooks": ({"cc": "gcc", "c++": "g++"}, ["-finstrument-functions"]),
    "sleds": ({"cc": "clang-14", "c++": "clang++-14"}, ["-fxray-instrument", "-fxray-instruction-threshold=1"]),
}
LINE = re.compile(r"^(c?fn|c?ob)=\((\d+)\)(?: (.*))?$")


class Fails(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Fails(" ".join(str(word) for word in what))


def fetch(folder):
    """The sources that are missing, by a list and caches of apt in the folder."""
    missing = [program.package for program in PROGRAMS.values() if not source_of(folder, program)]
    if not missing:
        return
    apt = folder / "apt"
    (apt / "lists/partial").mkdir(parents=True, exist_ok=True)
    (apt / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
    release = dict(line.strip().split("=", 1) for line in open("/etc/os-release", encoding="utf-8") if "=" in line)
    (apt / "sources.list").write_text("deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
                                      f"http://deb.debian.org/debian {release['VERSION_CODENAME']} main\n")
    options = [f"-oDir::Etc::SourceList={apt / 'sources.list'}", "-oDir::Etc::SourceParts=/dev/null",
               f"-oDir::State::Lists={apt / 'lists'}", f"-oDir::Cache={apt / 'cache'}"]
    subprocess.run(["apt-get", *options, "-qq", "update"], check=True)
    subprocess.run(["apt-get", *options, "-qq", "source", *missing], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def source_of(folder, program):
    found = sorted(path for path in folder.glob(f"{program.package}-[0-9]*") if path.is_dir())
    return found[-1] if found else None


def prepare(name, source):
    """What a program's own build would make first."""
    if name == "lua":
        (source / "src/lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "none"\n')
    if name == "jq":
        lines = (source / "src/builtin.jq").read_text().splitlines()
        text = "".join('"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"\n' for line in lines)
        (source / "src/builtin.inc").write_text(text)
        (source / "src/version.h").write_text('#define JQ_VERSION "1"\n')


def build(name, program, way, source, directory):
    compilers, flags = BUILDS[way]
    taken = []
    for pattern in program.sources:
        if pattern.startswith("!"):
            taken = [path for path in taken if path not in set(source.glob(pattern[1:]))]
        else:
            taken += sorted(source.glob(pattern))
    prepare(name, source)
    target = directory / name
    # Not inlined: callgrind does not see what is. One unit each: names of static functions are told by what is in it.
    done = subprocess.run([compilers[program.compiler], "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-gdwarf-4", *flags, f"-I{source}", *taken,
                    "-o", target, *program.flags], cwd=source, check=False, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 0, "build:", done.stderr[:500])
    return target


def callgrind_calls(path, program):
    """{symbol: calls} of a program in a file of callgrind: each line "calls=" tells of the function before it, which is in the
    object that is told before it, too, or in that of the caller."""
    names, objects, calls = {}, {}, collections.Counter()
    caller_object = called_object = called = None
    for line in open(path, encoding="utf-8", errors="replace"):
        found = LINE.match(line.rstrip("\n"))
        if found:
            what, number, text = found.groups()
            table = objects if what.endswith("ob") else names
            if text:
                table[number] = text
            if what == "ob":
                caller_object = called_object = number
            elif what == "cob":
                called_object = number
            elif what == "cfn":
                called = number
            else:
                called_object = caller_object
        elif line.startswith("calls="):
            if objects.get(called_object) == str(program):
                calls[re.sub(r"'\d+$", "", names[called])] += int(line[6:].split()[0])
            called_object = caller_object
    return calls


def recorded_calls(tool, logs):
    calls = collections.Counter()
    for log in logs:
        done = subprocess.run([tool, "stat", "--csv", "--no-demangle", log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        expect(done.returncode in (0, 1), log, done.stderr)
        for row in csv.DictReader(io.StringIO(done.stdout)):
            calls[row["name"]] += int(row["count"])
    return calls


def merged(calls):
    """Constructors and destructors of one address have two names."""
    found = collections.Counter()
    for name, count in calls.items():
        found[re.sub(r"([CD])1([EI])", r"\g<1>2\2", name)] += count
    return found


def differences(recorded, truth):
    """Functions of one symbol that stand in several files are one there, and here."""
    return [f"{name}: {recorded[name]} recorded, {truth[name]} by callgrind" for name in sorted(recorded) if recorded[name] != truth[name]]


def run(bench, name, program, way):
    source = source_of(bench.sources, program)
    if not source:
        return f"no source of {program.package}"
    if not shutil.which(BUILDS[way][0][program.compiler]):
        return f"no {BUILDS[way][0][program.compiler]}"
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        target = build(name, program, way, source, directory)
        for file, text in program.files.items():
            (directory / file).write_text(text)
        environment = {**os.environ, "LD_PRELOAD": bench.library, "TRACKWAY_FLIGHT": str(directory / "log-%p.xray")}
        done = subprocess.run(["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=truth.out", "--demangle=no", target, *program.words],
                              cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        expect(done.returncode == 0, "callgrind:", done.returncode, done.stderr[-500:])
        truth = merged(callgrind_calls(directory / "truth.out", target))
        recorded = merged(recorded_calls(bench.tool, sorted(directory.glob("log-*.xray"))))
        wrong = differences(recorded, truth)
        expect(not wrong and len(recorded) > 20, len(wrong), "of", len(recorded), "functions:", *wrong[:10])
        again = directory / "again.xray"
        done = subprocess.run([bench.tool, "record", "--to", "xray-fdr", "-o", again, "--library", bench.library, "--", target,
                               *program.words], cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        expect(done.returncode == 0, done.stderr)
        plain = merged(recorded_calls(bench.tool, [again]))
        if not program.varies:
            expect(plain == recorded, "alone:", [(key, plain[key], recorded[key]) for key in recorded if plain[key] != recorded[key]][:5])
        bench.note(f"{name}, {way}: {len(recorded)} functions, {sum(recorded.values())} calls")
    return None


class Bench:
    def __init__(self, options):
        self.tool, self.sources = options.tool, options.sources
        self.library = options.library or str(next(pathlib.Path(self.tool).parent.glob("**/libtrackway_fdr.so")))
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--library", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--sources", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.sources.mkdir(parents=True, exist_ok=True)
    if options.fetch:
        fetch(options.sources)
    bench = Bench(options)
    rows = [(name, way) for name in PROGRAMS for way in BUILDS if not options.names or {name, f"{name}-{way}"} & set(options.names)]
    print("TAP version 13")
    print(f"1..{len(rows)}")
    failed = 0
    for number, (name, way) in enumerate(rows, 1):
        skipped, why = None if shutil.which("valgrind") else "no valgrind", None
        try:
            skipped = skipped or run(bench, name, PROGRAMS[name], way)
        except (Fails, subprocess.SubprocessError) as error:
            why = f"{type(error).__name__}: {error}"
        failed += why is not None
        print("ok" if why is None else "not ok", number, "-", f"{name}, {way}", f"# SKIP {skipped}" if skipped else "", flush=True)
        for line in ([why] if why else []) + bench.notes:
            print("#", line.replace("\n", "\n# "), flush=True)
        bench.notes.clear()
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
