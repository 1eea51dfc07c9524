#!/usr/bin/env node
// view_tests.mjs - what the page of `trackway view` shows in a browser, and what can be done there.
// SPDX-License-Identifier: Apache-2.0
//
// usage: view_tests.mjs --tool TRACKWAY [--page FOLDER]
//
// Prints TAP; skips all where the browser or playwright-core is not installed, unless CI is set. Traces whose names and times were
// written down by hand are opened by the tool's own server. What is drawn where is asked of the page (window.trackway), and
// must be what is written here; tables must have what `trackway stat` and `trackway flame` print.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CALLS, lines, LONG, MARKUP, run, start, time, TOOL, traceOf, View } from "./view.mjs";

const TESTS = {
	async "the picture has each slice with its name and times"(view) {
		const drawn = await view.boxes();
		for (const [name, , begin, duration] of CALLS) {
			const found = drawn.find(box => box.name === name && box.begin === begin * 1000);
			assert(found, `${name} at ${begin}`);
			assert.equal(found.end, (begin + duration) * 1000);
			assert.equal(found.count, 1);
		}
		assert.equal(drawn.filter(box => !box.point).length, CALLS.length);
	},

	async "slices lie where their times say, callees below their callers"(view) {
		const main = await view.box("main");
		const parse = await view.box("parse", 1);
		const { view: shown } = await view.state();
		const scale = main.width / 1_000_000;
		assert.deepEqual([shown.from, shown.to], [0, 1_000_000]);
		assert(Math.abs(parse.x - 300_000 * scale) < 1.5, `x ${parse.x}`);
		assert(Math.abs(parse.width - 150_000 * scale) < 1.5, `width ${parse.width}`);
		assert.equal(parse.y - main.y, 17);
		assert.equal(main.text, "main");
	},

	async "a mark stands at an edge that is near, and goes where one is"(view) {
		const parse = await view.box("parse", 1);
		const marks = async () => (await view.state()).marks;
		const [x, y] = await view.point({ ...parse, width: 0 });
		await view.page.mouse.move(x + 5, y);
		await view.press("m");
		assert.deepEqual(await marks(), [300_000]);
		const far = x - parse.width * 0.2;
		await view.page.mouse.move(far, y + 60);
		await view.press("m");
		const [free] = await marks();
		assert(Math.abs(free - 270_000) < 2_000 && ![210_000, 300_000].includes(free), String(free));
		await view.press("m");
		await view.page.mouse.move(x - 4, y);
		await view.press("m");
		assert.deepEqual(await marks(), []);
	},

	async "ticks are round, and long names are cut in the middle"(view) {
		assert.deepEqual((await view.page.evaluate(() => window.trackway.ticks())).slice(0, 3), ["0", "200 us", "400 us"]);
		const long = await view.box(LONG);
		assert.match(long.text, /^std::vec.*\u2026.*string>>::emplace_back\(\u2026\)$/);
	},

	async "tracks have the names of the trace, in their process"(view) {
		const names = (await view.page.evaluate(() => window.trackway.lines())).map(line => line.name);
		assert.deepEqual([names[0], ...names.slice(1).sort()].filter(name => name !== "memory"), ["server", "back", "front"]);
		assert(names.includes("memory"), `a counter among ${names}`);
	},

	async "keys and wheel zoom and pan"(view) {
		const span = ({ view: { from, to } }) => to - from;
		const before = await view.state();
		await view.press("w", "w");
		const near = await view.state();
		assert(span(near) < span(before) * 0.7);
		await view.press("d");
		const right = await view.state();
		assert(right.view.from > near.view.from);
		assert(Math.abs(span(right) - span(near)) < span(near) * 0.01);
		await view.page.mouse.move(700, 300);
		await view.page.keyboard.down("Control");
		await view.page.mouse.wheel(0, 200);
		await view.page.keyboard.up("Control");
		await view.page.waitForFunction(least => window.trackway.state().view.to - window.trackway.state().view.from > least, span(near));
		await view.press("0");
		assert.deepEqual((await view.state()).view, before.view);
	},

	async "details that the server does not know yet come when it does"(view) {
		let early = 2;
		await view.page.route("**/api/slice*", route => (early-- > 0
			? route.fulfill({ status: 503, contentType: "application/json", body: '{"error":"the file is still being read"}' })
			: route.continue()));
		await view.click(await view.box("parse", 1));
		await view.page.getByText("The file is still being read.").waitFor();
		await view.page.getByRole("heading", { name: "parse" }).waitFor();
		assert.equal(await view.page.getByText("The file is still being read.").count(), 0);
		assert(early < 0);
		await view.page.unroute("**/api/slice*");
		assert.equal(view.wrong.splice(0).length, 2); // which the browser says of each 503
	},

	async "a click shows the details of a slice"(view) {
		await view.click(await view.box("read", 0));
		const text = await view.says("Called by");
		for (const part of ["read", "100.000 us", "20.000 us", "server / front", "parse", "main"])
			assert(text.includes(part), `${part} in ${text}`);
	},

	async "arrows go from slice to slice, Enter to its details"(view) {
		await view.click(await view.box("parse", 0));
		const begins = async () => (await view.page.evaluate(() => window.trackway.chosen()))?.begin;
		await view.press("ArrowRight");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 300_000);
		await view.press("ArrowLeft");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 10_000);
		await view.press("ArrowDown");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 20_000);
		await view.press("ArrowUp");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 10_000);
		await view.press("ArrowUp");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 0);
		assert.equal(await begins(), 0);
		await view.press("Enter");
		assert.equal(await view.page.evaluate(() => document.activeElement.id), "panel");
	},

	async "a selection has the functions that stat has"(view) {
		const worker = await view.box("worker");
		const [x, y] = await view.point(worker, 0.2);
		const [right] = await view.point(worker, 0.8);
		await view.page.mouse.move(x, y);
		await view.page.mouse.down();
		await view.page.mouse.move(right, y, { steps: 4 });
		await view.page.mouse.up();
		const { selection: { from, to } } = await view.state();
		const wanted = lines("stat", "--json", "--thread", "2", "--from-time", `${from}ns`, "--to-time", `${to}ns`, view.file);
		const rows = await view.rows("Functions");
		assert.deepEqual(rows.map(row => row.slice(0, 4)).sort(),
			wanted.map(row => [row.name, String(row.count), time(row.total_ns), time(row.self_ns)]).sort());
		assert((await view.panel()).includes(time(to - from)));
	},

	async "its flame graph has the times of the same calls"(view) {
		await view.press("Escape", "Escape", "Escape", "g");
		await view.page.waitForFunction(() => window.trackway.flame().length > 0);
		const wanted = lines("flame", "--json", view.file).filter(frame => frame.depth > 0);
		const found = (await view.page.evaluate(() => window.trackway.flame())).filter(frame => frame.depth > 0);
		const plain = ({ name, depth, total, self, count }) => [name, depth, total, self, count];
		assert.deepEqual(found.map(plain).sort(),
			wanted.map(frame => plain({ ...frame, total: frame.total_ns, self: frame.self_ns })).sort());
	},

	async "a function has its callers, its callees and its slowest call"(view) {
		await view.press("Escape", "Escape", "Escape");
		await view.page.locator("#tab-functions").click();
		await view.rows("Functions");
		await view.page.getByRole("table", { name: "Functions", exact: true }).getByRole("row", { name: /^parse / }).click();
		assert.deepEqual(await view.rows("Callers"), [["main", "2", "350.000 us"]]);
		assert.deepEqual(await view.rows("Callees"), [["read", "1", "100.000 us"]]);
		await view.page.getByRole("button", { name: "Slowest call" }).click();
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 10_000);
		await view.press("Escape", "Escape", "Escape");
	},

	async "search finds names, n and p go from match to match"(view) {
		await view.press("/");
		await view.page.keyboard.type("PARSE");
		await view.page.keyboard.press("Enter");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 10_000);
		await view.page.locator("#found", { hasText: /^1 of 2$/ }).waitFor();
		await view.press("n");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 300_000);
		await view.page.locator("#found", { hasText: /^2 of 2$/ }).waitFor();
		await view.press("p");
		await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 10_000);
		await view.page.locator("#found", { hasText: /^1 of 2$/ }).waitFor();
		await view.page.locator("#tab-search").click();
		assert.deepEqual((await view.rows("Names found")), [["parse", "2", "350.000 us"]]);
	},

	async "a link opened anew shows the same; back leads back"(view) {
		await view.click(await view.box("worker"));
		await view.press("w", "m");
		await view.page.getByRole("button", { name: "Copy link" }).click();
		const state = await view.state();
		const link = view.page.url();
		const other = await view.context.newPage();
		await other.goto(link);
		await other.waitForFunction(() => window.trackway?.rested());
		const found = await other.evaluate(() => window.trackway.state());
		const rounded = ({ view: { from, to }, slice, marks, tab }) => ({ from: Math.round(from), to: Math.round(to), slice, marks, tab });
		assert.deepEqual(rounded(found), rounded(state));
		assert.equal(found.marks.length, 1);
		await other.evaluate(() => { location.hash = "#t=0-1000"; });
		await other.waitForFunction(() => window.trackway.state().view.to === 1000);
		await other.goBack();
		await other.waitForFunction(slice => JSON.stringify(window.trackway.state().slice) === slice, JSON.stringify(state.slice));
		await other.close();
	},

	async "a stretch that no trace has is asked for once"(view) {
		let asked = 0;
		const count = request => { asked += request.url().includes("/api/window") ? 1 : 0; };
		view.page.on("request", count);
		await view.page.goto(view.page.url().replace(/#.*/, "#t=0-9223372036854775807"));
		await view.page.reload();
		await view.page.waitForTimeout(500);
		await view.rest();
		view.page.off("request", count);
		assert(asked < 8, `${asked} questions`);
		view.wrong.splice(0); // what the browser says of the answer
		await view.press("0");
		assert.equal((await view.boxes()).filter(box => box.name === "main").length, 1);
	},

	async "all of it works without a mouse"(view) {
		await view.page.goto(view.page.url().replace(/#.*/, "#t=0-1000000"));
		await view.page.reload();
		await view.rest();
		await view.press("ArrowRight");
		await view.page.waitForFunction(() => window.trackway.chosen());
		await view.press("r");
		await view.rows("Functions");
		await view.page.locator("#scroller").focus();
		await view.press("0", "w", "v");
		const { view: sight, selection } = await view.state();
		assert.deepEqual(selection, sight);
		assert(sight.to - sight.from < 1_000_000);
		await view.press("0", "Tab");
		await view.page.locator("#tab-functions").focus();
		await view.press("ArrowRight");
		assert.equal((await view.state()).tab, "flame");
		await view.page.locator("#tab-table").focus();
		await view.press("Enter");
		const rows = await view.rows("Visible slices");
		assert.equal(rows.length, CALLS.length);
		await view.page.locator("#scroller").focus();
		await view.press("?");
		assert(await view.page.locator("#help").isVisible());
		await view.press("Escape");
		assert(!await view.page.locator("#help").isVisible());
	},

	async "tracks can be filtered, pinned and hidden"(view) {
		await view.page.locator("#filter").fill("BACK");
		await view.rest();
		assert.deepEqual((await view.page.evaluate(() => window.trackway.lines())).map(line => line.name), ["server", "back"]);
		await view.page.locator("#filter").fill("");
		await view.page.getByRole("button", { name: "Pin back", exact: true }).focus();
		await view.page.keyboard.press("Enter");
		await view.rest();
		assert.equal((await view.boxes()).filter(box => box.name === "worker").length, 2);
		await view.page.getByRole("button", { name: "Hide front", exact: true }).focus();
		await view.page.keyboard.press("Enter");
		await view.rest();
		assert.equal((await view.boxes()).filter(box => box.name === "main").length, 0);
	},

	async "names are text, and nothing is asked of elsewhere"(view) {
		await view.page.goto(view.page.url().replace(/#.*/, "#t=0-1000000"));
		await view.page.reload();
		await view.rest();
		await view.click(await view.box(MARKUP));
		const text = await view.says("820.000 us");
		assert(text.includes(MARKUP));
		for (const tab of ["functions", "table", "flame"])
			await view.page.locator(`#tab-${tab}`).click();
		await view.page.waitForFunction(() => window.trackway.flame().length > 0);
		assert.equal(await view.page.evaluate(() => window.hacked), undefined);
		assert.equal(await view.page.locator("img, b").count(), 0);
		assert.deepEqual(view.wrong, []);
	},
};

/** Has the second of two traces begin elsewhere, with the keyboard alone, and looks at all that tells of it. */
async function moves(view, first, second) {
	const { page } = view;
	const begins = page.getByRole("textbox", { name: `When ${second} begins` });
	const begin = async (name, nth) => (await view.box(name, nth)).begin;
	const move = async (text, at) => {
		await begins.focus();
		await begins.fill(text);
		await page.keyboard.press("Enter");
		await page.waitForFunction(([name, time]) => window.trackway.rested() && window.trackway.boxes().find(box => box.name === name)?.begin === time,
			["elsewhere", at]);
	};
	const copied = name => page.locator("#panel").getByRole("button", { name, exact: true }).getAttribute("title");
	const run = command => execFileSync("sh", ["-c", command.replaceAll(/(^|\| )trackway /g, `$1${TOOL} `)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
	await page.locator("#tab-trace").click();
	// What is being written stays when the panel has something else to show.
	await begins.fill("1 ms");
	await page.evaluate(() => { location.hash = "#tab=trace&marks=5"; });
	await page.waitForFunction(() => window.trackway.state().marks.length === 1);
	await page.waitForTimeout(600);
	assert.deepEqual([await begins.inputValue(), (await view.state()).starts[1] ?? 0], ["1 ms", 0]);
	await move("2 ms", 2_000_000);
	assert.equal(await begin("main"), 0);
	assert.deepEqual((await view.state()).starts, [0, 2_000_000]);
	assert.deepEqual((await view.state()).view, { from: 0, to: 2_500_000 });
	// By keys: a fiftieth of what is in sight, as a round number.
	await page.keyboard.press("ArrowUp");
	await page.waitForFunction(() => window.trackway.state().starts[1] === 2_010_000);
	await page.keyboard.press("ArrowDown");
	await page.waitForFunction(() => window.trackway.state().starts[1] === 2_000_000);
	await begins.fill("soon");
	await page.keyboard.press("Enter");
	assert.equal(await begins.getAttribute("aria-invalid"), "true");
	// What is selected has the calls that are there now; the command says the same.
	await page.evaluate(() => { location.hash = "#t=0-2600000&starts=0,2000000&sel=900000-2100000&tab=functions&marks=100000"; });
	await page.waitForFunction(() => document.querySelectorAll('table[aria-label="Functions"] > tbody > tr').length === 3);
	const rows = (await view.rows("Functions")).map(row => row.slice(0, 4)).sort();
	assert.deepEqual(rows.map(row => row.slice(0, 3)), [["elsewhere", "1", "100.000 us"], [MARKUP, "1", "20.000 us"], ["main", "1", "100.000 us"]].sort());
	const told = run((await copied("Copy command")).replace("trackway stat", "trackway stat --json")).split("\n").filter(Boolean).map(line => JSON.parse(line));
	assert.deepEqual(told.map(row => [row.name, String(row.count), time(row.total_ns), time(row.self_ns)]).sort(), rows);
	await view.click(await view.box("elsewhere"));
	assert((await view.says("500.000 us")).includes("2.000 ms"));
	assert.match(run(await copied("Copy command")), /elsewhere/);
	// SQL of the selection, on the axis that is shown.
	await page.keyboard.press(":");
	await page.keyboard.type("select name, ts, file from slice where name = 'elsewhere'");
	await page.getByRole("checkbox", { name: "only of the selected range" }).check();
	await page.getByRole("button", { name: "Run", exact: true }).click();
	assert.deepEqual(await view.rows("Rows"), [["elsewhere", "0", second]]);
	await page.getByRole("table", { name: "Rows", exact: true }).getByRole("row", { name: /^elsewhere/ }).click();
	await page.waitForFunction(() => window.trackway.chosen()?.begin === 2_000_000);
	// An event of the one is brought to a mark in the other; before its begin that one begins later, with its marks.
	await page.locator("#tab-trace").click();
	await page.getByRole("button", { name: "Move the selected slice to the first mark" }).click();
	await page.waitForFunction(() => window.trackway.state().starts[1] === 100_000);
	await page.locator("#scroller").focus();
	await view.press("0");
	await move("-1 ms", 0);
	assert.equal(await begin("main"), 1_000_000);
	assert.deepEqual([(await view.state()).starts, (await view.state()).marks], [[1_000_000, 0], [1_100_000]]);
	// The same by the link, and by the command that is copied.
	await page.getByRole("button", { name: "Copy link" }).click();
	await page.reload();
	await view.rest();
	assert.deepEqual([await begin("main"), await begin("elsewhere")], [1_000_000, 0]);
	await page.locator("#tab-trace").click();
	await page.getByRole("button", { name: "Begin as opened" }).click();
	await page.waitForFunction(() => window.trackway.state().starts.length === 0 && window.trackway.rested());
	assert.deepEqual([await begin("main"), await begin("elsewhere")], [0, 0]);
	await page.waitForFunction(() => !location.hash.includes("starts"));
	await page.goBack();
	await page.waitForFunction(() => window.trackway.rested() && window.trackway.boxes().find(box => box.name === "main")?.begin === 1_000_000);
	assert.deepEqual(view.wrong, []);
}

/** These open what they need themselves. */
/** Each step of a key that says which of all matches it has come to, until there is no more. */
async function walk(page, key) {
	const seen = [];
	for (const found = page.locator("#found"); ; ) {
		const before = JSON.stringify(await page.evaluate(() => window.trackway.state().slice));
		await page.keyboard.press(key);
		const over = await page.waitForFunction(was => (document.querySelector(".said")?.textContent.includes("match") ? "over"
			: JSON.stringify(window.trackway.state().slice) !== was && / of /.test(document.querySelector("#found").textContent) && "on"), before);
		if (await over.jsonValue() === "over")
			return seen;
		const { begin, depth, track } = await page.evaluate(() => window.trackway.chosen());
		seen.push([await found.textContent(), begin, track, depth].join(" "));
	}
}

const ALONE = {
	async "n and p come to each match, those that begin at once, too, and say which of all it is"(browser, folder) {
		const file = join(folder, "at-once.json"), html = join(folder, "at-once.html");
		const call = (name, tid, ts, dur) => ({ ph: "X", name, pid: 1, tid, ts, dur });
		const beside = [{ ph: "i", name: "work", pid: 1, tid: 1, ts: 5 }, { ph: "b", cat: "c", id: 1, name: "work", pid: 1, tid: 1, ts: 6 }, { ph: "e", cat: "c", id: 1, name: "work", pid: 1, tid: 1, ts: 9 }];
		writeFileSync(file, JSON.stringify([...[1, 2, 3].map(tid => call("work", tid, 0, 100)), call("Work", 2, 0, 50), ...Array.from({ length: 40 }, (_, i) => call(`work ${i}`, 3, 10 + 2 * i, 1)),
			call("rest", 1, 200, 10), ...beside]));
		execFileSync(TOOL, ["view", "--export", html, file], { stdio: "ignore" });
		const view = await View.open(browser, [file], { words: ["--state", "q=WORK"] });
		try {
			const other = await view.context.newPage();
			await other.goto(`${pathToFileURL(html).href}#q=WORK`);
			await other.waitForFunction(() => window.trackway?.rested());
			const starts = { server: view.page, "a file": other };
			for (const [name, page] of Object.entries(starts)) {
				const there = await walk(page, "n");
				assert.equal(there.length, 44, name);
				assert.deepEqual(there.map(step => step.split(" ").slice(0, 3).join(" ")), there.map((_, i) => `${i + 1} of 44`), name);
				assert.equal(new Set(there.map(step => step.replace(/^\d+ /, ""))).size, 44, "each once");
				await page.locator(".said").waitFor({ state: "detached" });
				assert.deepEqual(await walk(page, "p"), there.slice(0, -1).reverse(), name);
				// From anywhere: the call that is chosen by hand is no match that was come to.
				await page.evaluate(() => { location.hash = "#q=WORK&t=50000-60000"; });
				await page.locator("#found", { hasText: /^44 found$/ }).waitFor();
				await page.locator(".said").waitFor({ state: "detached" });
				await page.locator("#scroller").focus();
				await page.keyboard.press("n");
				await page.locator("#found", { hasText: /^25 of 44$/ }).waitFor();
			}
		} finally {
			await view.close();
		}
	},

	async "the slowest call is found where it is told as one with others"(browser, folder) {
		const file = join(folder, "joined.json");
		const tiny = [...Array(4000).keys()].map(i => ["tiny", 1, 500_000 + 6 * i + (i < 2000 ? 0 : 20), 5]);
		const slow = 500_000 + 6 * 2000;
		const calls = [...tiny, ["slow", 1, slow, 19], ["slow", 1, 100_000, 2], ["end", 1, 1_000_000, 1]];
		writeFileSync(file, traceOf(calls));
		const view = await View.open(browser, [file]);
		try {
			await view.page.locator("#tab-functions").click();
			await view.rows("Functions");
			await view.page.getByRole("table", { name: "Functions", exact: true }).getByRole("row", { name: /^slow / }).click();
			await view.page.getByRole("button", { name: "Slowest call" }).click();
			await view.page.waitForFunction(begin => window.trackway.chosen()?.begin === begin, slow * 1000);
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "no name turns the text around it: of slices, tracks, counters, series, operations"(browser, folder) {
		const file = join(folder, "turning.json");
		const of = (what, more) => ({ name: `${what}\u202e1`, pid: 1, tid: 1, ...more });
		writeFileSync(file, JSON.stringify([
			of("process_name", { name: "process_name", ph: "M", args: { name: "process\u202e1" } }),
			of("thread_name", { name: "thread_name", ph: "M", args: { name: "thread\u202e1" } }),
			of("slice", { ph: "X", ts: 0, dur: 1000 }), of("instant", { ph: "i", ts: 500 }),
			of("operation", { ph: "b", cat: "c", id: 1, ts: 0 }), of("operation", { ph: "e", cat: "c", id: 1, ts: 900 }),
			of("counter", { ph: "C", ts: 0, args: { "series\u202e1": 7 } }), of("counter", { ph: "C", ts: 900, args: { "series\u202e1": 9 } }),
		]));
		const view = await View.open(browser, [file]);
		try {
			await view.page.addInitScript(() => {
				window.drawn = [];
				const { fillText } = CanvasRenderingContext2D.prototype;
				CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
					window.drawn.push(text);
					return fillText.call(this, text, ...place);
				};
			});
			await view.page.reload();
			await view.rest();
			const drawn = await view.page.evaluate(() => [...window.drawn, document.body.textContent]);
			for (const what of ["process", "thread", "slice", "operation", "counter", "series"])
				assert(drawn.some(text => text.includes(`${what}\ufffd1`)), `${what} is not drawn`);
			assert.deepEqual(drawn.filter(text => text.includes("\u202e")), []);
		} finally {
			await view.close();
		}
	},

	async "a damaged trace is shown, with what is wrong"(browser, folder) {
		const file = join(folder, "damaged.fxt");
		execFileSync(TOOL, ["convert", join(folder, "calls.json"), "-o", join(folder, "whole.fxt")], { stdio: "ignore" });
		const bytes = readFileSync(join(folder, "whole.fxt"));
		bytes.fill(0xff, bytes.length - 160, bytes.length - 96);
		writeFileSync(file, bytes);
		const view = await View.open(browser, [file]);
		try {
			assert((await view.boxes()).some(box => box.name === "main"));
			await view.page.locator("#tab-trace").click();
			const wanted = lines("check", "--json", file);
			assert(wanted.length > 0);
			assert.deepEqual((await view.rows("Findings")).map(row => [row[1], row[3]]),
				wanted.map(({ record, rule }) => [`0x${record.toString(16)}`, rule]));
			// What is lost says what was found there.
			const lost = (await view.rows("Lost")).map(row => [row[4], row[5]]);
			assert.deepEqual(lost, wanted.map(({ record, text }) => [`0x${record.toString(16)}`, text]));
		} finally {
			await view.close();
		}
	},

	async "a time that damage has made far away is not what is seen at first"(browser, folder) {
		const file = join(folder, "far.json");
		const slices = [...Array(8).keys()].map(i => `{"ph":"X","name":"near","pid":1,"tid":${i % 2},"ts":${10 * i},"dur":5}`);
		writeFileSync(file, `[${slices.join()},{"ph":"X","name":"far","pid":1,"tid":9,"ts":1e9,"dur":1},{"ph":"X","na`);
		const view = await View.open(browser, [file]);
		try {
			await view.page.waitForFunction(() => window.trackway.state().view.to < 100_000);
			assert.equal((await view.boxes()).filter(({ name }) => name === "near").length, 8);
			await view.page.getByText("Most of the trace is visible").waitFor();
			await view.press("0");
			await view.page.waitForFunction(() => window.trackway.state().view.to >= 1e12);
			// Who comes back by a link sees what that says.
			await view.page.waitForFunction(() => location.hash.includes("t=0-1000"));
			await view.page.reload();
			await view.rest();
			assert((await view.state()).view.to >= 1e12);
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "stacks without times open as their flame graph"(browser, folder) {
		const file = join(folder, "stacks.folded");
		writeFileSync(file, "a;b 3\na 4\n");
		const view = await View.open(browser, [file]);
		try {
			await view.page.waitForFunction(() => window.trackway.flame().length > 0);
			const frames = await view.page.evaluate(() => window.trackway.flame());
			assert.deepEqual(frames.map(({ name, total, self }) => [name, total, self]), [["", 7, 0], ["a", 7, 4], ["b", 3, 3]]);
			await view.says("all: 7 samples");
			await view.says("All samples: they have no times");
			assert.equal(await view.page.locator("#trace-about").innerText(), "2 stacks");
			assert.match(await view.page.locator("#span").innerText(), /no times/);
			assert.deepEqual(await view.page.evaluate(() => window.trackway.ticks()), [], "the axis tells no times");
			await view.page.locator("#tab-functions").click();
			assert.deepEqual((await view.rows("Functions")).map(row => [row[0], row[1]]).sort(), [["a", "7"], ["b", "3"]]);
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "a log of sums has no times, and its words say so"(browser) {
		const view = await View.open(browser, [join(import.meta.dirname, "../data/profiling/profiling-nested.xray")]);
		try {
			await view.says("All calls: they have no times");
			assert.equal(await view.page.locator("#trace-about").innerText(), "2 stacks");
		} finally {
			await view.close();
		}
	},

	async "a long name of a file keeps both ends, a narrow window its name, and one event is no \"events\""(browser, folder) {
		const file = join(folder, "rather-a-long-name.json");
		writeFileSync(file, JSON.stringify([{ ph: "X", name: "one", pid: 1, tid: 1, ts: 0, dur: 5 }]));
		const view = await View.open(browser, [file], { options: { viewport: { width: 800, height: 600 } } });
		try {
			const about = view.page.locator("#trace-about");
			assert.match(await about.innerText(), /, 1 event$/);
			assert.equal(await view.page.locator("#trace-name .tail").innerText(), "g-name.json");
			const [title, name, said] = await Promise.all(["h1", "#trace-name", "#trace-about"].map(each => view.page.locator(each).boundingBox()));
			assert(name.width > 80, `the name has ${name.width} pixels`);
			assert(said.x >= name.x + name.width && said.x + said.width <= title.x + title.width + 1, "nothing is cut off without a word");
		} finally {
			await view.close();
		}
	},

	async "a time that is damaged does not make the axis longer than can be shown"(browser, folder) {
		const file = join(folder, "late.json");
		writeFileSync(file, `[{"ph":"X","name":"now","pid":1,"tid":1,"ts":0,"dur":9},{"ph":"X","name":"late","pid":1,"tid":1,"ts":9,"dur":18446744073709000}]`);
		const view = await View.open(browser, [file]);
		try {
			assert.deepEqual((await view.boxes()).map(({ name }) => name), ["now"]);
			assert.deepEqual((await view.state()).view, { from: 0, to: 9_000 });
		} finally {
			await view.close();
		}
	},

	async "--state opens what a link shows"(browser, folder) {
		const state = "t=100000-600000&slice=2.0.0.0&marks=250000&tab=trace";
		const narrow = { viewport: { width: 520, height: 700 } };
		const view = await View.open(browser, [join(folder, "calls.json")], { words: ["--state", state], options: narrow });
		try {
			// Where there is little room the panel's own tab is in sight, and no tick is cut.
			const [tab, close] = await Promise.all(["#tab-trace", "#tabbar .close"].map(each => view.page.locator(each).boundingBox()));
			assert(tab.x >= 0 && tab.x + tab.width <= close.x + 1, JSON.stringify([tab, close]));
			assert.deepEqual(await view.page.evaluate(() => window.trackway.ticks()), ["200 us", "400 us"]);
			const found = await view.state();
			assert.deepEqual([found.view, found.marks, found.tab], [{ from: 100_000, to: 600_000 }, [250_000], "trace"]);
			assert(found.slice);
		} finally {
			await view.close();
		}
	},

	async "two traces are one above the other"(browser, folder) {
		const other = join(folder, "other.json");
		writeFileSync(other, traceOf([["elsewhere", 1, 0, 500]]));
		const view = await View.open(browser, [join(folder, "calls.json"), other]);
		try {
			const names = (await view.boxes()).map(box => box.name);
			assert(names.includes("elsewhere") && names.includes("main"), String(names));
			const titles = (await view.page.evaluate(() => window.trackway.lines())).map(line => line.title);
			assert.equal(titles[0], "calls.json: server");
			assert.equal(titles.filter(title => title.startsWith("calls.json: ")).length, 1);
			assert(titles.indexOf("other.json: server") > titles.lastIndexOf("memory", titles.indexOf("other.json: server")) && titles.includes("other.json: server"));
			assert.deepEqual(titles.filter(title => title.startsWith("other.json: ")), ["other.json: server"]);
			assert.equal(await view.page.title(), "calls.json + other.json \u2013 Trackway");
			await moves(view, join(folder, "calls.json"), other);
		} finally {
			await view.close();
		}
	},

	async "a trace that is moved stays where it is, whatever answer of before comes late"(browser, folder) {
		const other = join(folder, "other.json");
		writeFileSync(other, traceOf([["elsewhere", 1, 0, 500]]));
		let release, asked, answers = 0;
		const held = new Promise(resolve => { release = resolve; });
		const waits = new Promise(resolve => { asked = resolve; });
		const change = async (trace, words) => {
			if (words.has("starts") || ++answers > 2)
				return trace;
			if (answers === 1)
				return { ...trace, state: "reading", end: "1000" };
			asked();
			await held;
			return trace;
		};
		const view = await View.open(browser, [join(folder, "calls.json"), other], { rest: false, change });
		const begins = () => view.page.evaluate(() => window.trackway.boxes().find(box => box.name === "elsewhere")?.begin);
		try {
			await waits;
			// What was opened with less has all of it by then, and so has an address that does not say what is in sight.
			await view.page.evaluate(() => { location.hash = "#tab=trace"; });
			await view.page.waitForFunction(() => window.trackway.state().tab === "trace");
			assert.deepEqual((await view.state()).view, { from: 0, to: 1_000_000 });
			await view.page.evaluate(() => { location.hash = "#starts=0,2000000"; });
			await view.page.waitForFunction(() => window.trackway.rested() && window.trackway.boxes().some(box => box.name === "elsewhere" && box.begin === 2_000_000));
			release();
			await view.page.waitForTimeout(500);
			await view.rest();
			assert.equal(await begins(), 2_000_000);
			assert.deepEqual(view.wrong, []);
		} finally {
			release();
			await view.close();
		}
	},

	async "where scroll bars take room, every canvas is painted to its edges"(_, folder) {
		const file = join(folder, "high.json");
		writeFileSync(file, JSON.stringify([...Array(60).keys()].map(i => ({ ph: "X", name: "call", pid: 1, tid: i, ts: i, dur: 50 }))));
		const browser = await start({ ignoreDefaultArgs: ["--hide-scrollbars"] });
		const view = await View.open(browser, [file], { words: ["--state", "t=0-40000&tab=flame&pin=2"] });
		try {
			await view.page.waitForFunction(() => window.trackway.flame().length > 0);
			const bar = await view.page.locator("#scroller").evaluate(({ offsetWidth, clientWidth }) => offsetWidth - clientWidth);
			assert(bar > 5, `a scroll bar of ${bar} pixels`);
			// Black is no colour of the page: it is what nobody has painted.
			const black = await view.page.evaluate(() => [...document.querySelectorAll("canvas")].filter(canvas => {
				const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
				return new Uint32Array(data.buffer).includes(0xff000000);
			}).map(canvas => canvas.id || canvas.ariaLabel));
			assert.deepEqual(black, []);
		} finally {
			await view.close();
			await browser.close();
		}
	},

	async "axe-core finds nothing serious, light or dark"(browser, folder) {
		const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
		const view = await View.open(browser, [join(folder, "calls.json")], { options: { bypassCSP: true } });
		try {
			await view.click(await view.box("parse"));
			await view.page.evaluate(axe);
			const tabs = await view.page.locator("#tabs button").evaluateAll(buttons => buttons.filter(each => !each.hidden).map(each => each.id));
			for (const tab of tabs) {
				await view.page.locator(`#${tab}`).click();
				for (const colorScheme of ["light", "dark"]) {
					await view.page.emulateMedia({ colorScheme });
					await view.rest();
					const { violations } = await view.page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
					const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
					assert.deepEqual(serious.map(({ id, nodes }) => `${colorScheme}, ${tab}: ${id} ${nodes[0].html}`), []);
				}
			}
		} finally {
			await view.close();
		}
	},
};

await run(TESTS, ALONE);
