#!/usr/bin/env node
// growth_tests.mjs - what the page of `trackway view` does when its files change: it shows what they have more, and tells the rest.
// SPDX-License-Identifier: Apache-2.0
//
// usage: growth_tests.mjs --tool TRACKWAY [--page FOLDER]
//
// Prints TAP, as view_tests.mjs. What is shown of a file that has grown must be what `trackway stat` prints of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lines, run, time, TOOL, View } from "./view.mjs";

const event = (name, ts, dur) => JSON.stringify({ ph: "X", name, pid: 7, tid: 1, ts, dur });

/** What the page says of functions must be what stat does. */
async function isAsStat(view, file) {
	const wanted = lines("stat", "--json", file).map(row => [row.name, String(row.count), time(row.total_ns), time(row.self_ns)]).sort();
	await view.page.waitForFunction(rows => {
		const shown = [...document.querySelectorAll('table[aria-label="Functions"] > tbody > tr')]
			.map(row => [...row.children].slice(0, 4).map(cell => cell.textContent)).sort();
		return JSON.stringify(shown) === rows;
	}, JSON.stringify(wanted));
}

const drawn = (view, name) => view.page.waitForFunction(wanted => window.trackway.rested() &&
	window.trackway.boxes().some(box => box.name === wanted), name);

const ALONE = {
	async "a file that grows extends the picture, and what a page has stays"(browser, folder) {
		const file = join(folder, "growing.json");
		writeFileSync(file, `[${event("first", 0, 100)},${event("inner", 10, 20)}`);
		const view = await View.open(browser, [file]);
		try {
			await view.page.locator("#tab-functions").click();
			await isAsStat(view, file);
			await view.click(await view.box("inner"));
			await view.page.locator("#tab-functions").click();
			for (const round of [1, 2, 3]) {
				appendFileSync(file, `,${event(`later ${round}`, 100 * round, 50)},${event("inner", 100 * round + 10, 5)}`);
				await drawn(view, `later ${round}`);
				await isAsStat(view, file);
			}
			const boxes = await view.boxes();
			assert.deepEqual(boxes.map(({ name, begin, end }) => [name, begin, end]).sort(), [
				["first", 0, 100_000], ["inner", 10_000, 30_000], ["inner", 110_000, 115_000], ["inner", 210_000, 215_000],
				["inner", 310_000, 315_000], ["later 1", 100_000, 150_000], ["later 2", 200_000, 250_000], ["later 3", 300_000, 350_000]].sort());
			// Who looks at all of it goes on to do so, and what was chosen still is.
			assert.deepEqual((await view.state()).view, { from: 0, to: 350_000 });
			assert.equal(await view.page.evaluate(() => window.trackway.chosen()?.begin), 10_000);
			assert(!await view.page.locator("#alert").isVisible());
			assert.deepEqual(view.wrong, []);
		} finally {
			await view.close();
		}
	},

	async "of two that grow each keeps its own tracks"(browser, folder) {
		const files = [join(folder, "one.json"), join(folder, "two.json")];
		files.forEach((file, i) => writeFileSync(file, `[${event(`first ${i}`, 0, 100)}`));
		const view = await View.open(browser, files);
		try {
			const titles = () => view.page.evaluate(() => window.trackway.lines().map(line => line.title));
			const before = await titles();
			// Both are of process 7, whatever the second is in the view.
			assert.deepEqual(before.filter(title => title.includes(": ")), ["one.json: process 7", "two.json: process 7"]);
			appendFileSync(files[1], `,${event("later", 100, 50)}`);
			await drawn(view, "later");
			assert.deepEqual(await titles(), before);
		} finally {
			await view.close();
		}
	},

	async "so does one that ends inside of a record, once there is the rest of that"(browser, folder) {
		const whole = join(folder, "whole.fxt");
		const file = join(folder, "growing.fxt");
		execFileSync(TOOL, ["convert", join(folder, "calls.json"), "-o", whole], { stdio: "ignore" });
		const bytes = readFileSync(whole);
		const part = Math.floor(bytes.length / 2) - 3;
		writeFileSync(file, bytes.subarray(0, part));
		const view = await View.open(browser, [file]);
		try {
			await view.page.locator("#tab-trace").click();
			assert((await view.rows("Findings")).length > 0);
			appendFileSync(file, bytes.subarray(part));
			await drawn(view, "worker");
			await view.page.locator('table[aria-label="Findings"]').waitFor({ state: "detached" });
			await view.page.locator("#tab-functions").click();
			await isAsStat(view, file);
		} finally {
			await view.close();
		}
	},

	async "one that is cut off, and one that is another now, are told; the picture stays"(browser, folder) {
		const files = [join(folder, "cut.json"), join(folder, "other.json")];
		for (const file of files)
			copyFileSync(join(folder, "calls.json"), file);
		const view = await View.open(browser, files);
		try {
			const before = await view.boxes();
			truncateSync(files[0], 300);
			await view.page.locator("#alert", { hasText: "cut.json was cut off" }).waitFor();
			copyFileSync(join(folder, "calls.json"), join(folder, "new.json"));
			renameSync(join(folder, "new.json"), files[1]);
			await view.page.locator("#alert", { hasText: "other.json is another file now" }).waitFor();
			assert.deepEqual(await view.boxes(), before);
			await view.page.locator("#tab-trace").click();
			await view.page.locator(".changed", { hasText: "cut.json was cut off: the picture is of what it was" }).waitFor();
			await view.page.locator(".changed", { hasText: "other.json is another file now: the picture is of what it was" }).waitFor();
		} finally {
			await view.close();
		}
	},
};

await run({}, ALONE);
