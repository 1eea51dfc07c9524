#!/usr/bin/env node
// frames.mjs - what the page of `trackway view` takes while a trace is panned and zoomed, and while nobody touches it; no test.
// SPDX-License-Identifier: Apache-2.0
//
// usage: frames.mjs --tool TRACKWAY [--page FOLDER] --trace FILE [--json]
//
// Prints milliseconds from the page's address to the first picture and to the whole one, the script time of half, of 95 of 100
// and of all frames once all has been read, frames a second, frames a second and share of a processor of a window that rests,
// and the memory that is theirs (PSS) of the server and of the page's process, in MiB, also without what the browser has not yet
// collected. What the browser would keep of answers for its driver alone is not in it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { forgetAnswers, option, start, View } from "./view.mjs";

const STEPS = 40;
const HELD = 500; // ms that a key is held
const IDLE = 5000; // ms
const TICKS = 100; // of a second: what /proc counts

const stat = pid => readFileSync(`/proc/${pid}/stat`, "latin1").replace(/.*\)/s, "").trim().split(" ");

/** Ours: those that this program has started, and those that these have. */
function children(root) {
	const pids = readdirSync("/proc").filter(name => /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`));
	const parents = new Map();
	for (const pid of pids)
		try {
			parents.set(Number(pid), Number(stat(pid)[1]));
		} catch {
			// it has ended meanwhile
		}
	const isOurs = pid => pid === root || parents.has(pid) && parents.get(pid) > 1 && isOurs(parents.get(pid));
	return [...parents.keys()].filter(isOurs);
}

function pss(pid) {
	const [, kib] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")) ?? [];
	return Number(kib ?? 0) / 1024;
}

const used = pid => (Number(stat(pid)[11]) + Number(stat(pid)[12])) / TICKS;

/** The process of the page: of those that draw pages the largest. */
function renderer() {
	const drawing = children(process.pid).filter(pid => readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--type=renderer"));
	return drawing.sort((a, b) => pss(b) - pss(a))[0];
}

const frames = page => page.evaluate(() => window.trackway.frames());

async function moved(view) {
	const begun = performance.now();
	let count = 0;
	const kept = [];
	for (let i = 0; i < STEPS; i++) {
		const key = "wdswaasd"[i % 8];
		await view.page.evaluate(() => { window.trackway.frames().length = 0; });
		await view.page.keyboard.down(key);
		await view.page.waitForTimeout(HELD);
		await view.page.keyboard.up(key);
		const now = await frames(view.page);
		count += now.length;
		kept.push(...now);
	}
	const seconds = (performance.now() - begun) / 1000;
	kept.sort((a, b) => a - b);
	const at = part => kept[Math.min(kept.length - 1, Math.floor(kept.length * part))] ?? 0;
	return { half: at(0.5), most_of: at(0.95), all: at(1), frames: count / seconds };
}

async function idle(view, pid) {
	await view.rest();
	await view.page.waitForTimeout(1000); // until what moves has come to rest
	await view.page.evaluate(() => { window.trackway.frames().length = 0; });
	const before = used(pid);
	await view.page.waitForTimeout(IDLE);
	return { frames: (await frames(view.page)).length / IDLE * 1000, processor: (used(pid) - before) / IDLE * 1000 };
}

const browser = await start();
const begun = performance.now();
const view = await View.open(browser, [option("--trace")], { rest: false });
await forgetAnswers(view.page);
await view.page.waitForFunction(() => window.trackway?.boxes().length > 0);
const first = performance.now() - begun;
await view.page.waitForFunction(() => window.trackway.rested(), null, { timeout: 0 });
const whole = performance.now() - begun;
const moving = await moved(view);
const page = renderer();
const resting = await idle(view, page);
const grown = pss(page);
const inspected = await view.context.newCDPSession(view.page);
await inspected.send("HeapProfiler.collectGarbage");
await view.page.waitForTimeout(1000);
const found = { first, whole, half: moving.half, most_of: moving.most_of, all: moving.all, frames: moving.frames, idle_frames: resting.frames,
	idle_processor: resting.processor, server: pss(view.server.pid), page: grown, page_live: pss(page) };
await view.close();
await browser.close();
if (process.argv.includes("--json")) {
	console.log(JSON.stringify(found));
} else {
	console.log(`first picture ${Math.round(first)} ms, whole picture ${Math.round(whole)} ms, of the server's start`);
	console.log(`script of a frame: ${found.half.toFixed(1)} ms half, ${found.most_of.toFixed(1)} ms 95 of 100, ${found.all.toFixed(1)} ms most; ${Math.round(found.frames)} frames a second`);
	console.log(`nobody touches it: ${found.idle_frames.toFixed(1)} frames a second, ${(found.idle_processor * 100).toFixed(1)} % of a processor`);
	console.log(`memory (PSS): server ${found.server.toFixed(0)} MiB, page ${found.page.toFixed(0)} MiB, of that in use ${found.page_live.toFixed(0)} MiB`);
}
