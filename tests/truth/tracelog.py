#!/usr/bin/python3
# tracelog.py - an independent decoder of TraceLog, to test the library against: written from the format's grammar alone.
# SPDX-License-Identifier: Apache-2.0
"""Usage: tracelog.py FILE | tracelog.py --kinds FILE | tracelog.py --samples FILE | tracelog.py --total WEIGHT BY FILE

Without an option: one JSON object a line of the log, with the fields of `trackway dump --json`.
--kinds: how many records there are of each kind.
--samples: each sample with its whole stack.
--total: what functions, classes, modules, threads or lines have of samples, wall, cpu, bytes or allocations: self and inclusive.

Pointers and hexadecimal numbers are integers; what the log writes as "?" is null. An item of a list that is none is left
out, and counted as "bad_items".
"""
import collections
import fractions
import functools
import json
import re
import sys

BOM = b"\xef\xbb\xbf"
GAP = rb"[ \t]+"
SHAPES = {
    "ptr": rb"0[xX][0-9a-fA-F]+", "hex": rb"0[xX][0-9a-fA-F]+", "iid": rb"0[xX][0-9a-fA-F]+|\?", "n": rb"\d+", "ms": rb"-?\d+", "us": rb"-?\d+",
    "tid": rb"\d+|0[xX][0-9a-fA-F]+|\?", "ticks": rb"\d+|\?", "word": rb"[^ \t]+", "zone": rb"[+-][^ \t]*", "flags": rb"[tf]{1,8}",
    "rest": rb"[^ \t](?:.*[^ \t])?",
    "moment": rb"[^ \t]+[ \t]+[^ \t]+",
    "delta": rb"\d+:\d+(?::(?:(?:0[xX])?[0-9a-fA-F]+|\?))?", "text": rb'".*"', "list": rb"[^ \t].*",
}
WIDTHS = {"ptr": 64, "hex": 32, "n": 32, "ticks": 64, "us": 64}
FUNCTION = "ptr:class_id ptr:module_id hex:func_token"
CODE = "list:code?"

# The grammar: what stands behind the two words. `?` behind a field: it may be missing. A kind may have more than one form.
GRAMMAR = {
    "prf stm": ["moment:start_time zone:zone?"],
    "prf cfg": ["word:name rest:value"],
    "prf tps": ["ms:timestamp"],
    "prf trs": ["ms:timestamp"],
    "prc cpu": ["ms:timestamp us:usage"],
    "thr crt": ["ptr:thread_id iid:thread_iid"],
    "thr aos": ["iid:thread_iid n:os_thread_id"],
    "thr dst": ["iid:thread_iid"],
    "thr cpu": ["iid:thread_iid ms:timestamp us:usage"],
    "mod ldf": ["ptr:module_id ptr:base_load_address ptr:assembly_id hex:status text:module_name"],
    "mod ata": ["ptr:module_id ptr:assembly_id"],
    "asm ldf": ["ptr:assembly_id ptr:app_domain_id ptr:module_id hex:status text:assembly_name"],
    "apd crf": ["ptr:app_domain_id ptr:process_id hex:status text:app_domain_name"],
    "cls ldf": ["ptr:class_id iid:class_iid ptr:module_id hex:class_token hex:status",
                "ptr:class_id ptr:module_id hex:class_token hex:status"],
    "cls nam": ["iid:class_iid text:class_name"],
    "fun inf": [f"iid:function_iid ptr:function_id {FUNCTION} {CODE}"],
    "fun cmf": [f"ptr:function_id iid:function_iid {FUNCTION} hex:status {CODE}"],
    "fun csf": [f"ptr:function_id iid:function_iid {FUNCTION} {CODE}"],
    "fun nam": ["iid:function_iid text:full_name"],
    "jit cms": ["tid:thread ms:timestamp ptr:function_id"],
    "jit cmf": ["tid:thread ms:timestamp ptr:function_id hex:status"],
    "jit css": ["tid:thread ms:timestamp ptr:function_id"],
    "jit csf": ["tid:thread ms:timestamp ptr:function_id"],
    "gch gcs": ["tid:thread ms:timestamp word:reason flags:gen_collect"],
    "gch gcf": ["tid:thread ms:timestamp"],
    "gch alt": ["ms:timestamp list:items?"],
    "gch gen": ["ms:timestamp list:generations?"],
    "sam str": ["iid:thread_iid ms:timestamp ticks:count delta:delta list:frames?"],
    "str sam": ["iid:thread_iid ms:timestamp ticks:count delta:delta list:frames?"],
    "sam mem": ["iid:thread_iid ms:timestamp list:items?"],
    "lin src": ["hex:line_id hex:file_id iid:function_iid n:start_line n:start_column n:end_line n:end_column"],
    "fil src": ["hex:file_id text:path"],
}
KINDS = [words.replace(" ", "-") for words in GRAMMAR]


class Bad(Exception):
    """A line that is not as the grammar has it."""


def surplus_of(words, form):
    """What may stand behind the last field, and is left out. A text ends at the last quote, what goes on to the end of the
    line has nothing behind it, and a cls ldf of 2017 is told from others by the number of its fields."""
    last = form.split()[-1].split(":")[0]
    if last in ("list", "rest") or (words == "cls ldf" and form is GRAMMAR[words][1]):
        return b""
    return b"(?:" + GAP + (rb'[^ \t"][^"]*' if last == "text" else rb"[^ \t].*") + b")?"


def pattern_of(words, form):
    pattern = GAP.join(word.encode() for word in words.split())
    for field in form.split():
        shape, name = field.rstrip("?").split(":")
        part = GAP + b"(?P<" + name.encode() + b">" + SHAPES[shape] + b")"
        pattern += b"(?:" + part + b")?" if field.endswith("?") else part
    return re.compile(rb"[ \t]*" + pattern + surplus_of(words, form) + rb"[ \t]*\Z", re.DOTALL)


FORMS = {words: [(pattern_of(words, form), dict(field.rstrip("?").split(":")[::-1] for field in form.split()))
                 for form in forms] for words, forms in GRAMMAR.items()}


# Fields.

def narrow(value, width):
    if not -(1 << width - 1) <= value < 1 << width:
        raise Bad(f"{value} has more than {width} bits")
    return value


def signed(value, width):
    return value - (1 << width) if value >> width - 1 else value


def hexadecimal(word, width=64):
    return narrow(int(word, 16), width)


def pointer(word):
    """An instruction pointer, with 0x or without."""
    return None if word == b"?" else hexadecimal(word)


def text(data):
    """UTF-8, each byte that is none replaced."""
    return "".join("\N{REPLACEMENT CHARACTER}" if "\udc80" <= char <= "\udcff" else char
                   for char in data.decode("utf-8", "surrogateescape"))


def milliseconds(word):
    """32 bits, written with a sign or without one."""
    return signed(narrow(int(word), 32) % (1 << 32), 32)


def microseconds(word):
    """The same with 64 bits."""
    return signed(narrow(int(word), 64) % (1 << 64), 64)


def moment(word):
    return text(b" ".join(re.split(GAP, word)))


def thread(word):
    """Of the system (decimal), of the profiler (hexadecimal), or none."""
    if word == b"?":
        return {"thread_iid": None}
    if word[:2].lower() == b"0x":
        return {"thread_iid": hexadecimal(word, 32)}
    return {"os_thread_id": narrow(int(word), 32)}


READ = {
    "ptr": hexadecimal, "hex": lambda word: hexadecimal(word, 32), "iid": lambda word: None if word == b"?" else hexadecimal(word, 32),
    "n": lambda word: narrow(int(word), 32),
    "ms": milliseconds, "us": microseconds, "moment": moment, "word": text, "zone": text, "rest": text,
    "ticks": lambda word: None if word == b"?" else narrow(int(word), 64), "text": lambda word: text(word[1:-1]),
    "flags": lambda word: [flag == ord("t") for flag in word],
}


# Lists.

@functools.lru_cache(maxsize=1 << 16)
def item_of(word, *shapes):
    """The parts of an item; those that are missing at its end are left out. Stacks share most of theirs."""
    parts = word.split(b":")
    most, least = len(shapes), sum(not shape.endswith("?") for shape in shapes)
    if not least <= len(parts) <= most:
        raise Bad(f"an item of {len(parts)} parts: {word}")
    return [ITEM[shape.rstrip("?")](part) for part, shape in zip(parts, shapes)]


def decimal(word):
    if not re.fullmatch(rb"\d+", word):
        raise Bad(f"no number: {word}")
    return narrow(int(word), 64)


def prefixed(word, width):
    if not re.fullmatch(SHAPES["hex"], word):
        raise Bad(f"no hexadecimal number: {word}")
    return hexadecimal(word, width)


def ip(word):
    if not re.fullmatch(rb"(0[xX])?[0-9a-fA-F]+|\?", word):
        raise Bad(f"no instruction pointer: {word}")
    return pointer(word)


ITEM = {"n": decimal, "iid": lambda word: None if word == b"?" else prefixed(word, 32), "il": lambda word: prefixed(word, 32), "x": lambda word: prefixed(word, 64), "ip": ip, "name": text}


def items_of(words, names, *shapes):
    """Those that are as they should be, and how many are not."""
    items, bad = [], 0
    for word in words:
        try:
            items.append(dict(zip(names, item_of(word, *shapes))))
        except Bad:
            bad += 1
    return items, bad


def code(words):
    """Blocks of code, then maps."""
    count = next((number for number, word in enumerate(words) if word.count(b":") != 1), len(words))
    blocks, bad_blocks = items_of(words[:count], ("start_addr", "size"), "x", "x")
    maps, bad_maps = items_of(words[count:], ("il_offset", "native_start", "native_end"), "il", "x", "x")
    return {"code": blocks, "il_map": maps}, bad_blocks + bad_maps


LISTS = {
    "frames": (("function_iid", "ip"), "iid", "ip?"),
    "items": (("class_iid", "alloc_count", "mem_size", "ip"), "iid", "n", "n", "ip?"),
    "generations": (("name", "allocated", "reserved"), "name", "n", "n"),
}


def list_of(name, word):
    """The fields of a list."""
    words = re.split(GAP, word.strip(b" \t")) if word else []
    if name == "code":
        row, bad = code(words)
    else:
        items, bad = items_of(words, *LISTS[name])
        row = {name: items}
    return {**row, "bad_items": bad} if bad else row


# Records.

def names_of_function(body):
    """name, return type, signature: split at the last two `" "`; of 2017 the name alone."""
    parts = re.fullmatch(rb'"(.*)"[ \t]+"(.*)"[ \t]+"(.*)"', body, re.DOTALL)
    if parts:
        return dict(zip(("full_name", "return_type", "signature"), map(text, parts.groups())))
    if re.search(rb'"[ \t]+("|\Z)', body[1:-1]):
        raise Bad("neither one text nor three")
    return {"full_name": text(body[1:-1])}


def start_time(row):
    """A date, a time, maybe a zone."""
    found = re.fullmatch(r"\d{4}-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.\d{3}", row["start_time"])
    zone = re.fullmatch(r"[+-](\d\d):(\d\d)", row.get("zone", "+00:00"))
    if not found or not zone:
        raise Bad("no time")
    month, day, hour, minute, second = map(int, found.groups())
    offset, rest = map(int, zone.groups())
    if not 1 <= month <= 12 or not 1 <= day <= 31 or max(hour, offset) > 23 or max(minute, rest) > 59 or second > 60:
        raise Bad("no time")


def split_delta(row):
    parts = row.pop("delta").split(b":")
    row["match_prefix_size"], row["stack_size"] = (narrow(int(part), 32) for part in parts[:2])
    if len(parts) > 2:
        row["ip"] = pointer(parts[2])


def checked(row, kind):
    if kind == "prf stm":
        start_time(row)
    if kind == "gch gcs":
        row["reason"] = None if row["reason"] == "?" else row["reason"]


def fields(kind, found, shapes):
    row = {}
    for name, shape in shapes.items():
        word = found[name]
        if shape == "list":
            row.update(list_of(name, word))
        elif shape == "tid":
            row.update(thread(word))
        elif word is not None:
            row[name] = word if shape == "delta" else READ[shape](word)
    if "delta" in row:
        split_delta(row)
    if kind == "fun nam":
        row.update(names_of_function(found["full_name"].strip(b" \t")))
    checked(row, kind)
    return row


def words_of(line):
    """The kind that a line says it is, or None."""
    found = re.match(rb"[ \t]*(\w+)[ \t]+(\w+)(?:[ \t]|\Z)", line)
    words = b" ".join(found.groups()).decode() if found else None
    return words if words in GRAMMAR else None


def decode(line):
    """The record of a line without its end: a dict. Raises Bad."""
    words = words_of(line)
    if not words:
        raise Bad("no kind")
    for pattern, shapes in FORMS[words]:
        found = pattern.match(line)
        if found:
            return {"record": words.replace(" ", "-"), **fields(words, found, shapes)}
    raise Bad(f"{words} is not as it should be")


def lines(data):
    """Offset and bytes of each line, without LF, CR or byte order mark."""
    offset = 0
    while offset < len(data):
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        line = data[offset:end]
        if offset == 0:
            line = line.removeprefix(BOM)
        yield offset, line.removesuffix(b"\r")
        offset = end + 1


@functools.lru_cache(maxsize=1 << 16)
def row_of(line):
    """Tests see the same line in many logs: nobody may change what is in the row."""
    try:
        return decode(line)
    except Bad as reason:
        return {"record": "unknown", "why": str(reason)}


def records(data, texts=True):
    """A dict for each line that is not empty; of one that is no record "unknown", and what stands there."""
    for number, (offset, line) in enumerate(lines(data), 1):
        if line.strip(b" \t"):
            row = {"offset": offset, "line": number, **row_of(line)}
            if texts and "why" in row:
                row["text"] = text(line)
            yield row


def kinds(data):
    return collections.Counter(row_of(line)["record"] for _, line in lines(data) if line.strip(b" \t"))


# What the records say together.

class Thread:
    def __init__(self, iid):
        self.iid, self.stack, self.last, self.last_cpu = iid, [], None, None
        self.waiting = []  # samples since the last CPU record
        self.debt = 0  # CPU time that was taken back


class Sample:
    """A sample: `stack` is a tuple of (function iid, ip), outermost first."""

    def __init__(self, row, thread, wall):
        self.offset, self.thread, self.ms, self.stack = row["offset"], thread.iid, row["timestamp"], tuple(thread.stack)
        self.count = row["count"] or 0
        self.wall, self.cpu = wall, fractions.Fraction(0)


Allocation = collections.namedtuple("Allocation", "offset thread ms class_iid count bytes ip stack")
Compilation = collections.namedtuple("Compilation", "thread begin end function_iid cached status code")
Collection = collections.namedtuple("Collection", "thread begin end reason generations offset")
Usage = collections.namedtuple("Usage", "thread ms us interval")
UNKNOWN = None  # the function of a frame that no record gave
COMPILER = "<JIT>"  # the frame of what no sample tells of


class Log:
    """A whole log: records, then what follows from all of them."""

    def __init__(self, data):
        self.kinds = collections.Counter()
        self.samples, self.allocations, self.compilations, self.collections, self.usages = [], [], [], [], []
        self.heap, self.generations, self.mismatches, self.unshared, self.of_compiler = [], [], [], [], []
        self.compiling_since = {}
        self.threads, self.of_system, self.open = {}, {}, collections.defaultdict(list)
        self.functions, self.classes, self.modules, self.assemblies = {}, {}, {}, {}  # iid or pointer -> dict
        self.class_names, self.function_names, self.class_at, self.function_at = {}, {}, {}, {}
        self.compiled_lines = []  # where each of `compilations` begins and ends
        self.compiling = collections.defaultdict(int)  # thread -> ms in compilations since its last usage
        self.last_compiled = {}  # function pointer -> place in `compilations`
        self.signatures, self.overloads = {}, collections.defaultdict(set)
        self.sources, self.files, self.config = {}, {}, {}
        self.resumed, self.paused, self.latest = None, None, 0
        for row in records(data, texts=False):
            self.kinds[row["record"]] += 1
            self.latest = max(self.latest, row.get("timestamp", 0))
            take = getattr(self, row["record"].replace("-", "_"), None)
            if take:
                take(row)

    def thread(self, iid):
        return self.threads.setdefault(iid, Thread(iid))

    def thread_of(self, row):
        """The profiler's number of a thread that may be given by the system's."""
        return row["thread_iid"] if "thread_iid" in row else self.of_system.get(row["os_thread_id"])

    # Configuration, threads, names.

    def prf_cfg(self, row):
        self.config[row["name"]] = row["value"]

    def timeout(self):
        """What the first usage is of, in ms."""
        value = self.config.get("CpuTraceTimeoutMs", "")
        return int(value) if re.fullmatch(r"[0-9]+", value) else 0

    def prf_tps(self, row):
        self.paused = row["timestamp"]

    def prf_trs(self, row):
        self.resumed = row["timestamp"]

    def thr_crt(self, row):
        self.thread(row["thread_iid"])

    def thr_aos(self, row):
        self.of_system[row["os_thread_id"]] = row["thread_iid"]

    def mod_ldf(self, row):
        self.modules[row["module_id"]] = row["module_name"]

    def cls_ldf(self, row):
        iid = row.get("class_iid")
        self.class_at[row["class_id"]] = iid
        self.classes[iid] = {"module": self.modules.get(row["module_id"]), "token": row["class_token"]}

    def cls_nam(self, row):
        self.class_names[row["class_iid"]] = row["class_name"]

    def fun_inf(self, row):
        iid = row["function_iid"]
        self.function_at[row["function_id"]] = iid
        before, module = self.functions.get(iid, {}).get("bodies", []), row["module_id"]
        same = [one for one in before if one["code"] == row["code"]]
        body = {"code": row["code"], "map": row["il_map"], "told": any(one["told"] for one in same)}
        self.functions[iid] = {"class": self.class_at.get(row["class_id"]), "class_id": row["class_id"],
                               "module": self.modules.get(module, f"module {module:#x}" if module else None),
                               "bodies": [one for one in before if one not in same] + [body] if row["code"] else before}
        if row["code"] and row["function_id"] in self.last_compiled:  # told behind the end of its compilation
            place = self.last_compiled[row["function_id"]]
            one = self.compilations[place]
            self.compilations[place] = one._replace(function_iid=iid, code=one.code + self.size_of(body))

    fun_cmf = fun_csf = fun_inf

    def fun_nam(self, row):
        """Operators of conversion differ by what they return alone."""
        name, iid = row["full_name"], row["function_iid"]
        self.function_names[iid] = name
        self.signatures[iid] = row.get("signature", "")
        if re.search(r"::op_(Im|Ex)plicit\Z", name):
            self.signatures[iid] += " : " + row.get("return_type", "")
        self.overloads[name].add(self.signatures[iid])

    def fil_src(self, row):
        self.files[row["file_id"]] = row["path"]

    def lin_src(self, row):
        self.sources[row["line_id"]] = (row["file_id"], row["start_line"])

    # Stacks.

    def sam_str(self, row):
        thread = self.thread(row["thread_iid"])
        stack, size, match = thread.stack, row["stack_size"], row["match_prefix_size"]
        if size != len(stack):
            self.mismatches.append(row["offset"])
            stack = stack[:size] + [(UNKNOWN, None)] * min(size - len(stack), 1 << 20)
        stack = stack[:match]
        if "ip" in row and stack:
            stack[-1] = (stack[-1][0], row["ip"])
        stack += [(frame["function_iid"], frame.get("ip")) for frame in row["frames"]]
        thread.stack = stack
        if row["count"] != 0:
            self.sample(row, thread)

    str_sam = sam_str

    def sample(self, row, thread):
        """One without ticks is none: it only tells the stack, and its time is the next one's."""
        begins = [time for time in (thread.last, self.resumed) if time is not None]
        wall = max(row["timestamp"] - max(begins), 0) if thread.last is not None else None
        thread.last = row["timestamp"]
        sample = Sample(row, thread, wall)
        self.samples.append(sample)
        thread.waiting.append(sample)

    def sam_mem(self, row):
        stack = tuple(self.thread(row["thread_iid"]).stack)
        for item in row["items"]:
            self.allocations.append(Allocation(row["offset"], row["thread_iid"], row["timestamp"], item["class_iid"],
                                               item["alloc_count"], item["mem_size"], item.get("ip"), stack))

    # CPU time.

    def thr_cpu(self, row):
        thread, used = self.thread(row["thread_iid"]), row["usage"]
        interval = row["timestamp"] - thread.last_cpu if thread.last_cpu is not None else self.timeout()
        self.usages.append(Usage(row["thread_iid"], row["timestamp"], used, interval))
        thread.last_cpu = row["timestamp"]
        thread.debt += max(-used, 0)
        paid = min(thread.debt, max(used, 0))
        thread.debt -= paid
        self.share(thread, max(used, 0) - paid, self.compiler_share(thread.iid, row["timestamp"], interval))

    def nested(self, row):
        """How many compilations are open on the thread of a record."""
        return sum(self.thread_of(one) == self.thread_of(row) for (what, _), ones in self.open.items() if what == "compilation"
                   for one in ones)

    def compiler_share(self, iid, now, interval):
        """How much of an interval a thread compiled in; what compiles still does so from now on."""
        ones = [one for (what, _), ones in self.open.items() if what == "compilation" for one in ones if self.thread_of(one) == iid]
        compiled = self.compiling.pop(iid, 0)
        if ones:
            since = self.compiling_since[iid]
            compiled += max(now - since, 0)
            self.compiling_since[iid] = max(now, since)
        return fractions.Fraction(min(compiled, interval), interval) if interval > 0 else fractions.Fraction(0)

    def share(self, thread, used, of_compiler):
        """Over the samples since the last, by their ticks; by their wall time where none has ticks. What no stack tells of is
        the compiler's for as long as the thread compiled."""
        ticks = any(sample.count for sample in thread.waiting)
        weights = [sample.count if ticks else sample.wall or 0 for sample in thread.waiting]
        if not sum(weights):
            self.unshared.append((thread.iid, used - used * of_compiler))
            self.of_compiler.append((thread.iid, used * of_compiler))
        for sample, weight in zip(thread.waiting, weights) if sum(weights) else ():
            part = fractions.Fraction(used * weight, sum(weights))
            sample.cpu += part if sample.stack else part - part * of_compiler
            self.of_compiler.append((thread.iid, 0 if sample.stack else part * of_compiler))
        thread.waiting = []

    def prc_cpu(self, row):
        last = next((usage.ms for usage in reversed(self.usages) if usage.thread == "process"), None)
        interval = row["timestamp"] - last if last is not None else self.timeout()
        self.usages.append(Usage("process", row["timestamp"], row["usage"], interval))

    # Compilation and collection.

    @staticmethod
    def key(row):
        return row.get("thread_iid"), row.get("os_thread_id")

    def begin(self, row, what):
        self.open[what, self.key(row)].append(row)

    def end(self, row, what, alike):
        """The innermost open one that is alike."""
        waiting = self.open[what, self.key(row)]
        for number in reversed(range(len(waiting))):
            if alike(waiting[number]):
                return waiting.pop(number)
        return None

    def compiled(self, row, what):
        begun = self.end(row, what, lambda one: one["function_id"] == row["function_id"])
        if begun:
            iid = self.function_at.get(row["function_id"], f"function at {row['function_id']:#x}")
            body = next(reversed(self.functions.get(iid, {}).get("bodies", ())), None)
            code = self.size_of(body)
            if what != "search" and not self.nested(row):
                self.compiling[self.thread_of(row)] += max(row["timestamp"] - self.compiling_since[self.thread_of(row)], 0)
            if what != "search":
                self.last_compiled[row["function_id"]] = len(self.compilations)
            self.compiled_lines.append((begun["offset"], row["offset"]))
            self.compilations.append(Compilation(self.thread_of(row), begun["timestamp"], row["timestamp"], iid,
                                                 what == "search", row.get("status"), code))

    @staticmethod
    def size_of(body):
        """Each body of a method counts once."""
        if not body or body.get("told"):
            return 0
        body["told"] = True
        return sum(block["size"] for block in body["code"])

    def jit_cms(self, row):
        self.last_compiled.pop(row["function_id"], None)
        if not self.nested(row):
            self.compiling_since[self.thread_of(row)] = row["timestamp"]
        self.begin(row, "compilation")

    def jit_cmf(self, row):
        self.compiled(row, "compilation")

    def jit_css(self, row):
        self.begin(row, "search")

    def jit_csf(self, row):
        self.compiled(row, "search")

    def gch_gcs(self, row):
        self.begin(row, "collection")

    def gch_gcf(self, row):
        """Of its thread, or else of any: what is done in the background may end on another thread."""
        begun = self.end(row, "collection", lambda one: True)
        others = [waiting for (what, _), waiting in self.open.items() if what == "collection" and waiting]
        if not begun and others:
            begun = max(others, key=lambda waiting: waiting[-1]["offset"]).pop()
        if begun:
            self.collections.append(Collection(self.thread_of(begun), begun["timestamp"], row["timestamp"], begun["reason"],
                                               begun["gen_collect"], begun["offset"]))

    def gch_alt(self, row):
        self.heap.append((row["timestamp"], {item["class_iid"]: (item["alloc_count"], item["mem_size"])
                                             for item in row["items"]}))

    def gch_gen(self, row):
        self.generations.append(((row["timestamp"], row["offset"]), [item["allocated"] for item in row["generations"]]))


def own_times(log):
    """Of each compilation, what it took without others inside it on its thread, which begin and end between its lines; None
    where the times of a thread go back: then two that follow one another may seem to be in one another."""
    order = sorted(range(len(log.compilations)), key=lambda place: log.compiled_lines[place])
    own, around = [one.end - one.begin for one in log.compilations], collections.defaultdict(list)
    for place in order:
        one, (first, last) = log.compilations[place], log.compiled_lines[place]
        waiting = around[one.thread]
        while waiting and log.compiled_lines[waiting[-1]][1] < first:
            if log.compilations[waiting.pop()].end > one.begin:
                return None
        if waiting and not log.compilations[waiting[-1]].cached:
            own[waiting[-1]] -= one.end - one.begin
        waiting.append(place)
    return own


def begun(one):
    """Lines of one millisecond are in the order of the file."""
    return one.begin, one.offset


def report_after(log, one):
    """The first from the end of a collection on."""
    return next((parts for at, parts in sorted(log.generations) if at[0] >= one.end and at > begun(one)), None)


def report_before(log, one):
    return next((report for report in sorted(log.generations, reverse=True) if report[0] < begun(one)), (None, None))


def allocated_between(log, since, until):
    return sum(it.bytes for it in log.allocations if (since or (-1, -1)) <= (it.ms, it.offset) < until)


def heap_before(log, one):
    """What the last report had, and what was allocated since then."""
    at, parts = report_before(log, one)
    known = parts is not None and any((it.ms, it.offset) < begun(one) for it in log.allocations)
    return sum(parts) + allocated_between(log, at, begun(one)) if known else None


def promoted(log, one):
    """What is in older generations afterwards than those that were collected, and was not there before, or in the oldest. Parts
    are by position: LOH, 2, 1, 0, others."""
    after, before, last = report_after(log, one), report_before(log, one)[1], max([2 * one.generations[2], one.generations[1]])
    if after is None or not any(one.generations[:3]) or (last < 2 and before is None):
        return None
    lives = sum(after[3 - number] for number in range(1, last + 1)) + (after[0] if one.generations[3] else 0)
    return lives + (max(after[2 - last] - before[2 - last], 0) if last < 2 else 0)


def ran_at(log, one, previous):
    """The function that the thread of a collection allocated in since the one before began; where no allocation is told by then,
    that it was seen in."""
    told = [it for it in log.allocations if (it.ms, it.offset) < begun(one)] or log.samples
    seen = [(it.ms, it.offset, it.stack) for it in told if it.thread == one.thread]
    last = max((it for it in seen if (begun(previous) if previous else (-1, -1)) < it[:2] < begun(one)), default=None, key=lambda it: it[:2])
    return named(log, last[2][-1][0])[0][0] if last and last[2] else None


def compiler_usage(log):
    """Of each compilation an estimate of its CPU time in us: of each usage of its thread the share of the interval that it
    took itself. None where no usage tells; of all, None where own_times() tells nothing."""
    if own_times(log) is None:
        return None
    order = sorted(range(len(log.compilations)), key=lambda place: log.compiled_lines[place])
    found = [None] * len(order)
    debts = collections.Counter()
    for usage in log.usages:
        debts[usage.thread] += max(-usage.us, 0)
        paid = min(debts[usage.thread], max(usage.us, 0))
        debts[usage.thread] -= paid
        first, last, own, around = usage.ms - usage.interval, usage.ms, {}, []
        for place in order if usage.interval > 0 else ():
            one, (begun, ended) = log.compilations[place], log.compiled_lines[place]
            if one.thread != usage.thread or one.begin >= last or (one.end <= first and one.begin < first):
                continue
            while around and log.compiled_lines[around[-1]][1] < begun:
                around.pop()
            own[place] = max(min(one.end, last) - max(one.begin, first), 0)
            if around:
                own[around[-1]] -= own[place]
            around.append(place)
        for place, ms in own.items():
            found[place] = (found[place] or 0) + fractions.Fraction((max(usage.us, 0) - paid) * ms, usage.interval)
    return found


# Totals.

WEIGHTS = ("samples", "wall", "cpu", "bytes", "allocations")
PARTS = ("function", "class", "module", "thread", "line")
NOWHERE = (("(no stack)", 0), "(no stack)", "(no stack)")
MILLION = 10**6


def weighed(log, weight):
    """Thread, stack and weight of everything that has some: times in nanoseconds."""
    if weight in ("bytes", "allocations"):
        for one in log.allocations:
            yield one.thread, placed(one, weight), one.bytes if weight == "bytes" else one.count
    for sample in log.samples if weight in ("samples", "wall", "cpu") else ():
        yield sample.thread, sample.stack, {"samples": sample.count, "wall": (sample.wall or 0) * MILLION,
                                            "cpu": sample.cpu * 1000}[weight]
    for thread, used in log.unshared if weight == "cpu" else ():
        yield thread, (), used * 1000
    for thread, used in log.of_compiler if weight == "cpu" else ():
        yield thread, ((COMPILER, None),), used * 1000


@functools.lru_cache(maxsize=16)
def summed(log, weight):
    """Thread and stack -> weight: of a whole log, of which nothing may change any more."""
    found = collections.Counter()
    for thread, stack, amount in weighed(log, weight):
        if amount:
            found[thread, stack] += amount
    return found


def named(log, iid):
    """The name and number of a function, as it is known at the end, its class and its module."""
    if iid == COMPILER and 1 in log.function_names:
        iid = 1
    if isinstance(iid, str):
        return (iid, 0), None, None
    if iid is UNKNOWN:
        return ("(unknown)", 0), None, None
    function = log.functions.get(iid, {})
    pointer = function.get("class_id")
    # What is common to all formats tells a NUL in a name as four letters.
    name = log.function_names.get(iid, f"function {iid:#x}")
    name = (name + (log.signatures[iid] if len(log.overloads.get(name, ())) > 1 else "")).replace("\0", "\\x00")
    owner = log.class_names.get(function.get("class"), f"class at {pointer:#x}" if pointer else None)
    return (name, iid), owner, function.get("module")


MARKS = {0xFFFFFFFF: None, 0xFFFFFFFE: "IL_prolog", 0xFFFFFFFD: "IL_epilog"}  # ICorDebug's; no mapping, and what has no IL


def il_of(function, ip):
    """What the maps have for an instruction: that of the newest body which holds it."""
    for body in reversed(function.get("bodies", ())):
        if any(block["start_addr"] <= ip < block["start_addr"] + block["size"] for block in body["code"]):
            return il_in(body, ip)
    return None


def il_in(function, ip):
    """The first range in which its offset is, all blocks of code taken as one."""
    offset = 0
    for block in function.get("code", ()):
        if block["start_addr"] <= ip < block["start_addr"] + block["size"]:
            offset += ip - block["start_addr"]
            break
        offset += block["size"]
    else:
        return None
    il = next((one["il_offset"] for one in function["map"] if one["native_start"] <= offset < one["native_end"]), 0xFFFFFFFF)
    return MARKS.get(il, f"IL_{il:04x}")


def place_of(log, iid, ip):
    """The line of the source, where the log tells of lines; otherwise the function and its offset in the IL, where its map
    has it, or the address."""
    name, number = named(log, iid)[0]
    file, line = log.sources.get(ip, (None, None))
    if log.files.get(file) and line:
        return f"{log.files[file]}:{line}", 0
    if not ip:
        return name, number
    il = il_of(log.functions.get(iid, {}), ip) if ip not in log.sources else None
    return f"{name}+{il}" if il else f"{name}@{ip:#x}", number


def placed(one, weight):
    """The stack of a sample, of an allocation with its own place."""
    if weight in ("bytes", "allocations") and one.stack and one.ip:
        return one.stack[:-1] + ((one.stack[-1][0], one.ip),)
    return one.stack


def totals(log, weight, by):
    """part -> [self, inclusive]; a part that is on a stack more than once is counted once."""
    found, cache = collections.defaultdict(lambda: [0, 0]), {}
    for (thread, stack), amount in summed(log, weight).items():
        parts = []
        for iid, ip in stack:
            key = (iid, ip) if by == "line" else iid
            if key not in cache:
                cache[key] = (place_of(log, iid, ip), None, None) if by == "line" else named(log, iid)
            parts.append(cache[key])
        parts = parts or [NOWHERE]
        if by == "line":
            parts = [part[0] for part in parts]
        elif by == "thread":
            parts = [(thread, *function) for function, _, _ in parts]
        else:
            parts = [part[("function", "class", "module").index(by)] for part in parts]
        found[parts[-1]][0] += amount
        for part in set(parts):
            found[part][1] += amount
    return {part: both for part, both in found.items() if any(both)}


def stacks(log, weight):
    """(thread, names outermost first) -> weight."""
    found, name = collections.Counter(), functools.cache(lambda iid: named(log, iid)[0][0])
    for (thread, stack), amount in summed(log, weight).items():
        found[thread, tuple(name(iid) for iid, _ in stack) or ("(no stack)",)] += amount
    return {stack: amount for stack, amount in found.items() if amount}


def main(arguments):
    with open(arguments[-1], "rb") as file:
        data = file.read()
    if arguments[0] == "--kinds":
        print(json.dumps(kinds(data)))
    elif arguments[0] == "--samples":
        for sample in Log(data).samples:
            print(json.dumps({**vars(sample), "cpu": float(sample.cpu)}))
    elif arguments[0] == "--total":
        log = Log(data)
        for part, (own, inclusive) in totals(log, *arguments[1:3]).items():
            print(json.dumps({"name": part, "self": float(own), "inclusive": float(inclusive)}))
    else:
        for row in records(data):
            print(json.dumps(row))


if __name__ == "__main__":
    main(sys.argv[1:])
