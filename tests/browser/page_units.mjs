// page_units.mjs - the parts of the page of `trackway view` that need no browser. Prints TAP; run by page_tests.py.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
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

	async "ticks are round and no more than there is room for"() {
		const { ticks, step } = await load("timeline/ticks");
		assert.deepEqual(ticks(0, 1000, 8), [0, 200, 400, 600, 800, 1000]);
		assert.deepEqual(ticks(1234, 1300, 8), [1240, 1250, 1260, 1270, 1280, 1290, 1300]);
		for (const span of [7, 19, 999, 12345, 1e9, 3e12])
			assert(span / step(span, 8) <= 8 && /^[125]0*$/.test(String(step(span, 8))));
	},

	async "times are as the tool prints them"() {
		const { time, round, bytes, shell } = await load("format");
		assert.deepEqual([0, 999, 1000, 1234567, 999999999, 2e9].map(ns => time(ns)), ["0 ns", "999 ns", "1.000 us", "1.235 ms", "1.000 s", "2.000 s"]);
		assert.deepEqual([0, 500, 20_000_000, 1_500_000_000].map(ns => round(ns)), ["0", "500 ns", "20 ms", "1.5 s"]);
		assert.equal(time(1234, "instructions"), "1,234 instructions");
		assert.equal(bytes(1536), "1.5 KiB");
		assert.equal(shell("a'b $(x)"), "'a'\\''b $(x)'");
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
		assert.equal(label("tracer::sky(tracer::vec)", 22), "tracer::sky\u2026acer::vec)");
	},

	async "the address holds the state, and what is wrong in it is left"() {
		const { read, write, NOTHING } = await load("state");
		const state = { ...NOTHING, view: { from: 10, to: 90 }, selection: { from: 20, to: 30 }, tracks: [1, 2], pins: [4], hidden: [5],
			closed: [6], marks: [70, 80], slice: { track: 3, lane: 0, depth: 2, item: 9 }, filter: "a b&c", query: "#%=, 1+1 '",
			tab: "flame" };
		assert.deepEqual(read(`#${write(state)}`, NOTHING), state);
		assert.deepEqual(read("#t=9-1&sel=x&slice=1.2&pin=-1,z&tab=evil&marks=NaN", NOTHING), NOTHING);
	},

	async "callers and callees are summed up from a tree"() {
		const { around } = await load("panels/functions");
		const frame = (name, depth, total, calls) => ({ name, depth, total, self: 0, count: calls });
		const frames = [frame("", 0, 10, 0), frame("a", 1, 6, 1), frame("f", 2, 4, 2), frame("g", 3, 1, 5), frame("f", 1, 4, 3), frame("g", 2, 2, 7)];
		assert.deepEqual(around(frames, "f"), { callers: [{ name: "a", count: 2, total: 4 }, { name: "(nobody)", count: 3, total: 4 }],
			callees: [{ name: "g", count: 12, total: 3 }] });
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
		const { hash } = await load("timeline/colours");
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
