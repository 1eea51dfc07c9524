#!/usr/bin/env node
// firefox_tests.mjs - the page of `trackway view` in Firefox ESR.
// SPDX-License-Identifier: Apache-2.0
//
// usage: firefox_tests.mjs --tool TRACKWAY
//
// Prints TAP; skips where firefox-esr or playwright-core is not installed. Debian's Firefox is driven by WebDriver BiDi.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { CALLS, lines, run, time } from "./view.mjs";

const FIREFOX = "/usr/bin/firefox-esr";

const TESTS = {
	async "the picture has each slice, where its times say"(view) {
		const drawn = await view.boxes();
		const main = drawn.find(box => box.name === "main");
		for (const [name, , begin, duration] of CALLS) {
			const found = drawn.find(box => box.name === name && box.begin === begin * 1000);
			assert(found, `${name} at ${begin}`);
			assert.equal(found.end, (begin + duration) * 1000);
			assert(Math.abs(found.x - main.x - begin / 1000 * main.width) < 2, `${name} at ${found.x}`);
		}
	},

	async "keys zoom, a click shows details, and functions are those of stat"(view) {
		const span = ({ view: { from, to } }) => to - from;
		const before = await view.state();
		await view.page.locator("#scroller").focus();
		await view.press("w");
		assert(span(await view.state()) < span(before));
		await view.press("0");
		await view.click(await view.box("parse", 0));
		assert((await view.says("Called by")).includes("200.000 us"));
		await view.page.locator("#tab-functions").click();
		assert.deepEqual((await view.rows("Functions")).map(row => row.slice(0, 4)).sort(),
			lines("stat", "--json", view.file).map(row => [row.name, String(row.count), time(row.total_ns), time(row.self_ns)]).sort());
		await view.page.locator("#tab-flame").click();
		await view.page.waitForFunction(() => window.trackway.flame().length > 0);
		assert.deepEqual(view.wrong, []);
	},
};

// Not documented by playwright-core, whose own Firefox is another.
await run(TESTS, {}, { name: "firefox-esr", there: () => existsSync(FIREFOX), needed: false,
	start: playwright => playwright.default._bidiFirefox.launch({ executablePath: FIREFOX, headless: true }) });
