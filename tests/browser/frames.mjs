#!/usr/bin/env node
// frames.mjs - script time of the frames of `trackway view` while a trace is panned and zoomed; no test.
// SPDX-License-Identifier: Apache-2.0
//
// usage: frames.mjs --tool TRACKWAY [--page FOLDER] --trace FILE
//
// Prints milliseconds to the first picture and to the whole one, the script time of half, of 95 of 100 and of all frames, and
// frames a second.
import { option, start, View } from "./view.mjs";

const STEPS = 40;
const HELD = 500; // ms that a key is held

const begun = performance.now();
const browser = await start();
const view = await View.open(browser, [option("--trace")], { rest: false });
await view.page.waitForFunction(() => window.trackway?.boxes().length > 0);
console.log(`first picture ${Math.round(performance.now() - begun)} ms (with the browser's start)`);
await view.rest();
console.log(`whole picture ${Math.round(performance.now() - begun)} ms`);
const before = await view.page.evaluate(() => window.trackway.frames().length);
const moving = performance.now();
for (let i = 0; i < STEPS; i++) {
	const key = "wdswaasd"[i % 8];
	await view.page.keyboard.down(key);
	await view.page.waitForTimeout(HELD);
	await view.page.keyboard.up(key);
}
const seconds = (performance.now() - moving) / 1000;
const frames = (await view.page.evaluate(() => window.trackway.frames())).slice(before).sort((a, b) => a - b);
const at = part => frames[Math.min(frames.length - 1, Math.floor(frames.length * part))]?.toFixed(1);
console.log(`script of a frame: ${at(0.5)} ms half, ${at(0.95)} ms 95 of 100, ${at(1)} ms most; ${frames.length} kept, ${Math.round(frames.length / seconds)} a second`);
await view.close();
await browser.close();
