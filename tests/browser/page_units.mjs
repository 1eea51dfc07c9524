// page_units.mjs - the parts of the page of `trackway view` that need no browser. Prints TAP; run by page_tests.py.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const VIEW = join(dirname(fileURLToPath(import.meta.url)), "../../web/view");
const esbuild = createRequire(join(VIEW, "build.mjs"))("esbuild");
globalThis.matchMedia ??= () => ({ matches: false, addEventListener() { } });

/** A module of the page, with all that it needs. */
async function load(path) {
	const { outputFiles } = await esbuild.build({ absWorkingDir: VIEW, entryPoints: [`src/${path}.ts`], bundle: true,
		write: false, format: "esm", logLevel: "error" });
	return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** The bytes of a window by doc/view.md: a row of two slices, a counter, and two names. */
function windowBytes() {
	const bytes = new DataView(new ArrayBuffer(256));
	let at = 0;
	const u8s = text => { for (const byte of Buffer.from(text)) bytes.setUint8(at++, byte); };
	const u16 = value => { bytes.setUint16(at, value, true); at += 2; };
	const u32 = value => { bytes.setUint32(at, value, true); at += 4; };
	const u64 = value => { bytes.setBigUint64(at, BigInt(value), true); at += 8; };
	const f64 = value => { bytes.setFloat64(at, value, true); at += 8; };
	u8s("TWV1");
	u32(7); // generation
	u64(1000); // from
	u64(5000); // to
	[2, 3, 2, 6].forEach(u32); // rows, first name, names, bytes of text
	u32(4); u16(1); u16(2); u32(0); u32(2); // track, lane, depth, slices, 2 of them
	[[-50, 200], [100, 300], [150, 60], [8, 9]].forEach(pair => pair.forEach(f64)); // begin, end, busy, item
	[[1, 5], [3, 4]].forEach(pair => pair.forEach(u32)); // count, name
	u32(5); u16(0); u16(0); u32(1); u32(1); // a counter's series of one value
	[10, 1, 3, 2].forEach(f64);
	[1, 6].forEach(u32); // ends of the names
	u8s("a\u4e00xy");
	at += 2;
	return bytes.buffer.slice(0, at);
}

/** An answer of these bytes, which come 100 at a time, and the rooms that they were written into. */
function answerOf(bytes, rooms) {
	let at = 0;
	const pull = controller => {
		const { byobRequest: request } = controller;
		const part = bytes.subarray(at, at += 100);
		rooms.add(request?.view.buffer.byteLength ?? 0);
		if (request && part.length) {
			new Uint8Array(request.view.buffer, request.view.byteOffset).set(part);
			request.respond(part.length);
		} else if (part.length) {
			controller.enqueue(part.slice());
		} else {
			controller.close();
			request?.respond(0);
		}
	};
	return new Response(new ReadableStream({ type: "bytes", pull }), { headers: { "content-length": String(bytes.length) } });
}

/** Red, green and blue of "#rrggbb", linear. */
function linear(colour) {
	return [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16) / 255).map(part =>
		(part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
}

const luminance = ([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

function contrast(a, b) {
	const [dark, light] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => x - y);
	return (light + 0.05) / (dark + 0.05);
}

/** How eyes without one kind of cone see it: Machado, Oliveira and Fernandes (2009), severity 1. */
const EYES = {
	all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	"no red": [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	"no green": [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
};

/** The place of a linear colour in OKLab: distances there are those that are seen. */
function oklab([red, green, blue]) {
	const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
	const middle = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
	const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
	return [0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
		1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
		0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short];
}

function seen(colour, eyes) {
	const parts = linear(colour);
	return oklab([0, 3, 6].map(row => Math.max(0, parts[0] * eyes[row] + parts[1] * eyes[row + 1] + parts[2] * eyes[row + 2])));
}

const TESTS = {
	async "a window is decoded as doc/view.md has it"() {
		const { decodeWindow } = await load("api");
		const names = ["x", "y", "z"];
		const { generation, from, to, rows: [slices, counter] } = decodeWindow(windowBytes(), names);
		assert.deepEqual([generation, from, to], [7, 1000, 5000]);
		assert.deepEqual([slices.track, slices.lane, slices.depth, slices.kind], [4, 1, 2, "slices"]);
		assert.deepEqual([[...slices.begin], [...slices.end]], [[950, 1200], [1100, 1300]]);
		assert.deepEqual([[...slices.busy], [...slices.item], [...slices.count], [...slices.name]], [[150, 60], [8, 9], [1, 5], [3, 4]]);
		assert.deepEqual([counter.kind, counter.time[0], counter.least[0], counter.most[0], counter.last[0]], ["values", 1010, 1, 3, 2]);
		assert.deepEqual(names, ["x", "y", "z", "a", "\u4e00xy"]);
		assert.throws(() => decodeWindow(new ArrayBuffer(64), []));
	},

	async "answers are written into one room, also two at a time"() {
		const { Server } = await load("api");
		const server = new Server();
		const rooms = new Set();
		const { fetch } = globalThis;
		globalThis.fetch = async () => answerOf(new Uint8Array(windowBytes()), rooms);
		try {
			const ask = () => server.window({ from: 1000, to: 5000 }, 100, [4]);
			for (const { from, to, rows } of [await ask(), ...await Promise.all([ask(), ask()]), await ask()]) {
				assert.deepEqual([from, to], [1000, 5000]);
				assert.deepEqual([...rows[0].begin, ...rows[1].last], [950, 1200, 2]);
			}
			assert.deepEqual([...rooms], [1 << 16]);
		} finally {
			globalThis.fetch = fetch;
		}
	},

	async "of lines those are found that touch what is in sight"() {
		const { linesBetween } = await load("timeline/layout");
		const lines = Array.from({ length: 100 }, (_, i) => ({ y: 10 * i, height: 10 }));
		const found = (top, bottom) => linesBetween(lines, top, bottom).map(({ y }) => y / 10);
		assert.deepEqual([found(15, 35), found(20, 20), found(-9, -1), found(985, 5000), found(1001, 5000)], [[1, 2, 3], [1, 2], [], [98, 99], []]);
		assert.deepEqual(linesBetween([], 0, 10), []);
	},

	async "what a picture needs of a name is found again when the search or the names change"() {
		const { Codes, COLOUR, HIT, SLEEPS } = await load("timeline/codes");
		const names = ["read", "sleeps (io)"];
		const codes = new Codes(names);
		codes.prepare(names, 12, "");
		names[999] = "Reader"; // names come with windows
		assert.deepEqual([0, 1, 999].map(name => codes.of(name) & (HIT | SLEEPS)), [0, SLEEPS, 0]);
		const colours = [0, 1, 999].map(name => codes.of(name) & COLOUR);
		assert(colours.every(colour => colour >= 1 && colour <= 12));
		codes.prepare(names, 12, "READ");
		assert.deepEqual([0, 1, 999].map(name => codes.of(name) & HIT), [HIT, 0, HIT]);
		assert.deepEqual([0, 1, 999].map(name => codes.of(name) & COLOUR), colours);
		assert.deepEqual([codes.label(999, 6), codes.label(0, 3000)], ["Reader", "read"]);
		codes.prepare(["other"], 12, "READ");
		assert.deepEqual([codes.of(0) & HIT, codes.label(0, 3000)], [0, "other"]);
	},

	async "lists of numbers keep what is in them when they grow"() {
		const { Numbers } = await load("timeline/numbers");
		const numbers = new Numbers(2);
		for (let round = 0; round < 2; round++) {
			numbers.clear();
			for (let i = 0; i < 3000; i++)
				numbers.add(i, 2 * i);
			assert.equal(numbers.length, 6000);
			for (const i of [0, 511, 512, 2999])
				assert.deepEqual([...numbers.items.subarray(2 * i, 2 * i + 2)], [i, 2 * i]);
		}
	},

	async "narrow rectangles written row by row are those that would be filled one by one"() {
		const { Pixels } = await load("timeline/pixels");
		const [WIDE, HIGH, ROW, TALL] = [40, 50, 17, 16];
		let random = 1;
		const any = most => (random = random * 48271 % 0x7fffffff) % most;
		let put = null;
		globalThis.document = { createElement: () => ({ getContext: () => ({ putImageData: image => { put = image; } }) }) };
		globalThis.ImageData = class { constructor(width, height) { this.data = new Uint8ClampedArray(4 * width * height); } };
		const compare = ratio => {
			globalThis.devicePixelRatio = ratio;
			const [wide, high] = [WIDE * ratio, Math.round(HIGH * ratio)];
			const pixels = new Pixels();
			for (let picture = 0; picture < 20; picture++) {
				const plain = new Uint32Array(wide * high);
				pixels.begin(WIDE, HIGH);
				for (let floor = 10; floor < HIGH + ROW; floor += ROW) { // the first begins above the picture, the last ends below
					const used = new Uint8Array(wide + 4);
					pixels.row(floor);
					for (let i = 0; i < 60; i++) {
						const [x, width, height, colour] = [any(WIDE + 4) - 2, 1 + any(2), 3 + any(TALL - 2), 1 + any(9)];
						const left = Math.max(0, Math.round(x * ratio));
						const right = Math.min(wide, Math.max(left + 1, Math.round((x + width) * ratio)));
						if (used.subarray(left, right).some(count => count > 1)) // of three in a column one may be left out
							continue;
						pixels.fill(x, floor - height, width, colour);
						for (let at = left; at < right; at++) {
							used[at]++;
							for (let y = Math.max(0, Math.round((floor - height) * ratio)); y < Math.min(high, Math.round(floor * ratio)); y++)
								plain[y * wide + at] = colour;
						}
					}
					pixels.endRow();
				}
				pixels.draw({ drawImage() { } });
				assert.deepEqual(new Uint32Array(put.data.buffer), plain, `ratio ${ratio}, picture ${picture}`);
			}
		};
		[1, 1.25, 2].forEach(compare);
		delete globalThis.document;
	},

	async "the bytes of an answer are given back when no track has rows of it, and the next picture is drawn"() {
		const { Data } = await load("timeline/data");
		const answers = [];
		const released = [];
		const server = {
			release: given => released.push(...given),
			async window({ from, to }, width, tracks) {
				const bytes = new ArrayBuffer(8);
				answers.push(bytes);
				const all = new Float64Array(bytes);
				return { generation: 1, from, to, rows: tracks.map(track => ({ track, lane: 0, depth: 0, kind: "values", time: all, least: all, most: all, last: all })) };
			},
		};
		const data = new Data(server, () => { }, assert.fail);
		data.end = 1e6;
		const look = async (from, tracks) => {
			data.want({ from, to: from + 100 }, 100, tracks);
			await new Promise(resolve => { setTimeout(resolve, 0); });
		};
		await look(1000, [1, 2]);
		await look(5000, [1]);
		await look(5000, [1]);
		assert.deepEqual([answers.length, released], [2, []], "track 2 has rows of the first answer");
		await look(5000, [1, 2]);
		assert.deepEqual([answers.length, released], [3, []], "they may be in the picture");
		await look(5000, [1, 2]);
		assert(released.length === 1 && released[0] === answers[0]);
		assert.equal(data.rows(1)[0].time.buffer, answers[1]);
	},

	async "words of the ruler stand beside the flags of marks"() {
		const { besides } = await load("timeline/ruler");
		for (const [at, flags, left] of [[500, [], 470], [500, [300], 470], [500, [505], 436], [500, [495], 504], [10, [12], 21], [990, [980], 911],
			[500, [480, 520], 411], [500, Array.from({ length: 100 }, (_, i) => i * 10), 470]])
			assert.equal(besides(at, 60, 1000, flags), left, `at ${at} with ${flags}`);
	},

	async "ticks are round and no more than there is room for"() {
		const { ticks, step } = await load("timeline/ticks");
		assert.deepEqual(ticks(0, 1000, 8), [0, 200, 400, 600, 800, 1000]);
		assert.deepEqual(ticks(1234, 1300, 8), [1240, 1250, 1260, 1270, 1280, 1290, 1300]);
		for (const span of [7, 19, 999, 12345, 1e9, 3e12])
			assert(span / step(span, 8) <= 8 && /^[125]0*$/.test(String(step(span, 8))));
	},

	async "times are as the tool prints them"() {
		const { time, round, bytes, operand, shell } = await load("format");
		assert.deepEqual([0, 999, 1000, 1234567, 999999999, 2e9].map(ns => time(ns)), ["0 ns", "999 ns", "1.000 us", "1.235 ms", "1.000 s", "2.000 s"]);
		assert.deepEqual([0, 500, 20_000_000, 1_500_000_000].map(ns => round(ns)), ["0", "500 ns", "20 ms", "1.5 s"]);
		assert.equal(time(1234, "instructions"), "1,234 instructions");
		assert.equal(bytes(1536), "1.5 KiB");
		assert.equal(shell("a'b $(x)"), "'a'\\''b $(x)'");
		assert.equal(shell("select 1\n"), "'select 1\n'");
		// A terminal takes these for keys: the first one would end the quotes.
		for (const word of ["\x15touch x\n.json", "\x1b[201~\x15a", "it's\t\\x\x7f", "\x9b1;\u0085"]) {
			assert.doesNotMatch(shell(word), /[\x00-\x1f\x7f-\x9f]/);
			assert.equal(execFileSync("bash", ["--norc", "-c", `printf %s ${shell(word)}`], { encoding: "utf8", env: { LC_ALL: "C.UTF-8" } }), word);
		}
		// Bytes of a path that are no UTF-8.
		assert.equal(shell("\ud83d\ude00 a"), "'\ud83d\ude00 a'");
		assert.equal(shell("x\udcff1'\x01\udcc3"), "$'x\\xff1\\'\\u0001\\xc3'");
		assert.deepEqual(execFileSync("bash", ["--norc", "-c", `printf %s ${shell("x\udcff1'\x01\udcc3")}`]), Buffer.from("x\xff1'\x01\xc3", "latin1"));
		assert.deepEqual(["-x.json", "-", "a", "./-a"].map(operand), ["./-x.json", "-", "a", "./-a"]);
	},

	async "a query names a file by its bytes where these are no UTF-8"() {
		const { statesQuery } = await load("queries");
		const files = [{ path: "a'.json", start: 0, begin: 0 }, { path: "\u00e4\udcff.json", start: 5, begin: 5 }];
		const query = statesQuery({ files, end: 100, list: [], options: [] }, { from: 0, to: 50 });
		assert.match(query, /case s\.file when 'a''\.json' then 0 when cast\(x'c3a4ff2e6a736f6e' as text\) then -5 end/);
	},

	async "ticks of an axis have as many decimals as it needs, all of them"() {
		const { round } = await load("format");
		assert.deepEqual([41_490_000, 41_500_000, 42_000_000].map(ns => round(ns, "ns", 10_000)), ["41.49 ms", "41.50 ms", "42.00 ms"]);
		assert.deepEqual([0, 500_000_000, 1_000_000_000, 1_500_000_000].map(ns => round(ns, "ns", 500_000_000)), ["0", "500 ms", "1.0 s", "1.5 s"]);
		assert.deepEqual([990, 1000, 1010].map(ns => round(ns, "ns", 10)), ["990 ns", "1.00 us", "1.01 us"]);
	},

	async "names are cut in the middle, and what is not seen is shown"() {
		const { fit, plain } = await load("timeline/text");
		assert.equal(fit("abcdefghij", 10), "abcdefghij");
		assert.equal(fit("abcdefghij", 7), "abc\u2026hij");
		assert.equal(fit("\u4e00\u4e01\u4e02\u4e03", 5), "\u4e00\u2026\u4e03");
		assert.equal(plain("a\u0000b\u202ec\n"), "a\ufffdb\ufffdc\ufffd");
	},

	async "where there is little room a function's own name stands"() {
		const { own, label } = await load("timeline/text");
		for (const [name, short] of [["ns::shape<int>::draw(int) const", "draw"], ["main", "main"], ["tracer::sky(tracer::vec)", "sky"],
			["std::vector<std::pair<a, b>>::push_back(a&&)", "push_back"], ["(anonymous namespace)::f(int)", "f"], ["operator()", "operator()"],
			["", ""], ["a (b)", "a"], ["))(", "))("], ["::", "::"]])
			assert.equal(own(name), short);
		assert.equal(label("tracer::sky(tracer::vec)", 8), "sky");
		assert.equal(label("tracer::nearest(int)", 5), "");
		// Parameters give way first, then the scope.
		for (const [columns, text] of [[24, "tracer::sky(tracer::vec)"], [22, "tracer::sky(trac\u2026:vec)"], [14, "tracer::sky(\u2026)"], [11, "sky(tra\u2026ec)"]])
			assert.equal(label("tracer::sky(tracer::vec)", columns), text);
		assert.equal(label("ns::shape<int>::draw(int) const", 15), "ns::\u2026>::draw(\u2026)");
		assert.equal(label("a name of many words", 11), "a nam\u2026words");
	},

	async "the address holds the state, and what is wrong in it is left"() {
		const { read, write, NOTHING } = await load("state");
		const state = { ...NOTHING, view: { from: 10, to: 90 }, selection: { from: 20, to: 30 }, tracks: [1, 2], pins: [4], hidden: [5],
			closed: [6], bare: true, clock: true, function: "f<a&b>", sql: "select 'a', 1\nfrom slice", strip: "select 1", arrows: true, marks: [70, 80], starts: [0, 5], slice: { track: 3, lane: 0, depth: 2, item: 9 }, filter: "a b&c", query: "#%=, 1+1 '",
			tab: "flame" };
		assert.deepEqual(read(`#${write(state, [])}`, NOTHING, []), state);
		assert.deepEqual(read("#t=9-1&sel=x&slice=1.2&pin=-1,z&tab=evil&marks=NaN", NOTHING, []), NOTHING);
		// What is in sight may begin before the trace.
		assert.deepEqual(read(`#${write({ ...NOTHING, view: { from: -50, to: 1000 } }, [])}`, NOTHING, []).view, { from: 0, to: 1000 });
	},

	async "the address names tracks and slices as the trace has them"() {
		const { found, NONE_MISSING, read, write, NOTHING } = await load("state");
		const track = (id, kind, name, pid, tid, file = 0) => ({ id, kind, name, file, pid, tid });
		const all = [track(0, "process", "app", "7", null), track(1, "thread", "main", "7", "12"), track(2, "counter", "a, b%", "7", null),
			track(3, "process", "app", "7", null, 1), track(4, "thread", "main", "7", "12", 1), track(5, "async", "req", "7", null), track(6, "async", "req", "7", null),
			track(7, "cpu", "CPU 0", null, "0")];
		const view = { from: 0, to: 9 };
		const state = { ...NOTHING, view, pins: [1, 2, 4], hidden: [5, 6], closed: [0], tracks: [7], selection: view, slice: { track: 4, lane: 1, depth: 2, item: 9 },
			told: { from: 5, to: 8, name: "f(a, \"b&c\") 100%@x" } };
		const fragment = write(state, all);
		assert.equal(fragment, "t=0-9&sel=0-9&of=c.0&slice=t1:7.12@5-8.2.f(a,+%22b%26c%22)+100%2525@x" +
			"&pin=t7.12,n7.a%252C+b%2525,t1:7.12&hide=a7.req,a7.req~1&closed=p7");
		assert.match(write({ ...state, told: { from: 5, to: 8, name: "tracer::ball" } }, all), /slice=t1:7\.12@5-8\.2\.tracer::ball&/);
		// The slice is looked for; tracks have other numbers among others.
		const few = [all[0], { ...all[4], id: 1 }, { ...all[2], id: 2 }];
		const here = read(`#${fragment}`, NOTHING, few);
		assert.deepEqual([here.pins, here.hidden, here.closed, here.tracks, here.slice], [[2, 1], [], [0], [], null]);
		assert.deepEqual(here.missing, { slice: "t1:7.12@5-8.2.f(a, \"b&c\") 100%25@x", of: ["c.0"], pin: ["t7.12"], hide: ["a7.req", "a7.req~1"], closed: [] });
		// What is missing stays in the address, and is found once it is there.
		assert.equal(read(`#${write(here, few)}`, NOTHING, all).pins.length, 3);
		const now = { ...here, ...found(here, [...few, { ...all[1], id: 3 }, { ...all[7], id: 4 }]) };
		assert.deepEqual([now.pins, now.tracks, now.missing.pin, now.missing.hide], [[2, 1, 3], [4], [], ["a7.req", "a7.req~1"]]);
		assert.equal(found(now, few), null);
		assert.deepEqual(NOTHING.missing, NONE_MISSING);
		const { soughtOf } = await load("link");
		assert.deepEqual(soughtOf(here.missing.slice), { track: "t1:7.12", from: 5, to: 8, depth: 2, name: "f(a, \"b&c\") 100%@x" });
		// Damage puts slices before the start.
		const { sliceName } = await load("link");
		assert.deepEqual(soughtOf(sliceName("t7.12", 0, { from: -9, to: -5, name: "f-1" })), { track: "t7.12", from: -9, to: -5, depth: 0, name: "f-1" });
		// Links of old have names that are encoded twice.
		assert.deepEqual(soughtOf("t1:7.12@5-8.2.f(a%2C%20%22b%26c%22)%20100%25%40x"), soughtOf(here.missing.slice));
		assert.deepEqual(read("#pin=n7.a%252C%2520b%2525", NOTHING, all).pins, [2]);
		for (const wrong of ["t7.12@5.2.f", "t7.12@5-8.2", "@5-8.2.f", "t7.12@5-8.2.%zz", "1.2.3.4"])
			assert.equal(soughtOf(wrong), null, wrong);
	},

	async "of what a link has in sight that is shown which the trace has"() {
		const { within } = await load("state");
		const whole = { from: 0, to: 1000 };
		const examples = [[[100, 200], [100, 200]], [[0, 1100], [0, 1100]], [[500, 9e9], [500, 1000]], [[1000, 2000], [0, 1000]], [[5e9, 6e9], [0, 1000]],
			[[500, 501], [481, 501]], [[3, 4], [0, 20]], [[990, 5000], [980, 1000]]];
		for (const [[from, to], [first, last]] of examples)
			assert.deepEqual(within({ from, to }, 1000, whole), { from: first, to: last }, `${from}-${to}`);
		assert.deepEqual(within({ from: 5, to: 6 }, 0, { from: 0, to: 20 }), { from: 0, to: 20 });
	},

	async "callers and callees are summed up from a tree"() {
		const { around } = await load("panels/functions");
		const frame = (name, depth, total, calls) => ({ name, depth, total, self: 0, count: calls });
		const frames = [frame("", 0, 10, 0), frame("a", 1, 6, 1), frame("f", 2, 4, 2), frame("g", 3, 1, 5), frame("f", 1, 4, 3), frame("g", 2, 2, 7)];
		assert.deepEqual(around(frames, "f"), { callers: [{ name: "a", count: 2, total: 4 }, { name: "(nobody)", count: 3, total: 4 }],
			callees: [{ name: "g", count: 12, total: 3 }] });
	},

	async "a function is between the trees of its callers and of its callees"() {
		const { sandwich } = await load("panels/sandwich");
		const frame = (name, depth, total, self, count) => ({ name, depth, total, self, count });
		// a calls f twice, f calls g and itself; main calls f once.
		const frames = [frame("", 0, 20, 0, 0), frame("main", 1, 20, 1, 1), frame("a", 2, 12, 2, 1), frame("f", 3, 10, 3, 2), frame("f", 4, 4, 4, 1),
			frame("g", 4, 3, 3, 5), frame("f", 2, 7, 5, 1), frame("g", 3, 2, 2, 1)];
		const { callers, callees } = sandwich(frames, "f");
		assert.deepEqual(callers.map(({ name, depth, total, count }) => [name, depth, total, count]),
			[["f", 0, 17, 3], ["a", 1, 10, 2], ["main", 2, 10, 2], ["main", 1, 7, 1]]);
		assert.deepEqual(callees.map(({ name, depth, total, self, count }) => [name, depth, total, self, count]),
			[["f", 0, 17, 8, 3], ["g", 1, 5, 5, 6], ["f", 1, 4, 4, 1]]);
		assert.equal(sandwich(frames, "nobody").callees[0].total, 0);
	},

	async "a counter's mean is over time, and what it was before counts from the begin of the selection"() {
		const { summed } = await load("exported");
		const row = { track: 3, lane: 1, depth: 0, kind: "values", time: [0, 10, 40], least: [5, 1, 9], most: [5, 30, 9], last: [5, 20, 9] };
		// From 5 to 10 it is 5, from 10 to 40 20, from 40 to 50 9.
		assert.deepEqual(summed(row, { from: 5, to: 50 }), { track: 3, series: 1, first: 5, last: 9, least: 1, most: 30, mean: (25 + 600 + 90) / 45, exact: false });
		assert.deepEqual(summed(row, { from: 45, to: 50 }), { track: 3, series: 1, first: 9, last: 9, least: 9, most: 9, mean: 9, exact: true });
		assert.equal(summed({ ...row, time: [100], least: [1], most: [1], last: [1] }, { from: 5, to: 50 }), null);
		// What is at the very end is in what ends there.
		assert.deepEqual(summed(row, { from: 20, to: 40 }, 40), { track: 3, series: 1, first: 20, last: 9, least: 9, most: 20, mean: 20, exact: false });
		assert.deepEqual(summed(row, { from: 20, to: 40 }, 50), { track: 3, series: 1, first: 20, last: 20, least: 20, most: 20, mean: 20, exact: false });
	},

	async "a page that was written has the percentiles of the tool"() {
		const { percentiles } = await load("exported");
		const times = Array.from({ length: 100 }, (_, i) => 212 + i);
		// From 256 to 511 a bucket is 4 wide.
		assert.deepEqual(percentiles([...times.slice(0, 99), 351]), [262, 302, 310]);
		assert.deepEqual(percentiles(Array(17).fill(301)), [301, 301, 301]);
		assert.deepEqual(percentiles([...Array(16).fill(100), 127, 128, 129, 131]), [100, 129, 131]);
		// So few are kept one by one.
		assert.deepEqual(percentiles([...Array(8).fill(301), ...Array(8).fill(1001)]), [301, 1001, 1001]);
		assert.deepEqual(percentiles([7]), [7, 7, 7]);
	},

	async "an address is taken once, whatever the order of its parts is"() {
		const { NOTHING, Store } = await load("state");
		const taking = [];
		const there = { addEventListener: (_, take) => taking.push(take), location: { hash: "" } };
		const before = Object.keys(there).map(name => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
		Object.assign(globalThis, there);
		const store = new Store({ first: () => NOTHING, tracks: () => [], fit: view => view });
		let told = 0;
		store.listen(() => told++);
		globalThis.location.hash = "#q=a&t=2-5";
		taking.forEach(take => take());
		before.forEach(([name, was]) => (was ? Object.defineProperty(globalThis, name, was) : delete globalThis[name]));
		assert.deepEqual([told, store.state.query, store.state.view], [1, "a", { from: 2, to: 5 }]);
	},

	async "a time is read as people write it"() {
		const { parseTime } = await load("format");
		for (const [text, wanted] of [["1.5 ms", 1_500_000], ["-2us", -2000], ["+3 s", 3e9], ["1,000", 1000], [" 7 \u00b5s ", 7000], ["0", 0], ["", null],
			["soon", null], ["1 h", null], ["1e3", null], ["1.5.2 s", null]])
			assert.equal(parseTime(text), wanted, text);
		assert.deepEqual([parseTime("12", "instructions"), parseTime("12 ms", "instructions")], [12, null]);
	},

	async "one file that is moved before all has the others begin later"() {
		const { movedTo, startsFor } = await load("starts");
		assert.deepEqual(movedTo([0, 100], 1, 250), { starts: [0, 250], by: 0 });
		assert.deepEqual(movedTo([0, 100], 1, -50), { starts: [50, 0], by: 50 });
		assert.deepEqual(movedTo([0, 100], 0, 130), { starts: [30, 0], by: -100 });
		const files = [{ begin: 0 }, { begin: 100 }];
		for (const [starts, wanted] of [[[0, 50], [0, 50]], [[0, 100], []], [[1, 2], []], [[0], []], [[0, 1, 2], []], [[0, 0.5], []], [[0, 1e300], []]])
			assert.deepEqual(startsFor(files, starts), wanted, String(starts));
	},

	async "rows of a question are slices, points or a counter"() {
		const { stripOf, isTrack } = await load("timeline/strip");
		const answer = (columns, rows) => ({ columns: columns.map(name => ({ name, type: "any" })), rows, more: false, elapsed: 0 });
		const slices = stripOf(answer(["dur", "TS", "name"], [[5, 100, "b"], [50, 90, "a"], [10, 105, "b"], [1, null, "c"]]), 7, []);
		assert.deepEqual([slices.track.id, slices.track.lanes, slices.names], [7, [2], ["a", "b"]]);
		assert.deepEqual(slices.rows.map(row => [row.depth, [...row.begin], [...row.end], [...row.name]]),
			[[0, [90], [140], [0]], [1, [100, 105], [105, 115], [1, 1]]]);
		const open = stripOf(answer(["ts", "dur"], [[5, -1], [2, 1]]), 7, [], 9);
		assert.deepEqual([...open.rows[0].end], [3, 9]);
		const points = stripOf(answer(["ts"], [[4], [2]]), 1, []);
		assert.deepEqual([points.track.points, points.rows[0].kind, [...points.rows[0].begin]], [true, "points", [2, 4]]);
		const counter = stripOf(answer(["ts", "value"], [[1, 2.5]]), 1, []);
		assert.deepEqual([counter.track.kind, [...counter.rows[0].last]], ["counter", [2.5]]);
		// Of several files each row is where its file begins.
		const files = [{ path: "a", start: 5 }, { path: "b", start: 1000 }];
		const moved = stripOf(answer(["ts", "file"], [[4, "a"], [2, "b"], [1, "a"]]), 1, files);
		assert.deepEqual([...moved.rows[0].begin], [6, 9, 1002]);
		assert(!isTrack(answer(["dur"], [[1]])) && !isTrack(answer(["ts"], [])));
	},

	async "what begins and ends in one pixel is one entry of a file's window, too"() {
		const { narrowed, framesOf } = await load("exported");
		const row = { track: 1, lane: 0, depth: 0, kind: "slices", begin: [0, 10, 13, 50], end: [4, 12, 18, 90], busy: [4, 2, 5, 40],
			item: [0, 1, 2, 3], count: [1, 1, 1, 1], name: [0, 1, 2, 3] };
		const { begin, end, busy, item, count, name } = narrowed(row, { from: 0, to: 100 }, 10);
		assert.deepEqual([[...begin], [...end], [...busy], [...item], [...count], [...name]],
			[[0, 10, 50], [4, 18, 90], [4, 7, 40], [0, 2, 3], [1, 2, 1], [0, 2, 3]]);
		assert.deepEqual([...narrowed(row, { from: 11, to: 12 }, 10).item], [1]);
		const call = (name, depth, total, self) => ({ name, depth, total, self });
		assert.deepEqual(framesOf([call("m", 0, 10, 4), call("a", 1, 2, 2), call("a", 1, 4, 4), call("m", 0, 1, 1)]).map(frame => Object.values(frame)),
			[["", 0, 11, 0, 0], ["m", 1, 11, 5, 2], ["a", 2, 6, 6, 2]]);
	},

	async "what has changed is told in percent, and coloured by steps"() {
		const { changeOf } = await load("panels/compare");
		const { changeColour, THEMES: { light } } = await load("timeline/colours");
		assert.deepEqual([changeOf(0, 0), changeOf(0, 3), changeOf(3, 0), changeOf(8, 9), changeOf(8, 6), changeOf(8, 8)],
			["", "new", "gone", "+12.5 %", "\u221225.0 %", "0.0 %"]);
		const steps = [[100, 100], [100, 102], [100, 103], [100, 112], [100, 143], [100, 251], [0, 1], [102, 100], [103, 100], [251, 100]];
		assert.deepEqual(steps.map(([before, after]) => changeColour(before, after, light)), [light.less[0], light.more[0], light.more[1],
			light.more[2], light.more[3], light.more[4], light.more[4], light.less[0], light.less[1], light.less[4]]);
	},

	async "times of day are round on a clock's axis"() {
		const { clockTicks, timeOfDay } = await load("timeline/ticks");
		const noon = 12 * 3600e9;
		assert.deepEqual(clockTicks(0, 100e9, 8, noon + 5e9).map(({ at, label }) => [at, label]),
			[[10e9, "12:00:15"], [25e9, "12:00:30"], [40e9, "12:00:45"], [55e9, "12:01:00"], [70e9, "12:01:15"], [85e9, "12:01:30"], [100e9, "12:01:45"]]);
		assert.deepEqual(clockTicks(0, 1e6, 2, noon + 250_000).map(({ label }) => label), ["12:00:00.0005", "12:00:00.0010"]);
		assert.equal(timeOfDay(86400e9 + 61e9, 0), "00:01:01");
	},

	async "the command of a view has its state and where its files begin"() {
		const { viewCommand, exportCommand, dumpCommand, commandOf } = await load("command");
		const { NOTHING } = await load("state");
		const file = (path, begin, start = begin) => ({ path, start, begin });
		const none = { options: [], fromTime: null, toTime: null, list: [], end: 9000 };
		assert.equal(viewCommand({ ...none, files: [file("a b.fxt", 0), file("c.fxt", 1500)] }, { ...NOTHING, view: { from: 0, to: 9 } }),
			"trackway view --state t=0-9 --offset c.fxt=1500ns 'a b.fxt' c.fxt");
		// Where the page has moved one, the state says so; other commands have no state.
		const trace = { ...none, files: [file("a", 0, 70), file("b", 1500, 0)] };
		assert.equal(viewCommand(trace, { ...NOTHING, view: { from: 0, to: 9 }, starts: [70, 0] }), "trackway view --state 't=0-9&starts=70,0' --offset b=1500ns a b");
		assert.equal(commandOf("stat", trace, { from: 5, to: 80 }, []),
			"trackway merge --to fxt --offset a=70ns a b | trackway stat --from-time 5ns --to-time 80ns -");
		assert.equal(commandOf("stat", trace, { from: 0, to: 9000 }, []), "trackway stat a b");
		const state = { ...NOTHING, view: { from: 5, to: 80 } };
		assert.equal(exportCommand(trace, { ...state, starts: [70, 0] }), "trackway view --export view.html --state 't=5-80&starts=70,0' --offset b=1500ns a b");
		const still = { ...none, files: [file("a", 0), file("b", 1500)], options: [{ name: "from-time", value: "6ns" }, { name: "diff", value: null }], fromTime: 6 };
		assert.equal(exportCommand(still, { ...state, selection: { from: 50, to: 90 } }),
			"trackway view --export view.html --state 't=5-80&sel=50-90' --from-time 6ns --to-time 90ns --diff --offset b=1500ns a b");
		assert.equal(dumpCommand(trace, 0, { from: 75, to: 80 }, []), "trackway dump --from-time 5ns --to-time 10ns a");
	},

	async "commands have the options of the page's own, as far as they take them"() {
		const { commandOf, countersCommand, diffCommand, dumpCommand, ignoredBySql, sqlCommand, statesCommand, viewCommand } = await load("command");
		const { NOTHING } = await load("state");
		const thread = (id, file, pid, tid) => ({ id, file, kind: "thread", pid, tid });
		const options = [["process", "app-*"], ["from-time", "0.1us"], ["function", "a b*"], ["no-demangle", null], ["frequency", "2GHz"], ["diff", null]]
			.map(([name, value]) => ({ name, value }));
		const trace = { files: [{ path: "a", start: 0, begin: 0 }], options, fromTime: 100, toTime: 4000, end: 3999,
			list: [thread(0, 0, "7", "1"), thread(1, 0, "7", "2"), thread(2, 0, "8", "2"), thread(3, 0, "8", "3")] };
		const inputs = "--no-demangle --frequency 2GHz";
		const all = { from: 0, to: 3999 };
		// Of two times that which leaves out more, and threads that are some of those that were asked for.
		assert.equal(commandOf("stat", trace, all, []),
			`trackway stat --from-time 100ns --to-time 4000ns --process 'app-*' --function 'a b*' ${inputs} a`);
		assert.equal(commandOf("stat", trace, { from: 50.5, to: 200.5 }, [0]),
			`trackway stat --from-time 100ns --to-time 201ns --process 'app-*' --function 'a b*' --thread 1 ${inputs} a`);
		// Another process has a thread of the number, too; of some threads no options tell.
		assert.match(commandOf("stat", trace, all, [2]), /--function 'a b\*' --thread 2 --process 8 /);
		assert.match(commandOf("stat", trace, all, [0, 2]).why, /same numbers/);
		// What no filter leaves out is SQL's; of counters some leave out samples.
		assert.match(statesCommand(trace, all, [0]), /^trackway sql --no-demangle --frequency 2GHz a 'select [^]*thread_state[^]*p\.pid = 7 and t\.tid in \(1\)/);
		assert.match(countersCommand(trace, all, []).why, /^--process leaves out samples/);
		assert.equal(ignoredBySql(trace), "The tables of SQL have all of the trace: --process, --from-time, --function of the command line leave out nothing here.");
		assert.equal(ignoredBySql({ ...trace, options: [{ name: "frequency", value: "2GHz" }] }), null);
		assert.equal(sqlCommand(trace, "select 1"), `trackway sql ${inputs} a 'select 1'`);
		assert.equal(sqlCommand(trace, "-oa.db"), `trackway sql ${inputs} -- a -oa.db`, "a query is no option");
		assert.equal(dumpCommand(trace, 0, { from: 300, to: 400 }, []),
			`trackway dump --from-time 300ns --to-time 400ns --process 'app-*' --function 'a b*' ${inputs} a`);
		assert.equal(viewCommand(trace, { ...NOTHING, view: { from: 0, to: 9 } }),
			`trackway view --state t=0-9 --process 'app-*' --from-time 0.1us --function 'a b*' ${inputs} --diff a`);
		// Of several files a thread of one is that of its own clock.
		const two = { ...trace, files: [...trace.files, { path: "b", start: 1000, begin: 1000 }], list: [...trace.list, thread(4, 1, "7", "1")] };
		assert.equal(commandOf("stat", two, { from: 1500, to: 1600 }, [4]),
			`trackway stat --from-time 500ns --to-time 600ns --process 'app-*' --function 'a b*' ${inputs} b`);
		assert.equal(commandOf("stat", two, { from: 1500, to: 1600 }, []), `trackway merge --to fxt --process 'app-*' ${inputs} --offset b=1000ns a b | ` +
			"trackway stat --from-time 1500ns --to-time 1600ns --function 'a b*' -");
		assert.match(commandOf("stat", two, { from: 1500, to: 1600 }, [1, 4]).why, /same numbers/, "merge gives threads other numbers");
		// Where the page has moved a file, the times of the command line are of another axis.
		two.files[1].start = 2000;
		assert.match(commandOf("stat", two, { from: 1500, to: 1600 }, []).why, /before a file was moved/);
		assert.match(diffCommand(two, null).why, /not the same part of both files/);
		const even = { ...trace, files: [trace.files[0], { path: "b", start: 0, begin: 0 }], fromTime: null };
		assert.equal(diffCommand(even, { from: 5, to: 9 }), `trackway diff --from-time 5ns --to-time 9ns --process 'app-*' --function 'a b*' ${inputs} a b`);
	},

	async "of what was read from a pipe there is no command, and it is told why"() {
		const { commandOf, countersCommand, diffCommand, dumpCommand, exportCommand, sqlCommand, statesCommand, viewCommand } = await load("command");
		const { NOTHING } = await load("state");
		const thread = (id, file) => ({ id, file, kind: "thread", pid: "7", tid: `${id}` });
		const all = { from: 0, to: 9 };
		const trace = { files: [{ path: "-", start: 0, begin: 0 }, { path: "b", start: 0, begin: 0 }], options: [], fromTime: null, toTime: null, end: 9,
			list: [thread(0, 0), thread(1, 1)] };
		const state = { ...NOTHING, view: all };
		for (const command of [commandOf("stat", trace, all, []), commandOf("stat", trace, all, [0]), countersCommand(trace, all, []), diffCommand(trace, null),
			dumpCommand(trace, 0, all, []), exportCommand(trace, state), sqlCommand(trace, "select 1"), statesCommand(trace, all, []), viewCommand(trace, state)])
			assert.deepEqual(command, { why: "standard input was read once, and no command can read it again" });
		assert.equal(commandOf("stat", trace, all, [1]), "trackway stat b");
		for (const file of [{ path: "/dev/fd/63" }, { path: "/dev/stdin" }, { path: "/tmp/fifo", size: null }])
			assert.equal(viewCommand({ ...trace, files: [{ start: 0, begin: 0, ...file }] }, state).why, `${file.path} was read once, and no command can read it again`);
		assert.match(viewCommand({ ...trace, files: [{ path: "/dev/shm/a.fxt", size: 9, start: 0, begin: 0 }] }, state), / \/dev\/shm\/a\.fxt$/);
	},

	async "the place of an error in SQL is pointed at"() {
		const { pointed } = await load("panels/sql");
		assert.equal(pointed("select\n  foo", 2, 3), "\n  foo\n  ^");
		assert.equal(pointed("select", null, null), "");
	},

	async "tracks stand in order: questions, CPUs by number, the trace's own; what has nothing is left out"() {
		const { layOut, FIRST } = await load("timeline/layout");
		const { NOTHING } = await load("state");
		const track = (id, kind, more) => ({ id, parent: null, kind, name: `${kind} ${id}`, file: 0, pid: null, tid: null, sort: 0, lanes: [1],
			points: false, slices: 1, series: [], ...more });
		const tracks = [track(0, "process", { lanes: [] }), track(1, "thread", { parent: 0 }), track(2, "cpu", { tid: "10" }), track(3, "cpu", { tid: "9" }),
			track(4, "thread", { parent: 0, lanes: [] }), track(5, "process", { lanes: [] }), track(6, "thread", { parent: 5, lanes: [] }), track(7, "other", { sort: FIRST })];
		const ids = state => layOut(tracks, { ...NOTHING, ...state }).lines.map(line => line.track.id);
		assert.deepEqual(ids({}), [7, 3, 2, 0, 1]);
		assert.equal(layOut(tracks, NOTHING).bare, 2);
		assert.deepEqual(ids({ bare: true }), [7, 3, 2, 0, 1, 4, 5, 6]);
		assert.deepEqual(ids({ filter: "thread 6" }), [5, 6]);
		const more = [...tracks, track(8, "counter", { parent: 0, series: ["used", "free"] })];
		assert.deepEqual(layOut(more, { ...NOTHING, filter: "free counter" }).lines.map(line => line.track.id), [0, 8]);
		assert.deepEqual(layOut(tracks, { ...NOTHING, closed: [0] }).lines.at(-1).children, [1, 4]);
		// However a file is read: hints first, then numbers and names; a process begins with its first thread.
		const named = [["process", "b", "9", null], ["thread", "nine", "9", "9"], ["thread", "2", "9", "2"], ["thread", "late", "9", "1", 5], ["thread", "11", "9", "11"],
			["async", "io", "9", null], ["counter", "memory 2", "9", null], ["counter", "memory 10", "9", null]];
		const wanted = ["b", "nine", "2", "11", "late", "io", "memory 2", "memory 10"];
		for (let turn = 0; turn < named.length; turn++) {
			const met = [...named.slice(turn), ...named.slice(0, turn)].map(([kind, name, pid, tid, sort = 0], id) => track(id, kind, { name, pid, tid, sort }));
			const parent = met.find(({ kind }) => kind === "process").id;
			const list = met.map(each => (each.id === parent ? { ...each, lanes: [] } : { ...each, parent }));
			assert.deepEqual(layOut(list, NOTHING).lines.map(({ name }) => name), wanted, String(turn));
		}
		// The processor time of a thread is behind it; of one that is not there it is where it came.
		const own = [track(0, "counter", { name: "thread CPU a" }), track(1, "counter", { name: "thread CPU b" }), track(2, "thread", { name: "b" }), track(3, "thread", { name: "a" }),
			track(4, "thread", { name: "a" }), track(5, "counter", { name: "thread CPU c" })];
		assert.deepEqual(layOut(own, NOTHING).lines.map(line => line.track.id), [2, 1, 3, 0, 4, 5]);
	},

	async "what is coarse is asked for exactly when the view rests, and while an exact one is moved"() {
		const { Data } = await load("timeline/data");
		const asked = [];
		const row = (count, end) => ({ track: 1, lane: 0, depth: 0, kind: "slices", begin: Float64Array.of(100), end: Float64Array.of(end),
			busy: Float64Array.of(9), item: Float64Array.of(0), count: Uint32Array.of(count), name: Uint32Array.of(0) });
		// A pixel is 10 ns: 8 slices told as one of 30 ns are coarse, a slice of 300 and several in a pixel are not.
		let rows = { false: [row(8, 130)], true: [row(1, 300), row(4, 110)] };
		const server = { release() { }, async window({ from, to }, width, tracks, signal, exact) {
			asked.push([exact, from, to]);
			return { generation: 1, from, to, rows: rows[exact] };
		} };
		const data = new Data(server, () => { }, assert.fail);
		data.end = 100000;
		const rest = async () => { while (data.busy) await new Promise(resolve => setTimeout(resolve, 10)); };
		data.want({ from: 10000, to: 20000 }, 1000, [1]);
		await rest();
		assert.deepEqual(asked, [[false, 5000, 25000], [true, 7500, 22500]]);
		assert.equal(data.rows(1).length, 2);
		data.want({ from: 15000, to: 25000 }, 1000, [1]);
		await rest();
		assert.deepEqual(asked.slice(2), [[true, 12500, 27500]]);
		// What stays coarse is asked for once; what is not coarse, never.
		rows = { false: [row(8, 130)], true: [row(8, 130)] };
		data.want({ from: 50000, to: 52000 }, 200, [1]);
		data.want({ from: 60000, to: 80000 }, 2000, [1]);
		await rest();
		assert.equal(asked.slice(3).filter(([exact]) => exact).length, 1);
		rows = { false: [row(8, 115)], true: [] };
		data.want({ from: 0, to: 9000 }, 900, [2]);
		await rest();
		assert.equal(asked.at(-1)[0], false);
	},

	async "colours stay apart for all eyes, and carry text"() {
		const { LIGHT, DARK, THEMES } = await load("timeline/colours");
		for (const [names, theme] of [[LIGHT, THEMES.light], [DARK, THEMES.dark]]) {
			for (const colour of names)
				assert(contrast(colour, theme.text) >= 4.5, `${colour} under text: ${contrast(colour, theme.text)}`);
			for (const ink of [theme.text, theme.muted, theme.accent])
				assert(contrast(ink, theme.page) >= 4.5, `${ink} on the page`);
			for (const [eyes, matrix] of Object.entries(EYES))
				names.forEach((one, i) => names.slice(0, i).forEach(other => {
					const [a, b] = [seen(one, matrix), seen(other, matrix)];
					assert(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) >= 0.055, `${one} and ${other}, ${eyes}`);
				}));
		}
	},

	async "a name has the same colour as in the tool's pictures"() {
		const { hash, LIGHT, DARK } = await load("timeline/colours");
		const css = readFileSync(new URL("../../web/flame.css", import.meta.url), "utf8");
		const painted = [...css.matchAll(/\.c(\d+) \{ fill: (#\w+); \}/g)].map(([, number, colour]) => [Number(number), colour]);
		assert.deepEqual(painted, [LIGHT, DARK].flatMap(list => list.map((colour, number) => [number, colour])));
		const svg = readFileSync(new URL("../../src/analysis/pictures/svg.c", import.meta.url), "utf8");
		assert.deepEqual([...svg.matchAll(/"([0-9a-f]{6})"/g)].map(([, colour]) => `#${colour}`), [...LIGHT, ...DARK]);
		const fnv = Buffer.from("w\u00f6rker").reduce((value, byte) => Number(BigInt.asUintN(32, BigInt(value ^ byte) * 16777619n) & 0xffffffffn) | 0, 2166136261 | 0) >>> 0;
		assert.equal(hash("w\u00f6rker", 16), ((fnv >>> 16 ^ fnv) >>> 0) % 16);
		assert.equal(hash("", 1 << 16), (2166136261 >>> 16 ^ 2166136261 & 0xffff) & 0xffff);
	},
};

console.log("TAP version 13");
console.log(`1..${Object.keys(TESTS).length}`);
let number = 0;
for (const [name, test] of Object.entries(TESTS)) {
	const error = await test().then(() => null, problem => problem);
	console.log(`${error ? "not " : ""}ok ${++number} - ${name}`);
	if (error) {
		console.log(String(error.stack ?? error).replace(/^/gm, "# "));
		process.exitCode = 1;
	}
}
