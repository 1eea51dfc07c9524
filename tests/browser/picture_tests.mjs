#!/usr/bin/env node
// picture_tests.mjs - pictures that stay: flame graphs and charts, in a browser.
// SPDX-License-Identifier: Apache-2.0
//
// usage: picture_tests.mjs --tool TRACKWAY
//
// Prints TAP; skips all where the browser or playwright-core is not installed, unless CI is set. The calls are written down
// by hand here: what a frame is wide, what a search finds and where a zoom leads follow from them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "./view.mjs";

const TOOL = resolve(process.argv[process.argv.indexOf("--tool") + 1]);
const DATA = join(dirname(fileURLToPath(import.meta.url)), "../data");
const AXE = "axe-core/axe.min.js";
const PATIENCE = 60_000; // ms: machines may be busy

// Microseconds: name, begin, duration. "leaf" is 1 of 1000 in main, and inside of the narrow one.
const CALLS = [["main", 0, 1000], ["wide", 0, 600], ["inner", 100, 300], ["narrow", 700, 2], ["leaf", 700, 1], ["inner", 800, 100]];
const LATER = [["main", 0, 2000], ["wide", 0, 600], ["inner", 100, 300], ["added", 1000, 500]];

function traceOf(calls) {
	return JSON.stringify(calls.map(([name, ts, dur]) => ({ ph: "X", name, pid: 1, tid: 1, ts, dur })));
}

// In 58, 117 and 234 pixels.
const NAMED = [["main", 0, 1000], ["ns::pool<int>::noise(double, double) const", 0, 50],
	["ns::pool<int>::noise(double, double)", 100, 100], ["ns::pool<int>::noise(float, double)", 300, 200]];

const COUNTERS = JSON.stringify([
	...[0, 10, 25].map(ts => ({ ph: "C", name: "queue", pid: 1, ts, args: { length: ts } })),
	{ ph: "X", name: "work", pid: 1, tid: 1, ts: 0, dur: 40 },
]);

/** Pictures, each of a command: its words and what they are about. */
const PICTURES = {
	flame: ["flame", "--min-width", "0", "calls.json"],
	named: ["flame", "named.json"],
	"flame-narrow": ["flame", "--min-width", "1", "calls.json"],
	diff: ["diff", "calls.json", "later.json"],
	heap: ["gc", join(DATA, "tracelog/kinds.log")],
	cpu: ["cpu", join(DATA, "tracelog/q5-thrcpu.log")],
	counters: ["counters", "counters.json"],
	sched: ["sched", join(DATA, "fxt/cpu_breakdown.fxt")],
	mem: ["mem", "--interval", "2", join(DATA, "field/xtrace/snapmid2")],
	cache: ["cache", "--interval", "2", join(DATA, "field/xtrace/snapmid2")],
	phases: ["phases", "--interval", "2", join(DATA, "field/xtrace/snapmid2")],
	calls: ["calls", join(DATA, "field/xtrace/nest")],
};
const CHARTS = ["heap", "cpu", "counters", "sched", "mem", "cache", "phases"];
const FLAMES = ["flame", "named", "flame-narrow", "diff"];

function draw(folder) {
	writeFileSync(join(folder, "calls.json"), traceOf(CALLS));
	writeFileSync(join(folder, "later.json"), traceOf(LATER));
	writeFileSync(join(folder, "named.json"), traceOf(NAMED));
	writeFileSync(join(folder, "counters.json"), COUNTERS);
	for (const [name, [command, ...words]] of Object.entries(PICTURES)) {
		const form = FLAMES.includes(name) ? "html" : "svg";
		execFileSync(TOOL, [command, "-o", join(folder, `${name}.${form}`), ...words], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
	}
}

class Picture {
	static async open(browser, folder, name, options = {}) {
		const picture = new Picture();
		const form = FLAMES.includes(name) ? "html" : "svg";
		picture.context = await browser.newContext({ viewport: { width: 1200, height: 700 }, bypassCSP: true, ...options });
		picture.context.setDefaultTimeout(PATIENCE);
		picture.page = await picture.context.newPage();
		picture.wrong = [];
		picture.page.on("pageerror", error => picture.wrong.push(error.message));
		picture.address = pathToFileURL(join(folder, `${name}.${form}`)).href;
		if (form === "svg") // a chart is looked at in a page, as a report has it
			await picture.page.setContent(`<!doctype html><html lang="en"><title>Chart</title><main><h1>Chart</h1>${
				readFileSync(join(folder, `${name}.svg`), "utf8").replace(/^<\?xml.*?\?>/, "")}</main></html>`);
		else
			await picture.page.goto(picture.address);
		return picture;
	}

	/** Name and width of each frame that is shown. */
	frames() {
		return this.page.evaluate(() => [...document.querySelectorAll("#frames > g")].filter(g => g.style.display !== "none")
			.map(g => ({ name: g.querySelector("text")?.textContent ?? "", width: g.querySelector("path").getBBox().width })));
	}

	frame(text) {
		return this.page.locator("#frames > g", { has: this.page.locator(`text="${text}"`) });
	}

	/** Where a frame is: pictures are drawn anew when they are zoomed. */
	async middle(text, nth = 0) {
		const box = await this.frame(text).nth(nth).locator("path").boundingBox();
		return [box.x + box.width / 2, box.y + box.height / 2];
	}

	place() {
		return this.page.evaluate(() => location.hash);
	}
}

async function withPicture(browser, folder, name, act, options) {
	const picture = await Picture.open(browser, folder, name, options);
	try {
		await act(picture);
		assert.deepEqual(picture.wrong, []);
	} finally {
		await picture.context.close();
	}
}

async function serious(page) {
	if (!await page.evaluate(() => window.axe !== undefined))
		await page.evaluate(readFileSync(createRequire(import.meta.url).resolve(AXE), "utf8"));
	const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
	return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id} ${nodes[0].html}`);
}

const TESTS = {
	async "axe-core finds nothing serious, light or dark"(browser, folder) {
		for (const name of Object.keys(PICTURES))
			await withPicture(browser, folder, name, async ({ page }) => {
				for (const colorScheme of ["light", "dark"]) {
					await page.emulateMedia({ colorScheme });
					assert.deepEqual(await serious(page), [], name);
				}
			});
	},

	async "a chart is an image with a title and a description"(browser, folder) {
		for (const name of CHARTS)
			await withPicture(browser, folder, name, async ({ page }) => {
				const svg = page.locator("svg").first();
				assert.equal(await svg.getAttribute("role"), "img", name);
				assert(await svg.locator("> title").first().textContent(), name);
				assert(await svg.locator("> desc").first().textContent(), name);
			});
	},

	async "frames are as wide as their calls took"(browser, folder) {
		await withPicture(browser, folder, "flame", async picture => {
			const [main, wide] = await Promise.all(["main", "wide"].map(async name => (await picture.frame(name).locator("path").boundingBox()).width));
			assert(Math.abs(wide / main - 0.6) < 0.005, `${wide} of ${main}`);
		});
	},

	async "a function's own name stays whole, with and without the script"(browser, folder) {
		const wanted = ["ns:\u2026>::noise(\u2026)", "ns::pool<int>::noise(floa\u2026uble)", "noise"];
		for (const javaScriptEnabled of [true, false])
			await withPicture(browser, folder, "named", async ({ page }) => {
				const texts = await page.locator("#frames text").allTextContents();
				assert.deepEqual(texts.filter(text => text.includes("noise")).sort(), wanted.sort());
			}, { javaScriptEnabled });
	},

	async "a search fades what it does not find"(browser, folder) {
		await withPicture(browser, folder, "flame", async picture => {
			const opacity = name => picture.frame(name).first().locator("path").evaluate(path => getComputedStyle(path).opacity);
			await picture.page.keyboard.press("/");
			await picture.page.keyboard.type("inner");
			assert.deepEqual([await opacity("inner"), await opacity("wide"), await opacity("all")], ["1", "0.4", "1"]);
			await picture.page.keyboard.press("Control+A");
			await picture.page.keyboard.press("Delete");
			assert.equal(await opacity("wide"), "1");
		});
	},

	async "a click zooms, the address has it, a reload and the way back show it"(browser, folder) {
		await withPicture(browser, folder, "flame", async picture => {
			assert.equal(await picture.place(), "");
			await picture.page.mouse.click(...await picture.middle("wide"));
			const place = await picture.place(), zoomed = await picture.frames();
			assert.match(place, /^#\d+(\.\d+)*$/);
			await picture.page.reload();
			assert.deepEqual(await picture.frames(), zoomed);
			await picture.page.goBack();
			assert.notDeepEqual(await picture.frames(), zoomed);
		});
	},

	async "a wheel zooms in and out"(browser, folder) {
		await withPicture(browser, folder, "flame", async picture => {
			const whole = await picture.frames();
			await picture.page.mouse.move(...await picture.middle("wide"));
			await picture.page.mouse.wheel(0, -200);
			await picture.page.waitForFunction(() => location.hash.length > 1);
			for (let depth = (await picture.place()).split(".").length; depth > 0; depth--)
				await picture.page.mouse.wheel(0, 200);
			await picture.page.waitForFunction(() => location.hash.length <= 1);
			assert.deepEqual(await picture.frames(), whole);
		});
	},

	async "what is too narrow to be seen is there when it is zoomed to"(browser, folder) {
		await withPicture(browser, folder, "flame", async picture => {
			await picture.page.keyboard.press("/");
			await picture.page.keyboard.type("leaf");
			await picture.page.keyboard.press("Enter");
			assert.match(await picture.page.locator("output").first().textContent(), /^1 frame, 0\.10 % of all \(1\.000 us\)/);
		});
	},

	async "a search tells how much of the time it found"(browser, folder) {
		await withPicture(browser, folder, "flame", async picture => {
			await picture.page.keyboard.press("/");
			await picture.page.keyboard.type("inner");
			assert.match(await picture.page.locator("output").first().textContent(), /^2 frames, 40\.00 % of all \(400\.000 us\)/);
		});
	},

	async "frames below --min-width are left out, which is told"(browser, folder) {
		await withPicture(browser, folder, "flame-narrow", async picture => {
			assert.equal(await picture.page.locator("#frames > g").count(), 5);
			assert.match(await picture.page.locator("body").textContent(), /left out: 2 frames narrower than 1 %/);
		});
	},

	async "a comparison says which is before, and what its colours mean"(browser, folder) {
		await withPicture(browser, folder, "diff", async picture => {
			const text = await picture.page.locator("body").textContent();
			assert.match(text, /calls\.json/);
			assert.match(text, /later\.json/);
			assert.match(await picture.page.locator("#legend, .legend").first().textContent(), /slower|more/);
		});
	},
};

async function run(playwright) {
	const folder = mkdtempSync(join(tmpdir(), "pictures-"));
	const browser = await chromium.start(playwright);
	let number = 0, failed = 0;
	try {
		draw(folder);
		for (const [name, test] of Object.entries(TESTS)) {
			const error = await test(browser, folder).then(() => null, problem => problem);
			failed += error ? 1 : 0;
			console.log(`${error ? "not " : ""}ok ${++number} - ${name}`);
			if (error)
				console.log(String(error.stack ?? error).split("\n").map(line => `# ${line}`).join("\n"));
		}
	} finally {
		await browser.close();
		rmSync(folder, { recursive: true, force: true });
	}
	return failed;
}

console.log("TAP version 13");
const playwright = await import("playwright-core").catch(() => null);
if ((!playwright || !chromium.there()) && !process.env.CI) {
	console.log(`1..0 # SKIP there is no ${playwright ? "chromium" : "playwright-core"}`);
} else {
	console.log(`1..${Object.keys(TESTS).length}`);
	process.exitCode = await run(playwright) ? 1 : 0;
}
