#!/usr/bin/env node
// panel_tests.mjs - what the page of `trackway view` answers about a trace: SQL, details, flows, callers, counters, two traces.
// SPDX-License-Identifier: Apache-2.0
//
// usage: panel_tests.mjs --tool TRACKWAY [--page FOLDER]
//
// Prints TAP, as view_tests.mjs. What a panel says must be what is written down here, or what `trackway sql`, `counters`, `diff`
// and `stat` print.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { CALLS, inPages, lines, newPage, run, start, time, TOOL, traceOf, View } from "./view.mjs";

const QUERY = "select ts, dur, name from slice where dur > 250000 order by ts, dur desc";

/** A trace with a flow from the first read to the last slice of the second thread, and a counter. */
function flowing() {
	const trace = JSON.parse(traceOf(CALLS));
	trace.traceEvents.push({ ph: "s", name: "send", cat: "net", id: 1, pid: 7, tid: 1, ts: 60 },
		{ ph: "f", bp: "e", name: "send", cat: "net", id: 1, pid: 7, tid: 2, ts: 320 });
	return JSON.stringify(trace);
}

/** An operation beside the threads, and calls of the same name: two of one thread, the slower one of the other. */
function repeated() {
	const trace = JSON.parse(traceOf([["main", 1, 0, 1000], ["work", 1, 100, 20], ["work", 1, 300, 30], ["worker", 2, 0, 900], ["work", 2, 500, 80]]));
	const operation = (ph, ts) => ({ ph, name: "work", cat: "async", id: 1, pid: 7, tid: 1, ts });
	trace.traceEvents.push(operation("b", 10), operation("e", 900));
	return JSON.stringify(trace);
}

/** Opens the panel of one function, by its row of the table. */
async function chooseFunction(view, name) {
	await view.rows("Functions");
	await view.page.getByRole("table", { name: "Functions", exact: true }).getByRole("row", { name: new RegExp(`^${name} `) }).click();
	await view.page.getByRole("heading", { name, exact: true }).waitFor();
}

const chosen = (view, begin) => view.page.waitForFunction(at => window.trackway.chosen()?.begin === at, begin);

async function ask(view, query) {
	await view.page.locator("#tab-sql").click();
	await view.page.locator("#sql").fill(query);
	await view.page.locator("#sql").press("Control+Enter");
}

/** Two processes of which each has a thread 1, calls of some categories, and a counter of each. */
const FILTERED = JSON.stringify([
	...[[7, "server"], [8, "client"]].map(([pid, name]) => ({ ph: "M", name: "process_name", pid, args: { name } })),
	{ ph: "M", name: "thread_name", pid: 7, tid: 1, args: { name: "front" } },
	...[["main", "app", 7, 1, 0, 1000], ["read", "net,in", 7, 1, 100, 300], ["reply", "net", 7, 1, 150, 50], ["read", "net,in", 7, 2, 200, 400],
		["main", "app", 8, 1, 50, 400], ["send", "net", 8, 1, 120, 100], ["read", "disk", 8, 3, 300, 90]]
		.map(([name, cat, pid, tid, ts, dur]) => ({ ph: "X", name, cat, pid, tid, ts, dur })),
	...[7, 8].flatMap(pid => [120, 400].map(ts => ({ ph: "C", name: `memory ${pid}`, pid, ts, args: { used: pid + ts } }))),
]);

/** What is read, as soon as it is as wanted; after some seconds as it is. */
async function until(read, holds, tries = 100) {
	const found = await read();
	if (holds(found) || tries === 0)
		return found;
	await new Promise(over => setTimeout(over, 50));
	return until(read, holds, tries - 1);
}

/** What a command of the page prints. */
function sh(command, folder) {
	return execFileSync("sh", ["-c", command.replaceAll(/(^|\| )trackway /g, `$1${TOOL} `)],
		{ cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

const SHARED = {
	async "SQL answers as trackway sql does"(view) {
		await ask(view, QUERY);
		const wanted = lines("sql", "--json", view.file, QUERY);
		assert(wanted.length > 2);
		assert.deepEqual(await view.rows("Rows"), wanted.map(row => [String(row.ts), String(row.dur), row.name]));
	},

	async "its rows are a track, which a link has, too"(view) {
		await view.page.getByRole("button", { name: "Show as a track" }).click();
		await view.page.waitForFunction(() => window.trackway.lines()[0]?.name === "SQL");
		await view.rest();
		const [line] = await view.page.evaluate(() => window.trackway.lines());
		const wanted = lines("sql", "--json", view.file, QUERY);
		const drawn = (await view.boxes()).filter(box => box.track === line.id);
		assert.deepEqual(drawn.map(box => [box.begin, box.end - box.begin, box.name]).sort(),
			wanted.map(row => [row.ts, row.dur, row.name]).sort());
		const same = (await view.boxes()).find(box => box.track !== line.id && box.name === "main");
		assert.equal(drawn.find(box => box.name === "main").x, same.x);
		await view.page.waitForFunction(() => location.hash.includes("strip="));
		await view.page.reload();
		await view.page.waitForFunction(() => window.trackway?.lines()[0]?.name === "SQL");
		await view.page.getByRole("button", { name: "Hide SQL", exact: true }).focus();
		await view.page.keyboard.press("Enter");
		await view.page.waitForFunction(() => window.trackway.lines()[0].name !== "SQL");
	},

	async "what is wrong in SQL is told, and where"(view) {
		await ask(view, "select nosuch from slice");
		const text = await view.says("no such column: nosuch");
		assert(text.includes("nosuch"));
		await ask(view, "attach 'x.db' as x");
		await view.page.locator("#panel [role=alert]").waitFor();
		assert.match(await view.panel(), /not authorized|prohibited|cannot/);
	},

	async "of a question without an end no part is told, and it can be stopped"(view) {
		await ask(view, "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n");
		await view.page.locator("#panel [role=status]", { hasText: /s, how much is left is not known/ }).waitFor();
		await view.page.getByRole("button", { name: "Stop", exact: true }).click();
		await view.page.locator("#panel [role=alert]", { hasText: "Stopped" }).waitFor();
	},

	async "details have arguments, callers and what is called"(view) {
		await view.press("Escape", "Escape", "Escape");
		await view.click(await view.box("parse", 0));
		assert.deepEqual(await view.rows("Arguments"), [["number", "10", "integer"]]);
		assert.deepEqual(await view.rows("Callers"), [["main", "1.000 ms"]]);
		assert.deepEqual(await view.rows("Children"), [["read", "100.000 us"]]);
	},

	async "a function stands between the flame graphs of its callers and callees"(view) {
		await view.press("Escape", "Escape");
		await view.click(await view.box("parse", 1));
		await view.page.getByRole("button", { name: "Callers and callees", exact: true }).click();
		await view.page.waitForFunction(() => window.trackway.sandwich().filter(frames => frames.length).length === 2);
		const plain = ({ name, depth, total, count }) => [name, depth, total, count];
		const [callers, callees] = await view.page.evaluate(() => window.trackway.sandwich());
		assert.deepEqual(callers.map(plain), [["parse", 0, 350_000, 2], ["main", 1, 350_000, 2]]);
		assert.deepEqual(callees.map(plain), [["parse", 0, 350_000, 2], ["read", 1, 100_000, 1]]);
	},

	async "counters have their values in the selection"(view) {
		await view.page.goto(view.page.url().replace(/#.*/, "#t=0-1000000&sel=400000-600000&tab=counters"));
		const row = (await view.rows("Counters"))[0];
		// 10 until 500 us, then 510.
		assert.deepEqual(row.slice(-5), ["10", "10", "260", "510", "510"]);
	},

	async "a dropped file is told the command that opens it"(view) {
		await view.page.evaluate(() => {
			const data = new DataTransfer();
			data.items.add(new File(["x"], "new one.fxt"));
			document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
		});
		assert.match(await view.page.locator("#alert").innerText(), /trackway view 'new one\.fxt'/);
		assert.equal(await view.page.locator("#alert").getAttribute("class"), "notice", "nothing is wrong");
		await view.page.getByRole("button", { name: "Dismiss" }).click();
		assert(!await view.page.locator("#alert").isVisible());
	},
};

/** Opens the page that --export writes, where there is no network. */
async function exported(browser, folder, words, files, place) {
	const path = join(folder, "page.html");
	const { status, stderr } = spawnSync(TOOL, ["view", "--export", path, ...words, ...files], { encoding: "utf8" });
	assert.equal(status, 0, stderr);
	return opened(browser, path, place);
}

/** Opens such a page. */
async function opened(browser, path, place) {
	const view = Object.assign(new View(), { place }, place ?? await newPage(browser, { offline: true }));
	await view.page.goto(pathToFileURL(path).href);
	await view.rest();
	return view;
}

const ALONE = {
	async "a page that was written as a file shows the same without a server"(browser, folder) {
		const file = join(folder, "calls.json");
		const view = await View.open(browser, [file]);
		const wanted = await view.boxes();
		await view.close();
		const here = await exported(browser, folder, [], [file]);
		try {
			const plain = ({ name, begin, end, x, y, width }) => ({ name, begin, end, x, y, width });
			assert.deepEqual((await here.boxes()).map(plain), wanted.map(plain));
			const table = async () => (await here.rows("Functions")).map(row => row.slice(0, 4)).sort();
			const stat = (...words) => lines("stat", "--json", ...words, file).map(row =>
				[row.name, String(row.count), time(row.total_ns), time(row.self_ns)]).sort();
			await here.page.locator("#tab-functions").click();
			assert.deepEqual(await table(), stat());
			await here.page.evaluate(() => { location.hash = "#sel=100000-400000&tab=functions"; });
			await here.page.getByText("Selected: 300.000 us").waitFor();
			assert.deepEqual(await table(), stat("--from-time", "100us", "--to-time", "400us"));
			await here.click(await here.box("read", 0));
			assert((await here.says("Called by")).includes("100.000 us"));
			assert(!await here.page.locator("#tab-sql").isVisible());
			assert.equal(await here.page.evaluate(() => window.hacked), undefined);
			assert.deepEqual(here.wrong, []);
		} finally {
			await here.context.close();
		}
	},

	async "commands that are copied show the numbers of the page, whatever it was opened with"(browser, folder) {
		const file = join(folder, "filtered.json");
		writeFileSync(file, FILTERED);
		const other = join(folder, "other run.json");
		writeFileSync(other, FILTERED.replaceAll('"dur":400', '"dur":300'));
		const command = view => view.page.locator("#panel").getByRole("button", { name: "Copy command", exact: true }).getAttribute("title");
		const objects = text => text.split("\n").filter(Boolean).map(line => JSON.parse(line));
		const told = (text, name) => objects(sh(text.replace(`trackway ${name} `, `trackway ${name} --json `), folder));
		const functions = async view => (await view.rows("Functions")).map(row => row.slice(0, 4)).sort();
		const statOf = rows => rows.map(row => [row.name, String(row.count), time(row.total_ns), time(row.self_ns)]).sort();
		const shown = async view => {
			const rows = await functions(view);
			assert.deepEqual(statOf(told(await command(view), "stat")), rows);
			return rows;
		};
		const seen = new Set();
		await inPages(browser, async (served, alone) => {
			for (const words of [[], ["--from-time", "150us", "--to-time", "0.5ms"], ["--thread", "front"], ["--process", "8"], ["--category", "net*"],
				["--min-duration", "150us"], ["--function", "re*"], ["--thread", "1", "--process", "server", "--to-time", "350us", "--min-duration", "60us"]]) {
				const view = await View.open(browser, [file], { words: [...words, "--state", "tab=functions"], place: served });
				try {
					seen.add(JSON.stringify(await shown(view)));
					await view.page.evaluate(() => { location.hash = "#sel=100000-450000&tab=functions"; });
					await view.page.getByText("Selected: 350.000 us").waitFor();
					seen.add(JSON.stringify(await shown(view)));
					await view.page.evaluate(() => { location.hash = "#sel=100000-450000&tab=counters"; });
					await view.page.locator('table[aria-label="Counters"]').or(view.page.getByText("No counter has a value in this time range")).waitFor();
					const text = await command(view);
					const table = view.page.locator('table[aria-label="Counters"] > tbody > tr');
					if (text.startsWith("No command"))
						assert.match(text, /--(thread|process|category|min-duration|function) leaves out samples/);
					else
						assert.equal(await table.count(), told(text, "sql").length, text);
				} finally {
					await view.close();
				}
				// The page that is written as a file has the options, too; so has what its commands write.
				const here = await exported(browser, folder, [...words, "--state", "tab=functions&sel=100000-450000"], [file], alone);
				try {
					seen.add(JSON.stringify(await shown(here)));
				} finally {
					await here.leave();
				}
			}
		});
		assert(seen.size > 10, "the filters leave out different things");
		const view = await View.open(browser, [file, other], { words: ["--diff", "--category", "net*", "--from-time", "50us"] });
		try {
			const differences = async () => (await view.rows("Differences")).map(row => [row[0], row[1], row[2]]).sort();
			const wanted = async () => told(await command(view), "diff").map(row => [row.name, time(row.self_ns_a), time(row.self_ns_b)]).sort();
			assert.deepEqual(await differences(), await wanted());
			await view.page.evaluate(() => { location.hash = "#sel=100000-450000&tab=compare"; });
			await view.page.getByText("350.000 us selected of each").waitFor();
			assert.deepEqual(await differences(), await wanted());
			// The command of the whole page opens one that shows the same.
			const again = await command(view);
			assert.match(again, /--category 'net\*'/);
		} finally {
			await view.close();
		}
	},

	async "states and counters have the numbers of their command, in every time range"(browser, folder) {
		const samples = (name, pid, values) => values.map(([ts, used]) => ({ ph: "C", name, pid, ts, args: { used } }));
		const counted = join(folder, "counted.json");
		// The last sample is the end of the trace; between 300 and 500 us there is none.
		writeFileSync(counted, JSON.stringify([{ ph: "X", name: "main", pid: 7, tid: 1, ts: 0, dur: 900 }, { ph: "M", name: "process_name", pid: 7, args: { name: "it's" } },
			...samples("memory", 7, [[100, 10], [200, 40.5], [300, 7], [500, 1], [1000, 99]]), ...samples("memory", 8, [[0, 3], [0, 5], [600, 4]]),
			...samples("rate", 8, [[50, -4]])]));
		const waker = join(import.meta.dirname, "../data/fxt/waker.fxt");
		const command = view => view.page.locator("#panel").getByRole("button", { name: "Copy command", exact: true }).getAttribute("title");
		const told = text => sh(text.replace("trackway sql ", "trackway sql --json "), folder).split("\n").filter(Boolean).map(line => JSON.parse(line));
		const value = number => Number(Number(number).toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });
		const COUNTERS = {
			table: "Counters", of: row => [row.series, row.first, row.min, row["mean over time"], row.max, row.last].map((each, i) => (i ? value(each) : each)),
			shown: row => row.slice(1),
		};
		const STATES = { table: "Thread states", of: row => [row.thread, String(row.n), time(row.total)], shown: row => [row[0], row[2], row[3]] };
		const compare = async (place, files, words, states, { table, of, shown }) => {
			const view = await View.open(browser, files, { words, place });
			try {
				let before = null;
				for (const [number, state] of states.entries()) {
					await view.page.evaluate(hash => { location.hash = hash; }, state);
					if (number === 0)
						await view.page.reload(); // the page as a link opens it
					await view.rest();
					const text = await until(() => command(view), each => each !== before);
					assert.match(text, /^trackway sql /);
					const wanted = told(text).map(of).sort();
					const rows = await until(async () => (await view.rows(table)).map(shown).sort(), each => isDeepStrictEqual(each, wanted));
					assert.deepEqual(rows, wanted, `${state}: ${text}`);
					before = text;
				}
			} finally {
				await view.close();
			}
		};
		const ranges = ["", "sel=0-1000000&", "sel=310000-450000&", "sel=100000-200000&", "sel=150000-250001&", "t=140000.4-520000.7&", "filter=memory&",
			"sel=150000-600000&of=n7.memory&"].map(range => `${range}tab=counters`);
		await inPages(browser, async place => {
			await compare(place, [counted], [], ranges, COUNTERS);
			await compare(place, [counted], ["--from-time", "150us", "--to-time", "0.7ms"], ranges.filter(range => !/sel=(0|100000)-/.test(range)), COUNTERS);
			// More samples than a window has pixels: about three of them are in each.
			const dense = join(folder, "dense.json");
			writeFileSync(dense, JSON.stringify(samples("dense", 7, Array.from({ length: 50_000 }, (_, i) => [3 + i * 20, i * 7919 % 10_007 + i / 100]))));
			await compare(place, [dense], [], ["", "sel=0-1000000000&", "sel=100001000-900000000&", "sel=100001000-100002000&"].map(range => `${range}tab=counters`), COUNTERS);
			// Counters of threads are called as these are, with and without a name.
			const runtime = join(import.meta.dirname, "../data/tracelog/q5-thrcpu.log");
			await compare(place, [runtime], [], ["", "filter=CPU+OS+thread+100&", "filter=CPU+?&"].map(range => `${range}tab=counters`), COUNTERS);
			const [later, late] = ["later.json", "late.fxt"].map(name => join(folder, name));
			copyFileSync(counted, later);
			copyFileSync(waker, late);
			await compare(place, [counted, later], ["--offset", `${later}=100us`], ranges.slice(0, 5), COUNTERS);
			const [end] = lines("sql", "--json", waker, "select max(ts + max(dur, 0)) as e, min(ts) as b from thread_state");
			const middle = Math.floor((end.b + end.e) / 2);
			const looked = [`tab=states`, `sel=${end.b}-${middle}&tab=states`, `t=${end.b}.5-${middle}.5&tab=states`];
			await compare(place, [waker], [], looked, STATES);
			await compare(place, [waker], ["--min-duration", "1s"], looked, STATES);
			const { utid, pid, tid } = lines("sql", "--json", waker, "select utid, pid, tid from thread_state join thread using (utid) join process using (upid) limit 1")[0];
			assert(utid !== undefined);
			await compare(place, [waker], [], [`sel=${end.b}-${middle}&of=t${pid}.${tid}&tab=states`], STATES);
			await compare(place, [waker, late], ["--offset", `${late}=5us`], looked, STATES);
		});
	},

	async "what no command shows is told with its reason"(browser, folder) {
		const file = join(folder, "filtered.json");
		writeFileSync(file, FILTERED);
		const view = await View.open(browser, [file], { words: ["--thread", "1", "--state", "tab=counters"] });
		try {
			await view.page.locator("#panel").getByRole("button", { name: "Copy command", exact: true }).click();
			await view.page.locator(".said", { hasText: "No command shows just this: --thread leaves out samples that the tables of SQL have. Nothing was copied." }).waitFor();
			await view.page.locator("#tab-sql").click();
			await view.says("The tables of SQL have all of the trace: --thread of the command line leaves out nothing here.");
		} finally {
			await view.close();
		}
	},

	async "of what needs a server a page that was written as a file has nothing, whatever its state says"(browser, folder) {
		const waker = join(import.meta.dirname, "../data/fxt/waker.fxt");
		for (const [file, state] of [[join(folder, "calls.json"), "tab=sql&sql=select+1"], [waker, "tab=states"], [waker, "tab=compare"],
			[join(folder, "calls.json"), "tab=functions&strip=select+ts,name+from+slice"]]) {
			const here = await exported(browser, folder, ["--state", state], [file]);
			try {
				assert.equal((await here.state()).tab, "functions", state);
				await here.page.locator("#tab-functions[aria-selected=true]").waitFor();
				await here.page.evaluate(() => { location.hash = "#tab=sql"; });
				await here.page.waitForFunction(() => window.trackway.state().tab === "functions");
				await here.press(":");
				for (const tab of ["sql", "states", "compare"])
					assert(!await here.page.locator(`#tab-${tab}`).isVisible(), tab);
				assert.deepEqual(here.wrong, []);
			} finally {
				await here.context.close();
			}
		}
	},

	async "the export command writes the page that is seen"(browser, folder) {
		const file = join(folder, "filtered.json");
		writeFileSync(file, FILTERED);
		const options = { permissions: ["clipboard-read", "clipboard-write"] };
		for (const [state, words] of [["t=0-1000000&slice=t7.1@150000-200000.2.reply&pin=t7.1,t8.3&marks=250000", []],
			["t=100000-500000&sel=120000-450000&of=t7.1&slice=t7.1@150000-200000.2.reply&pin=t8.3&marks=250000,300000", ["--category", "*"]]]) {
			const view = await View.open(browser, [file], { words: [...words, "--state", `${state}&tab=functions`], options });
			let text, wanted, rows;
			try {
				await view.page.waitForFunction(() => window.trackway.state().slice);
				await view.page.getByRole("button", { name: "Copy export command" }).click();
				await view.page.locator(".said", { hasText: "Export command copied" }).waitFor();
				text = await view.page.evaluate(() => navigator.clipboard.readText());
				[wanted, rows] = [await view.state(), await view.rows("Functions")];
			} finally {
				await view.close();
			}
			assert.match(text, /^trackway view --export view\.html --state /);
			sh(text, folder);
			const here = await opened(browser, join(folder, "view.html"));
			try {
				await here.page.waitForFunction(() => window.trackway.chosen()?.name === "reply");
				const plain = ({ view: sight, selection, marks, tab, pins, tracks, missing }) =>
					({ sight, selection, marks, tab, pins: pins.length, tracks: tracks.length, missing });
				assert.deepEqual(plain(await here.state()), plain(wanted));
				assert.deepEqual(await here.rows("Functions"), rows);
				assert(!await here.page.locator("#alert").isVisible());
			} finally {
				await here.context.close();
				rmSync(join(folder, "view.html"));
			}
		}
	},

	async "times and values have all their digits"(browser, folder) {
		const file = join(folder, "digits.json");
		writeFileSync(file, JSON.stringify([{ ph: "X", name: "whole", pid: 1, tid: 1, ts: 0, dur: 20_000 },
			{ ph: "X", name: "short", pid: 1, tid: 1, ts: 11880.437, dur: 0.030 }, { ph: "i", name: "now", pid: 1, tid: 1, ts: 15000.001, s: "t" },
			...[1234567890123, 2 ** 53, 12345.678, 1234567.5, 2 ** 60].map((used, i) => ({ ph: "C", name: `n${i}`, pid: 1, ts: 0, args: { used } }))]));
		const view = await View.open(browser, [file], { words: ["--state", "t=11880000-11881000"] });
		try {
			await view.click(await view.box("short"));
			const text = await view.says("ends");
			assert.match(text, /30 ns[^]*begins\s+11\.880 ms \(11,880,437 ns\)[^]*ends\s+11\.880 ms \(11,880,467 ns\)/);
			await view.page.mouse.move(...await view.point(await view.box("short")));
			assert.match(await view.page.locator("#tip").innerText(), /11,880,437 ns/);
			await view.page.locator("#tab-counters").click();
			const first = Object.fromEntries((await view.rows("Counters")).map(row => [row[0].replace(/.* /, ""), row[2]]));
			assert.deepEqual(first, { n0: "1,234,567,890,123", n1: "9,007,199,254,740,992", n2: "12,345.7", n3: "1,234,568", n4: "1.15292e+18" });
		} finally {
			await view.close();
		}
	},

	async "of many counters the first are told, and of those that a filter leaves out none"(browser, folder) {
		const file = join(folder, "counters.json");
		const events = Array.from({ length: 400 }, (_, i) => ({ ph: "C", name: `counter ${i}`, pid: 1, ts: i, args: { a: i, b: 2 * i, c: 0 } }));
		writeFileSync(file, JSON.stringify([...events, { ph: "X", name: "call", pid: 1, tid: 1, ts: 0, dur: 1000 }]));
		const view = await View.open(browser, [file], { words: ["--state", "tab=counters"] });
		try {
			const asks = [];
			view.page.on("request", request => /api\/window/.test(request.url()) && asks.push(new URL(request.url()).searchParams));
			await view.page.evaluate(() => { location.hash = "#t=0-900000&tab=counters"; });
			await view.says("900.000 us");
			assert.equal((await view.rows("Counters")).length, 500);
			await view.says("Up to 700 more: filter tracks, or select some.");
			const told = asks.filter(each => each.get("width") === "16384").flatMap(each => each.get("tracks").split(","));
			assert(told.length < 400, `${told.length} tracks are asked for`);
			await view.page.locator("#filter").fill("counter 39");
			await view.says("all shown counters");
			assert.equal((await view.rows("Counters")).length, 42); // 39, 139, 239, 339 and 390 to 399
			await view.page.locator("#filter").fill("thread");
			await view.says("No counter is shown");
			assert.equal(await view.page.locator('table[aria-label="Counters"]').count(), 0);
			await view.page.locator("#filter").fill("counter 39");
			for (const tab of ["functions", "flame"]) {
				await view.page.locator(`#tab-${tab}`).click();
				await view.says("No thread is shown");
			}
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "at first the page shows the times that the command line leaves"(browser, folder) {
		const file = join(folder, "late.json");
		writeFileSync(file, traceOf([["main", 1, 0, 1000], ["late", 1, 950, 40]]));
		const sight = async view => (await view.state()).view;
		const check = async view => {
			assert.deepEqual(await sight(view), { from: 900_000, to: 1_000_000 });
			await view.press("w", "w", "0");
			assert.deepEqual(await sight(view), { from: 900_000, to: 1_000_000 });
			// The strip has these times, too: what is drawn there to its middle shows the first half.
			const { x, y, width } = await view.page.locator("#overview").boundingBox();
			await view.page.mouse.move(x + 1, y + 10);
			await view.page.mouse.down();
			await view.page.mouse.move(x + width / 2, y + 10, { steps: 3 });
			await view.page.mouse.up();
			const { from, to } = await sight(view);
			assert(Math.abs(Math.min(from, 950_000) - 900_000) < 51_000 && Math.abs((from + to) / 2 - 950_000) < 26_000, `${from} ${to}`);
		};
		const view = await View.open(browser, [file], { words: ["--from-time", "900us"] });
		try {
			await check(view);
		} finally {
			await view.close();
		}
		const here = await exported(browser, folder, ["--from-time", "900us"], [file]);
		try {
			await check(here);
			await here.page.evaluate(() => { location.hash = "#tab=functions"; });
			assert.equal((await here.rows("Functions")).length, 2);
		} finally {
			await here.context.close();
		}
	},

	async "a link names slice and tracks, whatever is left out where it is opened"(browser, folder) {
		const file = join(folder, "linked.json");
		writeFileSync(file, FILTERED);
		const whole = await View.open(browser, [file]);
		let state = "";
		try {
			await whole.click(await whole.box("reply"));
			await whole.page.waitForFunction(() => location.hash.includes("slice=t7.1@"));
			// The track of the last thread is pinned by its number, as in links of old.
			const number = await whole.page.evaluate(() => window.trackway.lines().find(line => line.name.includes("thread 3")).id);
			await whole.page.evaluate(pin => { location.hash += `&pin=${pin}`; }, number);
			await whole.page.waitForFunction(() => window.trackway.state().told && window.trackway.state().pins.length);
			await whole.page.getByRole("button", { name: "Copy link" }).click();
			await whole.page.waitForFunction(() => location.hash.includes("pin=t8.3"));
			state = await whole.page.evaluate(() => location.hash.slice(1));
			assert.match(state, /slice=t7\.1@150000-200000\.2\.reply/);
			// The address by number is replaced: back leads to what was before.
			assert(!await whole.page.evaluate(() => document.getElementById("alert")?.innerText));
		} finally {
			await whole.close();
		}
		const pinned = view => view.page.evaluate(() => window.trackway.state().pins.length + window.trackway.state().missing.pin.length);
		const found = async (view, words) => {
			await view.page.waitForFunction(() => window.trackway.state().slice);
			assert.match(await view.says("record at").catch(() => view.panel()), /^reply/, words.join(" "));
			const { slice } = await view.state();
			const box = (await view.boxes()).find(each => each.name === "reply");
			assert.deepEqual([slice.track, slice.lane, slice.depth, slice.item], [box.track, box.lane, box.depth, box.item], words.join(" "));
			assert(!await view.page.locator("#alert", { hasText: "slice" }).isVisible());
			assert.equal(await pinned(view), 1);
		};
		const missed = async (view, words) => {
			await view.page.locator("#alert", { hasText: "The slice that the address names is not here: reply, at 150.000 us." }).waitFor();
			assert.equal((await view.state()).slice, null, words.join(" "));
			// Who copies the link has it still.
			assert.match(await view.page.evaluate(() => location.hash), /slice=t7\.1@150000-200000\.2\.reply/);
		};
		const ways = [[["--from-time", "120us"], found], [["--from-time", "160us", "--to-time", "190us"], found], [["--thread", "1"], found],
			[["--process", "7", "--function", "re*"], found], [["--category", "app"], missed], [["--from-time", "300us"], missed], [["--process", "8"], missed]];
		await inPages(browser, async (served, alone) => {
			for (const [words, expected] of ways) {
				const view = await View.open(browser, [file], { words: [...words, "--state", state], place: served });
				try {
					await expected(view, words);
				} finally {
					await view.close();
				}
				const here = await exported(browser, folder, [...words, "--state", state], [file], alone);
				try {
					await expected({ page: here.page, state: () => here.state(), boxes: () => here.boxes(), panel: () => here.panel(),
						says: async () => here.says("duration") }, words);
				} finally {
					await here.leave();
				}
			}
			// What the trace does not have is not in sight.
			for (const [t, view] of [["5000000-6000000", { from: 0, to: 1_000_000 }], ["900000-900001", { from: 899_981, to: 900_001 }],
				["500000-90000000", { from: 500_000, to: 1_000_000 }]]) {
				const beyond = await View.open(browser, [file], { words: ["--state", `t=${t}`], place: served });
				try {
					assert.deepEqual((await beyond.state()).view, view);
				} finally {
					await beyond.close();
				}
			}
		});
	},

	async "such a page shows what --state says, and files begin where they were moved to"(browser, folder) {
		const file = join(folder, "calls.json");
		const other = join(folder, "other.json");
		writeFileSync(other, traceOf([["elsewhere", 1, 0, 500]]));
		const state = "t=100000-2600000&slice=2.0.0.0&marks=250000&starts=0,2000000&tab=functions";
		const view = await View.open(browser, [file, other], { words: ["--state", state] });
		const [wanted, rows, boxes] = [await view.state(), await view.rows("Functions"), await view.boxes()];
		await view.close();
		const here = await exported(browser, folder, ["--state", state], [file, other]);
		try {
			assert.deepEqual(await here.state(), wanted);
			assert.deepEqual(wanted.view, { from: 100_000, to: 2_600_000 });
			assert.deepEqual(await here.rows("Functions"), rows);
			const plain = ({ name, begin, end, x }) => ({ name, begin, end, x });
			assert.deepEqual((await here.boxes()).map(plain), boxes.map(plain));
			assert.equal((await here.box("elsewhere")).begin, 2_000_000);
			assert.deepEqual(here.wrong, []);
			// The address of such a page has its state, too: another one is shown instead.
			await here.page.goto(`${here.page.url().replace(/#.*/, "")}#t=0-1000`);
			await here.page.reload();
			await here.rest();
			assert.deepEqual((await here.state()).view, { from: 0, to: 1000 });
		} finally {
			await here.context.close();
		}
		const compared = await exported(browser, folder, ["--diff"], [file, other]);
		try {
			assert.equal((await compared.state()).tab, "compare");
		} finally {
			await compared.context.close();
		}
	},

	async "a function tells its slowest call and where it is, and is found where the table counts it"(browser, folder) {
		const file = join(folder, "repeated.json");
		writeFileSync(file, repeated());
		const view = await View.open(browser, [file], { words: ["--state", "t=0-1000000&tab=functions"] });
		try {
			await chooseFunction(view, "work");
			await view.rows("Callers");
			// The slowest call is told before all calls have been read.
			await view.page.route("**/api/flame*", () => undefined);
			await view.page.getByRole("button", { name: "Close", exact: true }).click();
			await chooseFunction(view, "work");
			await view.page.getByRole("button", { name: "Slowest call: 80.000 us on server / back, at 500.000 us" }).click();
			await chosen(view, 500_000);
			await view.page.unroute("**/api/flame*");
			// The operation is no call of the table.
			await view.page.locator("#tab-functions").click();
			await chooseFunction(view, "work");
			await view.page.getByRole("button", { name: "Find in the timeline" }).click();
			await chosen(view, 100_000);
			// Of what is selected: a stretch, and one thread. The function stays chosen.
			const state = async (words, says) => {
				await view.page.evaluate(hash => { location.hash = hash; }, `#t=0-1000000&${words}&tab=functions`);
				await view.says(says);
			};
			const { list } = await view.page.evaluate(async () => (await fetch("api/trace")).json());
			const back = list.find(({ kind, name }) => kind === "thread" && name === "back").id;
			await state("sel=310000-700000", "Selected: 390.000 us from 310.000 us, all threads");
			await view.page.getByRole("button", { name: "Find in the timeline" }).click();
			await chosen(view, 500_000);
			await state("sel=310000-400000", "Selected: 90.000 us");
			await view.page.getByRole("button", { name: "Slowest call: 20.000 us on server / front, at 300.000 us" }).waitFor();
			await view.page.getByRole("button", { name: "Find in the timeline" }).click();
			await chosen(view, 300_000);
			await state(`sel=50000-990000&of=${back}`, "server / back");
			await view.page.getByRole("button", { name: "Find in the timeline" }).click();
			await chosen(view, 500_000);
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "tables count what is shown: not what a filter leaves out, nor operations that are selected with threads"(browser, folder) {
		const file = join(folder, "repeated.json");
		writeFileSync(file, repeated());
		const view = await View.open(browser, [file], { words: ["--state", "t=0-1000000&tab=functions"] });
		const counts = async () => Object.fromEntries((await view.rows("Functions")).map(([name, count]) => [name, count]));
		try {
			assert.deepEqual(await counts(), { main: "1", work: "3", worker: "1" });
			await view.says("Visible: 1.000 ms from 0 ns, all threads");
			await view.page.getByRole("button", { name: "Hide front", exact: true }).focus();
			await view.page.keyboard.press("Enter");
			await view.says("server / back");
			assert.deepEqual(await counts(), { work: "1", worker: "1" });
			assert.match(await view.page.locator("#panel").getByRole("button", { name: "Copy command", exact: true }).getAttribute("title"), /--thread 2 /);
			await view.page.evaluate(() => { location.hash = "#t=0-1000000&filter=server&tab=functions"; });
			await view.says("all shown threads");
			assert.deepEqual(await counts(), { main: "1", work: "3", worker: "1" });
			// From the first thread down to all that stands below.
			await view.page.evaluate(() => { location.hash = "#t=0-1000000&tab=functions"; });
			await view.says("all threads");
			const { x, y, width } = await view.page.locator("#canvas").boundingBox();
			const below = await view.page.evaluate(() => Math.max(...window.trackway.lines().map(line => line.y + line.height)));
			await view.page.mouse.move(x + width * 0.05, y + 2);
			await view.page.mouse.down();
			await view.page.mouse.move(x + width * 0.95, y + below - 2, { steps: 4 });
			await view.page.mouse.up();
			await view.says("2 threads");
			assert.deepEqual(await counts(), { main: "1", work: "3", worker: "1" });
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "an example query runs as soon as it is chosen, and its rows lead to their slices"(browser, folder) {
		const file = join(folder, "repeated.json");
		writeFileSync(file, repeated());
		const view = await View.open(browser, [file], { words: ["--state", "t=0-1000000&tab=sql"] });
		const row = name => view.page.getByRole("table", { name: "Rows", exact: true }).getByRole("row", { name });
		try {
			await view.page.getByRole("combobox", { name: "Example queries" }).selectOption({ label: "Slowest calls" });
			assert.deepEqual(await view.rows("Rows"), [["main", "front", "0", "1000000"], ["worker", "back", "0", "900000"],
				["work", "back", "500000", "80000"], ["work", "front", "300000", "30000"], ["work", "front", "100000", "20000"]]);
			await row("work front 300000").click();
			await chosen(view, 300_000);
			await row("work back").click();
			await chosen(view, 500_000);
			assert.equal((await view.state()).selection, null);
			assert.equal((await view.state()).tab, "sql");
			// Where no slice has it a row is a range of time.
			await ask(view, "select 'none' as name, 200000 as ts, 50000 as dur");
			await row("none").click();
			await view.page.waitForFunction(() => window.trackway.state().selection?.to === 250_000);
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "functions that samples weigh count samples, as stat does, also in a page that was written as a file"(browser, folder) {
		const file = join(import.meta.dirname, "../data/tracelog/kinds.log");
		const wanted = lines("stat", "--json", file);
		assert.equal(wanted[0].weight, "samples");
		const check = async view => {
			await view.page.locator("#tab-functions").click();
			const rows = await view.rows("Functions");
			assert.deepEqual(rows.map(([name, total, self]) => [name, total, self]).sort(),
				wanted.map(({ name, total, self }) => [name, total.toLocaleString("en"), self.toLocaleString("en")]).sort());
			assert.deepEqual(await view.page.locator("#panel th").allInnerTexts(), ["function", "total (samples)", "self (samples)", "self %"]);
			await view.page.locator("#tab-flame").click();
			const all = wanted.reduce((sum, { self }) => sum + self, 0);
			await view.says(`all: ${all} samples`);
			await view.page.locator("#search").fill(wanted[0].name);
			await view.page.locator("#tab-search").click();
			assert.equal((await view.rows("Names found"))[0][2], String(wanted[0].total));
		};
		const view = await View.open(browser, [file]);
		try {
			await check(view);
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
		const here = await exported(browser, folder, [], [file]);
		try {
			await check(here);
		} finally {
			await here.context.close();
		}
	},

	async "where there is little room nothing is cut: a short name of a file, columns of functions, keys of the help"(browser, folder) {
		const file = join(folder, "short12.json");
		const calls = [...Array(40).keys()].map(i => [`a_function_of_some_length_${i}`, 1, i * 10_000, 9_999.999]);
		writeFileSync(file, traceOf(calls));
		const alone = await start({ ignoreDefaultArgs: ["--hide-scrollbars"] });
		const view = await View.open(alone, [file], { words: ["--state", "tab=functions"], options: { viewport: { width: 800, height: 600 } } });
		try {
			await view.rows("Functions");
			const fits = selector => view.page.locator(selector).first().evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
			assert(await fits("#trace-name .head") && await fits("#trace-name"), "the name");
			assert(await fits("#panel"), "the table");
			// Names break between words, and of the numbers in the header those are left out that have no room.
			const broken = await view.page.locator("table td:first-child").first().evaluate(cell => {
				const range = document.createRange();
				return [...cell.childNodes].filter(({ nodeType }) => nodeType === 3).filter(text => {
					range.selectNodeContents(text);
					return range.getClientRects().length > 1;
				}).length;
			});
			assert.equal(broken, 0, "words");
			const parts = await view.page.locator("#trace-about").evaluate(about => {
				const { bottom, right } = about.getBoundingClientRect();
				return [...about.children].map(part => part.getBoundingClientRect()).map(part => part.top >= bottom - 1 || part.right <= right + 1);
			});
			assert(parts.length === 2 && parts.every(Boolean), String(parts));
			await view.press("?");
			const heights = await view.page.locator("#help .combination").evaluateAll(all => all.map(each => each.getBoundingClientRect().height));
			assert(heights.length > 30 && Math.max(...heights) < 30, String(heights));
		} finally {
			await view.close();
			await alone.close();
		}
	},

	async "no two keys of the help say the same, and none says it twice"(browser, folder) {
		const view = await View.open(browser, [join(folder, "calls.json")]);
		try {
			await view.press("?");
			const said = await view.page.locator("#help .keys div > span:last-child").allInnerTexts();
			assert(said.length > 25);
			assert.equal(new Set(said).size, said.length, said.join("\n"));
			await view.page.getByText("\u2190 or ,").waitFor();
		} finally {
			await view.close();
		}
	},

	async "of calls that never ended no duration is told, as by stat"(browser, folder) {
		const file = join(folder, "open.json");
		writeFileSync(file, '[{"ph":"B","name":"endless","pid":1,"tid":2,"ts":0},{"ph":"X","name":"short","pid":1,"tid":2,"ts":1,"dur":3}]');
		const view = await View.open(browser, [file], { words: ["--state", "tab=functions"] });
		try {
			const rows = Object.fromEntries((await view.rows("Functions")).map(([name, ...row]) => [name, row]));
			assert.deepEqual(rows.endless.slice(-5), ["-", "-", "-", "-", "-"]);
			assert.deepEqual(rows.short.slice(-5), Array(5).fill("3.000 us"));
		} finally {
			await view.close();
		}
	},

	async "what is lost is hatched on its track, and the axis tells of it and of damage"(browser, folder) {
		const change = trace => ({ ...trace, lost_count: "1", lost: [{ track: 2, from: "200000", to: "400000", bytes: "16", offset: "64" }],
			finding_count: "2", findings: [{ file: 0, rule: "a.rule", severity: "error", offset: "80", time: "700000", text: "It is wrong." },
				{ file: 0, rule: "b.rule", severity: "error", offset: "72", time: null, text: "No record is here." }] });
		const view = await View.open(browser, [join(folder, "calls.json")], { change });
		try {
			const main = await view.box("main");
			const x = ns => main.x + ns / 1_000_000 * main.width;
			const [hatched, ...more] = await view.page.evaluate(() => window.trackway.hatched());
			assert.deepEqual([hatched.track, more.length], [2, 0]);
			assert(Math.abs(hatched.x - x(200_000)) < 2 && Math.abs(hatched.width - (x(400_000) - x(200_000))) < 2, JSON.stringify(hatched));
			const ruler = await view.page.locator("#ruler").boundingBox();
			await view.page.mouse.move(ruler.x + x(300_000), ruler.y + 10);
			assert.match(await view.page.locator("#tip").innerText(), /Lost[^]*No record[^]*200\.000 us[^]*400\.000 us[^]*16[^]*0x40/);
			await view.page.mouse.move(ruler.x + x(700_000), ruler.y + 10);
			assert.match(await view.page.locator("#tip").innerText(), /a\.rule[^]*It is wrong/);
			// The same in the picture: on the track, where a line of damage is, and where nothing is any more.
			const canvas = await view.page.locator("#canvas").boundingBox();
			const line = (await view.page.evaluate(() => window.trackway.lines())).find(({ id }) => id === 2);
			const below = canvas.y + line.y + line.height / 2;
			const says = async ns => {
				await view.page.mouse.move(canvas.x + x(ns), below);
				return view.page.locator("#tip").innerText();
			};
			assert.match(await says(260_000), /Lost[^]*No record is here[^]*0x40[^]*b\.rule/);
			assert.match(await says(130_000), /^memory/);
			await view.page.mouse.move(canvas.x + x(700_000), canvas.y + 10);
			assert.match(await view.page.locator("#tip").innerText(), /a\.rule[^]*It is wrong[^]*0x50/);
			await view.page.mouse.click(canvas.x + x(260_000), below);
			assert.deepEqual((await view.rows("Lost")).map(row => row.slice(1)), [["200.000 us", "400.000 us", "16", "0x40", "No record is here."]]);
			await view.page.evaluate(() => { location.hash = "#t=500000-1500000"; });
			await view.page.waitForFunction(() => window.trackway.state().view.to > 1_100_000);
			await view.rest();
			await view.page.mouse.move(canvas.x + canvas.width - 8, below);
			assert.match(await view.page.locator("#tip").innerText(), /After the trace has ended/);
			await view.page.evaluate(() => { location.hash = "#t=0-1000000&tab=trace"; });
			await view.page.waitForFunction(() => window.trackway.state().view.from === 0);
			await view.page.mouse.click(ruler.x + x(700_000), ruler.y + 10);
			assert.equal((await view.state()).tab, "trace");
		} finally {
			await view.close();
		}
	},

	async "damage of one track is drawn on that track"(browser, folder) {
		const lost = (track, offset) => ({ track, from: "50000", to: "50000", bytes: "16", offset });
		const finding = { file: 0, rule: "fdr.buffer-truncated", severity: "error", offset: "40", time: "50000", text: "It is cut off." };
		const columns = async general => {
			const change = trace => ({ ...trace, lost_count: "1", lost: [lost(general ? null : trace.list.find(({ kind }) => kind === "counter").id, "64")],
				finding_count: "1", findings: [finding] });
			const view = await View.open(browser, [join(folder, "calls.json")], { change });
			try {
				const { id, y, height } = (await view.page.evaluate(() => window.trackway.lines())).find(({ name }) => name === "back");
				const main = await view.box("main");
				const at = Math.round(main.x + 0.05 * main.width);
				const canvas = await view.page.locator("#canvas").boundingBox();
				await view.page.mouse.move(canvas.x + at, canvas.y + y + height / 2);
				const tip = await view.page.locator("#tip").isVisible();
				await view.page.mouse.move(canvas.x + at, 5);
				await view.rest();
				const pixels = await view.page.evaluate(([x, top, tall]) => [...new Set(new Uint32Array(document.querySelector("#canvas").getContext("2d")
					.getImageData(x, top, 1, tall).data.buffer))].length, [at, y + 1, height - 3]);
				assert(id >= 0);
				await view.page.locator("#tab-trace").click();
				assert.equal((await view.rows("Lost"))[0].at(-1), "It is cut off.");
				return [tip, pixels > 1];
			} finally {
				await view.close();
			}
		};
		assert.deepEqual(await columns(true), [true, true]);
		assert.deepEqual(await columns(false), [false, false]);
	},

	async "callers have a command that tells the same"(browser, folder) {
		const file = join(folder, "callers.json");
		writeFileSync(file, traceOf([["main", 1, 0, 1000], ["a[b]*?", 1, 10, 200], ["read", 1, 20, 100], ["ab", 1, 300, 100], ["a[b]*?", 1, 500, 200]]));
		const view = await View.open(browser, [file], { words: ["--state", "sel=0-400000&tab=callers&fn=a[b]*?"] });
		try {
			await view.page.waitForFunction(() => window.trackway.sandwich().length === 2);
			const text = await view.page.locator("#panel").getByRole("button", { name: "Copy command", exact: true }).getAttribute("title");
			assert.match(text, /^trackway graph --to-time 400000ns /);
			const graph = sh(text, folder);
			assert.match(graph, /"a\[b\]\*\?\\ntotal 200\.000 us/);
			assert.match(graph, /"main\\n/);
			assert.match(graph, /"read\\n/);
			assert.doesNotMatch(graph, /"ab\\n/);
		} finally {
			await view.close();
		}
	},

	async "n and p that are pressed fast take a step each"(browser, folder) {
		const file = join(folder, "steps.json");
		writeFileSync(file, traceOf(Array.from({ length: 20 }, (_, i) => ["tick", 1, i * 10, 5])));
		const view = await View.open(browser, [file], { words: ["--state", "q=tick"] });
		try {
			await view.page.route("**/api/near*", async route => {
				await new Promise(resolve => setTimeout(resolve, 50));
				await route.continue();
			});
			await view.page.locator("#scroller").focus();
			for (const key of "nnnnnp")
				await view.page.keyboard.press(key);
			await chosen(view, 30_000);
		} finally {
			await view.close();
		}
	},

	async "each call of a name is reached from the details, also those that begin at once"(browser, folder) {
		const file = join(folder, "once.json");
		const calls = [["work", 1, 0, 50], ["work", 2, 0, 60], ["work", 1, 100, 50], ["work", 2, 100, 60]];
		writeFileSync(file, traceOf(calls));
		const wanted = calls.map(([, , begin, duration]) => [begin * 1000, (begin + duration) * 1000]);
		const exact = calls.map(([, , , duration]) => `${duration}.000 us`);
		const whole = await View.open(browser, [file]);
		const page = await exported(browser, folder, [], [file]);
		for (const view of [whole, page])
			try {
				await view.click(await view.box("work", 0));
				for (const [button, place] of [["Next", 1], ["Next", 2], ["Next", 3], ["Previous", 2], ["Previous", 1]]) {
					await view.page.getByRole("button", { name: `${button} of this name` }).click();
					await view.page.waitForFunction(([begin, end]) => {
						const slice = window.trackway.chosen();
						return slice?.begin === begin && slice.end === end;
					}, wanted[place]);
					await view.says(exact[place]);
				}
			} finally {
				await (view.server ? view.close() : view.leave());
			}
	},

	async "the axis has times of day, where the trace tells them"(browser, folder) {
		const view = await View.open(browser, [join(folder, "calls.json")], { change: trace => ({ ...trace, wall: "1700000000000000000" }) });
		try {
			await view.press("c");
			// date -u -d @1700000000: 22:13:20
			assert.deepEqual((await view.page.evaluate(() => window.trackway.ticks())).slice(0, 2), ["22:13:20.0000", "22:13:20.0002"]);
			await view.click(await view.box("parse", 0));
			assert((await view.says("time of day")).includes("2023-11-14 22:13:20.000010000 UTC"));
		} finally {
			await view.close();
		}
	},

	async "flows are arrows from slice to slice, and keys follow them"(browser, folder) {
		const file = join(folder, "flows.json");
		writeFileSync(file, flowing());
		const view = await View.open(browser, [file]);
		try {
			await view.click((await view.boxes()).find(box => box.begin === 20_000));
			await view.page.waitForFunction(() => window.trackway.arrows().length === 1);
			const [arrow] = await view.page.evaluate(() => window.trackway.arrows());
			const read = (await view.boxes()).find(box => box.begin === 20_000);
			const other = (await view.boxes()).find(box => box.begin === 300_000 && box.end === 710_000);
			const main = await view.box("main");
			const x = ns => main.x + ns / 1_000_000 * main.width;
			assert.equal(arrow.name, "send");
			assert(Math.abs(arrow.x0 - x(60_000)) < 2 && Math.abs(arrow.x1 - x(320_000)) < 2, JSON.stringify(arrow));
			const middle = box => box.y + 8.5;
			assert(Math.abs(arrow.y1 - middle(other)) < 2, `${arrow.y1} at ${middle(other)}`);
			assert(Math.abs(arrow.y0 - middle(read)) < 2, `${arrow.y0} at ${middle(read)}`);
			assert.deepEqual((await view.rows("Outgoing flows")).map(row => row.slice(0, 2)), [["send", "server / back"]]);
			await view.page.locator("#scroller").focus();
			await view.press("]");
			await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 300_000);
			await view.press("[");
			await view.page.waitForFunction(() => window.trackway.chosen()?.begin === 20_000);
			await view.press("Escape", "Escape", "Escape");
			await view.page.waitForFunction(() => window.trackway.arrows().length === 0);
			await view.press("e");
			await view.page.waitForFunction(() => window.trackway.arrows().length === 1);
		} finally {
			await view.close();
		}
	},

	async "two fingers zoom, one pans"(browser, folder) {
		const view = await View.open(browser, [join(folder, "calls.json")], { options: { hasTouch: true } });
		try {
			const session = await view.context.newCDPSession(view.page);
			const { x, y, width } = await view.page.locator("#canvas").boundingBox();
			const touch = (type, ...points) => session.send("Input.dispatchTouchEvent",
				{ type, touchPoints: points.map((left, id) => ({ x: x + left, y: y + 60, id })) });
			await touch("touchStart", width / 2 - 50, width / 2 + 50);
			await touch("touchMove", width / 2 - 100, width / 2 + 100);
			await touch("touchEnd");
			const { view: near } = await view.state();
			// What was under the fingers still is: twice as wide around the middle.
			assert(Math.abs(near.to - near.from - 500_000) < 20_000, JSON.stringify(near));
			assert(Math.abs((near.to + near.from) / 2 - 500_000) < 20_000, JSON.stringify(near));
			await touch("touchStart", width / 2);
			await touch("touchMove", width / 2 - 100);
			await touch("touchMove", width / 2 - 200);
			await touch("touchEnd");
			assert((await view.state()).view.from > near.from + 50_000);
			assert.equal((await view.state()).selection, null);
		} finally {
			await view.close();
		}
	},

	async "a server that has ended is told, and what was seen stays"(browser, folder) {
		const view = await View.open(browser, [join(folder, "calls.json")]);
		try {
			const ended = new Promise(resolve => view.server.once("exit", resolve));
			view.server.kill("SIGINT");
			await ended;
			await view.page.keyboard.press("w");
			await view.page.keyboard.press("w");
			await view.page.keyboard.press("w");
			await view.page.locator("#alert").waitFor();
			assert.match(await view.page.locator("#alert").innerText(), /has ended/);
			assert((await view.boxes()).some(box => box.name === "main"));
		} finally {
			await view.context.close();
		}
	},

	async "two traces are compared as trackway diff does"(browser, folder) {
		const before = join(folder, "calls.json");
		const after = join(folder, "after.json");
		writeFileSync(after, traceOf([...CALLS.map(([name, tid, begin, wide]) => [name, tid, begin, name === "worker" ? wide + 150 : wide]), ["new", 3, 0, 5]]));
		const stacks = spawnSync(TOOL, ["diff", "--folded", before, after], { encoding: "utf8" }).stdout.split("\n").filter(Boolean);
		const totals = at => stacks.reduce((sum, line) => sum + Number(line.split(" ").at(at)), 0);
		const wanted = lines("diff", "--json", before, after).map(row => [row.name, time(row.self_ns_a), time(row.self_ns_b),
			...["a", "b"].map(side => (row[`count_${side}`] ? time(row[`p50_ns_${side}`]) : "-")), time(row.total_ns_a), time(row.total_ns_b),
			String(row.count_a), String(row.count_b)]);
		const compared = async page => {
			const rows = await View.prototype.rows.call({ page }, "Differences");
			assert.deepEqual(rows.map(row => [0, 1, 2, 5, 6, 7, 8, 9, 10].map(at => row[at])), wanted);
			assert.deepEqual(rows.find(([name]) => name === "new").slice(5, 7), ["-", time(5000)]);
			assert.deepEqual(rows[0].slice(0, 5), ["worker", time(160_000), time(310_000), "+150.000 us", "+93.8 %"]);
			assert(rows.slice(1).every(row => row[0] === "new" || row[3] === "0 ns" && row[4] === "0.0 %"));
			await page.getByRole("button", { name: "Flame graph of the difference" }).click();
			await page.waitForFunction(() => window.trackway.difference().length > 0);
			const [all, ...frames] = await page.evaluate(() => window.trackway.difference());
			assert.deepEqual([all.before, all.total], [totals(-2), totals(-1)]);
			const worker = frames.find(({ name }) => name === "worker");
			assert.deepEqual([worker.before, worker.total], [640_000, 790_000]);
			assert(Math.abs(worker.width / all.width - worker.total / all.total) < 0.01);
		};
		const view = await View.open(browser, [before, after], { words: ["--diff"] });
		try {
			await compared(view.page);
			const written = join(folder, "difference.html");
			spawnSync(TOOL, ["view", "--export", written, before, after]);
			const other = await view.context.newPage();
			await other.goto(`${pathToFileURL(written).href}#tab=compare`);
			await compared(other);
		} finally {
			await view.close();
		}
	},

	async "where the trace tells no time of day that is said"(browser, folder) {
		const view = await View.open(browser, [join(folder, "calls.json")]);
		try {
			await view.press("c");
			assert.match(await view.page.locator(".said").innerText(), /does not tell/);
			assert.equal((await view.state()).clock, false);
		} finally {
			await view.close();
		}
	},
};

await run(SHARED, ALONE);
