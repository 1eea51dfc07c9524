#!/usr/bin/env node
// tracks_tests.mjs - what the tracks of `trackway view` have beside slices, and their order.
// SPDX-License-Identifier: Apache-2.0
//
// usage: tracks_tests.mjs --tool TRACKWAY [--page FOLDER]
//
// Prints TAP, as view_tests.mjs. States of threads must be those of `trackway sql`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { lines, run, TOOL, View } from "./view.mjs";

const DATA = join(dirname(fileURLToPath(import.meta.url)), "../data");
const STATES = 0xfffe; // doc/view.md
/** As doc/view.md has them. */
const WORDS = { Running: "running", R: "waits for a CPU", "R+": "waits for a CPU, preempted", S: "sleeps", T: "suspended",
	Z: "dying", X: "dead" };

/** What sql says of threads' states: those that have a name, and begin before the end of all. */
function statesOf(file) {
	const [{ last }] = lines("sql", "--json", file, "select max(ts + max(dur, 0)) as last from (select ts, dur from thread_state" +
		" union all select ts, dur from slice union all select ts, 0 from sched)");
	return lines("sql", "--json", file, "select s.ts, s.dur, s.state, t.tid from thread_state s join thread t using (utid) where state not null")
		.filter(({ ts }) => ts < last).map(({ ts, dur, state, tid }) => [String(tid), ts, dur < 0 ? last : ts + dur, WORDS[state]]);
}

const sorted = rows => rows.map(row => JSON.stringify(row)).sort();

/** What a trace says of its processes' and threads' places. */
function sortedTrace() {
	const hint = (what, ids, index) => ({ ph: "M", name: `${what}_sort_index`, ...ids, args: { sort_index: index } });
	const call = (name, pid, tid, ts) => ({ ph: "X", name, pid, tid, ts, dur: 5 });
	return JSON.stringify([call("a", 1, 1, 0), call("b", 1, 2, 0), call("c", 2, 3, 10), call("d", 3, 4, 20), hint("process", { pid: 1 }, 7),
		hint("process", { pid: 3, tid: 0 }, -5), hint("thread", { pid: 1, tid: 2 }, -1)]);
}

const ALONE = {
	async "processes and threads stand as the trace wishes, in the picture, the table and a file"(browser, folder) {
		const file = join(folder, "sorted.json"), page = join(folder, "sorted.html");
		writeFileSync(file, sortedTrace());
		const wanted = ["process 3", "thread 4", "process 2", "thread 3", "process 1", "thread 2", "thread 1"];
		const names = view => view.evaluate(() => window.trackway.lines().map(line => line.name));
		const view = await View.open(browser, [file]);
		try {
			assert.deepEqual(await names(view.page), wanted);
			await view.page.locator("#tab-table").click();
			assert.deepEqual((await view.rows("Visible slices")).map(row => row[2]), ["d", "c", "b", "a"]);
			// A window without the events that stand beside the hints.
			execFileSync(TOOL, ["view", "--export", page, "--from-time", "8us", file], { stdio: "ignore" });
			const other = await view.context.newPage();
			await other.goto(pathToFileURL(page).href);
			await other.waitForFunction(() => window.trackway?.rested());
			assert.deepEqual(await names(other), wanted.slice(0, 4));
		} finally {
			await view.close();
		}
	},

	async "a link to the table has what the picture has"(browser, folder) {
		const file = join(folder, "table.json");
		writeFileSync(file, sortedTrace());
		const view = await View.open(browser, [file], { words: ["--state", "tab=table"] });
		try {
			await view.says("What the timeline shows: 4 rows");
			assert.deepEqual((await view.rows("Visible slices")).map(row => row[2]), ["d", "c", "b", "a"]);
		} finally {
			await view.close();
		}
	},

	async "the processor time of a thread stands behind the thread"(browser) {
		const view = await View.open(browser, [join(DATA, "tracelog/q5-thrcpu.log")], { words: ["--state", "tab=counters"] });
		try {
			assert.deepEqual(await view.page.evaluate(() => window.trackway.lines().map(line => line.name)),
				["OS thread 100", "thread CPU OS thread 100", "?", "thread CPU ?"]);
			// The table has them in the same order.
			assert.deepEqual([...new Set((await view.rows("Counters")).map(row => row[0]))], ["thread CPU OS thread 100", "thread CPU ?"]);
		} finally {
			await view.close();
		}
	},

	async "pinned tracks hide what is below them from the pointer, too"(browser, folder) {
		const file = join(folder, "pinned.json");
		const calls = Array.from({ length: 60 }, (_, i) => ({ ph: "X", name: `call ${i}`, pid: 1, tid: i + 1, ts: 0, dur: i ? 1000 : 100 }));
		writeFileSync(file, JSON.stringify(calls));
		const view = await View.open(browser, [file], { words: ["--state", "pin=t1.1"] });
		try {
			const { x, y, width } = await view.page.locator("#canvas").boundingBox();
			const { height } = await view.page.locator("#pinned").boundingBox();
			await view.page.locator("#scroller").evaluate(box => { box.scrollTop = box.scrollHeight; });
			await view.rest();
			for (let at = 2; at < height - 2; at += 4) {
				await view.page.mouse.move(x + width / 2, y + at);
				assert(!await view.page.locator("#tip").isVisible(), `at ${at}`);
				await view.page.mouse.click(x + width / 2, y + at);
				assert.equal((await view.state()).slice, null, `at ${at}`);
			}
			assert((await view.boxes()).every(box => box.y + box.height > height || box.name === "call 0"), "nothing else is drawn there");
			// What is selected from a pinned track down is that track, and the tracks that are in sight.
			const drag = async (from, to) => {
				await view.page.mouse.move(x + width * 0.6, y + from);
				await view.page.mouse.down();
				await view.page.mouse.move(x + width * 0.8, y + to, { steps: 3 });
				await view.page.mouse.up();
				return (await view.state()).tracks.length;
			};
			assert.equal(await drag(4, height - 6), 1);
			assert.equal(await drag(4, height + 4), 2);
			await view.page.mouse.click(x + width * 0.05, y + height / 2);
			await view.page.waitForFunction(() => window.trackway.chosen()?.name === "call 0");
		} finally {
			await view.close();
		}
	},

	async "arrows lead to pinned tracks, and others are behind them"(browser, folder) {
		const file = join(folder, "flows.json");
		const ids = Array.from({ length: 60 }, (_, i) => i + 1);
		const flow = (id, from, to, ts) => [["s", from, 0], ["f", to, 200]].map(([ph, tid, later]) =>
			({ ph, bp: "e", id, name: "flow", cat: "c", pid: 1, tid, ts: ts + later }));
		writeFileSync(file, JSON.stringify([...ids.map(tid => ({ ph: "X", name: `call ${tid}`, pid: 1, tid, ts: 0, dur: 1000 })),
			...flow(1, 1, 2, 100), ...flow(2, 1, 59, 300), ...flow(3, 3, 4, 600), ...flow(4, 3, 60, 700)]));
		const view = await View.open(browser, [file], { words: ["--state", "pin=t1.1,t1.2&flows=1"] });
		const arrows = () => view.page.evaluate(() => window.trackway.arrows());
		const pixels = (...box) => view.page.locator("#canvas").evaluate((canvas, of) => canvas.getContext("2d").getImageData(...of).data.join(), box);
		try {
			await view.page.waitForFunction(() => window.trackway.arrows().length === 4);
			const { height } = await view.page.locator("#pinned").boundingBox();
			const { height: all, width } = await view.page.locator("#canvas").boundingBox();
			const at = (tid, list) => list.find(({ x0 }) => Math.abs(x0 - width * tid / 10) < 2);
			const [one, two] = [height / 4, height * 3 / 4]; // where the pinned tracks are
			const first = at(1, await arrows());
			assert(Math.abs(first.y0 - one) < 4 && Math.abs(first.y1 - two) < 4, JSON.stringify(first));
			await view.page.locator("#scroller").evaluate(box => { box.scrollTop = box.scrollHeight; });
			await view.rest();
			const list = await arrows();
			const down = at(3, list); // its line is scrolled away: the pinned one stands for it
			assert(Math.abs(down.y0 - one) < 4 && down.y1 > height && down.y1 < all, JSON.stringify(down));
			// One between others is behind the pinned tracks.
			const hidden = at(7, list);
			assert(hidden.y0 < height && hidden.y1 > height, JSON.stringify(hidden));
			const part = [hidden.x0, 0, hidden.x1 - hidden.x0, height - 2].map(Math.round);
			const drawn = await pixels(...part);
			await view.press("e");
			await view.page.waitForFunction(() => window.trackway.arrows().length === 0);
			assert(drawn === await pixels(...part), "nothing is drawn over pinned tracks");
		} finally {
			await view.close();
		}
	},

	async "a state that has not ended lasts to the end of the trace"(browser) {
		const view = await View.open(browser, [join(DATA, "fxt/waker.fxt")], { words: ["--state", "tab=states"] });
		try {
			const rows = await view.rows("Thread states");
			assert.deepEqual(rows.map(row => row.slice(0, 4)).sort(), [["thread 11", "running", "1", "150 ns"], ["thread 11", "sleeps", "1", "150 ns"],
				["thread 12", "running", "1", "150 ns"], ["thread 12", "waits for a CPU", "1", "50 ns"]]);
		} finally {
			await view.close();
		}
	},

	async "a search for names has nothing to do with states"(browser) {
		const view = await View.open(browser, [join(DATA, "fxt/waker.fxt")], { words: ["--state", "q=running"] });
		try {
			assert((await view.boxes()).some(box => box.lane === STATES && box.name === "running"));
			const outlined = await view.page.evaluate(() => {
				const canvas = document.querySelector("#canvas");
				const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
				return new Uint32Array(data.buffer).some(pixel => pixel >>> 0 === 0xffe22b8a); // colours.ts: match
			});
			assert(!outlined, "no state is outlined");
		} finally {
			await view.close();
		}
	},

	async "narrow boxes that a search means and that touch have one outline"(browser, folder) {
		const file = join(folder, "narrow.json");
		writeFileSync(file, JSON.stringify(Array.from({ length: 4000 }, (_, i) => ({ ph: "X", name: "tick", pid: 1, tid: 1, ts: i, dur: 1 }))));
		const view = await View.open(browser, [file]);
		try {
			assert((await view.boxes()).length > 800);
			await view.page.evaluate(() => {
				const { prototype } = CanvasRenderingContext2D;
				const { strokeRect } = prototype;
				window.outlines = 0;
				prototype.strokeRect = function (...box) { window.outlines++; return strokeRect.apply(this, box); };
			});
			await view.page.evaluate(() => { location.hash = "#q=tick"; });
			await view.page.waitForFunction(() => window.outlines > 0);
			await view.rest();
			const outlines = await view.page.evaluate(() => window.outlines);
			assert(outlines < 100, `${outlines} outlines`);
		} finally {
			await view.close();
		}
	},

	async "the file's name is cut in the middle"(browser, folder) {
		const file = join(folder, `${"a-long-name-".repeat(12)}the-end.json`);
		writeFileSync(file, sortedTrace());
		const view = await View.open(browser, [file]);
		try {
			const [head, tail] = await view.page.locator("#trace-name > span").all();
			assert.equal(await tail.innerText(), "the-end.json");
			assert(await head.evaluate(span => span.scrollWidth > span.clientWidth && span.clientWidth > 50));
			assert.equal(await view.page.locator("#trace-name").getAttribute("title"), file);
		} finally {
			await view.close();
		}
	},

	async "in a narrow column the end of each track's name stays, and the field for the search has its words"(browser, folder) {
		const file = join(folder, "threads.json");
		writeFileSync(file, JSON.stringify([23511, 23512].map(tid => ({ ph: "X", name: "call", pid: 23511, tid, ts: 0, dur: 5 }))));
		const view = await View.open(browser, [file], { options: { viewport: { width: 520, height: 700 } } });
		try {
			const tails = await view.page.locator("#labels .tail").allTextContents();
			assert.deepEqual(tails.map(tail => tail.trim()), ["23511", "23511", "23512"]);
			assert.equal(await view.page.locator("#search").evaluate(field => getComputedStyle(field).paddingRight), "9px");
		} finally {
			await view.close();
		}
	},

	async "what the picture has no room for is told, and a pipe has a name"(browser) {
		const change = trace => ({ ...trace, left: "1234", files: trace.files.map(file => ({ ...file, path: "-" })) });
		const view = await View.open(browser, [join(DATA, "fxt/waker.fxt")], { change });
		try {
			assert.equal(await view.page.locator("#trace-name").textContent(), "standard input");
			await view.page.locator("#tab-trace").click();
			await view.says("The picture has no room for 1,234 slices, samples or points");
		} finally {
			await view.close();
		}
	},

	async "a page without anything tells the filters that let nothing pass"(browser) {
		const view = await View.open(browser, [join(DATA, "fxt/waker.fxt")], { words: ["--thread", "99"] });
		try {
			await view.page.locator("#empty", { hasText: "No event passes the filters: --thread 99" }).waitFor();
		} finally {
			await view.close();
		}
	},

	async "what could not be read is told, also to a page that is opened later"(browser) {
		const change = trace => ({ ...trace, state: "failed", error: "/tmp: the index cannot be written: No space left on device" });
		const view = await View.open(browser, [join(DATA, "fxt/waker.fxt")], { change });
		try {
			await view.page.locator("#alert", { hasText: "Not all of the trace is visible: /tmp: the index cannot be written: No space left on device" })
				.waitFor();
		} finally {
			await view.close();
		}
	},

	async "what a thread did by the scheduling is a row below it, as in sql"(browser) {
		for (const name of ["fxt/waker.fxt", "fxt/mg_a.fxt", "fxt/idle.fxt", "fxt/cpu_breakdown.fxt", "chrome/sched-names-fuchsia.json"]) {
			const file = join(DATA, name);
			const view = await View.open(browser, [file]);
			try {
				const list = await view.page.evaluate(async () => (await (await fetch("api/trace")).json()).list);
				const boxes = (await view.boxes()).filter(box => box.lane === STATES);
				const wanted = statesOf(file);
				assert(wanted.length > 1, name);
				// Those of one pixel are one box.
				const sum = (rows, tid, of) => rows.filter(row => row[0] === tid).reduce((all, row) => all + of(row), 0);
				const drawn = boxes.map(box => [list[box.track].tid, box.begin, box.end, box.name, box.busy, box.count]);
				for (const tid of new Set(wanted.map(row => row[0]))) {
					assert.equal(sum(drawn, tid, row => row[4]), sum(wanted, tid, row => row[2] - row[1]), `${name}: time of ${tid}`);
					assert.equal(sum(drawn, tid, row => row[5]), sum(wanted, tid, () => 1), `${name}: states of ${tid}`);
				}
				const alone = drawn.filter(row => row[5] === 1).map(row => row.slice(0, 4));
				const each = new Set(sorted(wanted));
				assert.deepEqual(sorted(alone).filter(row => !each.has(row)), [], name);
				if (alone.length === drawn.length)
					assert.deepEqual(sorted(alone), sorted(wanted), name);
				// Below all slices of the thread, inside of its line.
				const all = await view.boxes();
				for (const box of boxes) {
					const line = (await view.page.evaluate(() => window.trackway.lines())).find(({ id }) => id === box.track);
					assert(box.y > line.y && box.y + box.height < line.y + line.height);
					assert(all.every(other => other.track !== box.track || other.lane === STATES || other.y < box.y));
				}
			} finally {
				await view.close();
			}
		}
	},
};

await run({}, ALONE);
