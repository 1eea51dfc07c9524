// view.mjs - opens traces by the tool's own server in a browser, for the tests that ask the page what it has drawn.
// SPDX-License-Identifier: Apache-2.0
//
// usage of each program that imports this: PROGRAM --tool TRACKWAY [--page FOLDER]
//
// With --page the page comes from that folder (web/view/dist) instead of the tool: to try it without building that again.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

export const option = name => (process.argv.includes(name) ? resolve(process.argv[process.argv.indexOf(name) + 1]) : null);
export const TOOL = option("--tool");
export const PAGE = option("--page");
const CHROMIUM = "/usr/bin/chromium";
const SHELL = "/usr/bin/chromium-headless-shell"; // the same without what windows need, for half the processor time
const PATIENCE = 60_000; // ms: machines may be busy
const SIZE = { width: 1280, height: 800 };
export const MARKUP = "<img src=x onerror=\"window.hacked=1\"></script><b>&amp;";
export const LONG = "std::vector<std::pair<int, std::string>>::emplace_back(int&&, std::string const&)";

// Microseconds: name, thread, begin, duration.
export const CALLS = [
	["main", 1, 0, 1000], ["parse", 1, 10, 200], ["read", 1, 20, 100], ["parse", 1, 300, 150], [LONG, 1, 500, 300],
	[MARKUP, 1, 820, 100], ["worker", 2, 100, 640], ["read", 2, 150, 70], ["warte \u00e4\u4e00", 2, 300, 410],
];
export const NAMES = { 1: "front", 2: "back" };

export function traceOf(calls) {
	const events = calls.map(([name, tid, ts, dur]) => ({ ph: "X", name, pid: 7, tid, ts, dur, args: { number: ts } }));
	const names = Object.entries(NAMES).map(([tid, name]) => ({ ph: "M", name: "thread_name", pid: 7, tid: Number(tid), args: { name } }));
	return JSON.stringify({ traceEvents: [...names, { ph: "M", name: "process_name", pid: 7, args: { name: "server" } }, ...events,
		...[0, 500].map(ts => ({ ph: "C", name: "memory", pid: 7, ts, args: { used: 10 + ts } }))] });
}

/** Objects of the lines that a command prints. */
export function lines(...command) {
	const { stdout } = spawnSync(TOOL, command, { encoding: "utf8" });
	return stdout.split("\n").filter(Boolean).map(line => JSON.parse(line));
}

/** A page of its own, and what goes wrong in it. */
export async function newPage(browser, options = {}) {
	const context = await browser.newContext({ viewport: SIZE, ...options });
	context.setDefaultTimeout(PATIENCE);
	const page = await context.newPage();
	const wrong = [];
	page.on("pageerror", error => wrong.push(error.message));
	page.on("console", message => message.type() === "error" && wrong.push(message.text()));
	return { context, page, wrong };
}

/** Pages in which many views are opened, one after the other: half as dear as a page for each. One has a network, one has none. */
export async function inPages(browser, act) {
	const pages = [await newPage(browser), await newPage(browser, { offline: true })];
	try {
		return await act(...pages);
	} finally {
		for (const { context } of pages)
			await context.close();
	}
}

export class View {
	/** Starts the server of some files, and opens its address: in `place`, which newPage() has made, or in a page of its own. */
	static async open(browser, files, how = {}) {
		const view = new View();
		view.file = files[0];
		try {
			return await view.begin(browser, files, how);
		} catch (error) {
			view.server?.kill("SIGINT");
			throw error;
		}
	}

	async begin(browser, files, { words = [], options = {}, rest = true, change = null, place = null }) {
		const view = this;
		view.server = spawn(TOOL, ["view", "--no-open", ...words, ...files], { stdio: ["ignore", "pipe", "pipe"] });
		const out = createInterface(view.server.stdout);
		view.address = (await out[Symbol.asyncIterator]().next()).value;
		if (!view.address)
			throw new Error("trackway view printed no address");
		Object.assign(view, { place }, place ?? await newPage(browser, options));
		view.look = request => {
			if (new URL(request.url()).origin !== new URL(view.address).origin && !/^(data:|about:)/.test(request.url()))
				view.wrong.push(`asks ${request.url()}`);
		};
		view.page.on("request", view.look);
		if (PAGE)
			for (const [address, file] of [["/", "index.html"], ["/app.js", "app.js"], ["/app.css", "app.css"]])
				await view.context.route(url => url.pathname === address && !url.search, route => route.fulfill({ path: join(PAGE, file) }));
		if (change) // what the server says of the trace, made into what it says of another
			await view.context.route(url => url.pathname === "/api/trace", async route => {
				const response = await route.fetch();
				await route.fulfill({ response, json: await change(await response.json(), new URL(route.request().url()).searchParams) });
			});
		await view.page.goto(PAGE ? await view.entered() : view.address);
		if (rest)
			await view.rest();
		return view;
	}

	/** Takes the cookie without the page: what an answer leads to cannot be replaced by that of a folder. */
	async entered() {
		const { hash, origin } = new URL(this.address);
		await this.context.request.get(this.address);
		return `${origin}/${hash}`;
	}

	/** Waits until what is drawn is what was asked for. */
	async rest() {
		await this.page.waitForFunction(() => window.trackway?.rested());
	}

	/** Ends the page, or leaves it to the next view. */
	async leave() {
		if (this.look)
			this.page.off("request", this.look);
		await (this.place ? this.page.goto("about:blank") : this.context.close());
	}

	async close() {
		await this.leave();
		const ended = new Promise(resolve => this.server.once("exit", resolve));
		this.server.kill("SIGINT");
		assert.equal(await ended, 0, "the server ends well");
	}

	boxes() {
		return this.page.evaluate(() => window.trackway.boxes());
	}

	state() {
		return this.page.evaluate(() => window.trackway.state());
	}

	async box(name, nth = 0) {
		const found = (await this.boxes()).filter(box => box.name === name)[nth];
		assert(found, `${name} is drawn`);
		return found;
	}

	/** A point of the window in a box. */
	async point(box, part = 0.5) {
		const canvas = await this.page.locator("#canvas").boundingBox();
		const left = Math.max(0, box.x);
		return [canvas.x + left + (Math.min(canvas.width, box.x + box.width) - left) * part, canvas.y + box.y + box.height / 2];
	}

	async click(box) {
		await this.page.mouse.click(...await this.point(box));
		await this.rest();
	}

	async press(...keys) {
		for (const key of keys) {
			await this.page.keyboard.press(key);
			await this.rest();
		}
	}

	panel() {
		return this.page.locator("#panel").innerText();
	}

	/** Waits for a text in the panel. */
	async says(text) {
		await this.page.locator("#panel", { hasText: text }).waitFor();
		return this.panel();
	}

	/** The rows of the panel's table of that name: a list of texts each. */
	async rows(name) {
		const handle = await this.page.waitForFunction(title => {
			const rows = [...document.querySelectorAll(`table[aria-label="${title}"] > tbody > tr`)];
			return rows.length > 0 && rows.map(row => [...row.children].map(cell => cell.textContent));
		}, name);
		return handle.jsonValue();
	}
}

export function time(ns) {
	const [each, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]].find(([each]) => ns >= each) ?? [1, "ns"];
	return each === 1 ? `${ns} ns` : `${(ns / each).toFixed(3)} ${unit}`;
}

function say(number, name, error) {
	console.log(`${error ? "not " : ""}ok ${number} - ${name}`);
	if (error)
		console.log(String(error.stack ?? error).split("\n").map(line => `# ${line}`).join("\n"));
}

async function each(launch, shared, alone) {
	const folder = mkdtempSync(join(tmpdir(), "view-"));
	const file = join(folder, "calls.json");
	writeFileSync(file, traceOf(CALLS));
	const browser = await launch();
	let number = 0;
	let failed = 0;
	const one = async (name, act) => {
		const error = await act().then(() => null, problem => problem);
		failed += error ? 1 : 0;
		say(++number, name, error);
	};
	try {
		const view = Object.keys(shared).length ? await View.open(browser, [file]) : null;
		for (const [name, test] of Object.entries(shared))
			await one(name, () => test(view, folder));
		await view?.close();
		for (const [name, test] of Object.entries(alone))
			await one(name, () => test(browser, folder));
	} finally {
		await browser.close();
		rmSync(folder, { recursive: true, force: true });
	}
	return failed;
}

// Its own sandbox wants rights that a container has not; nothing but our page is opened.
function launch(playwright, executablePath, more = {}) {
	return playwright.chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"], ...more });
}

/** The browser of the tests. */
export const chromium = { name: "chromium", there: () => existsSync(SHELL) || existsSync(CHROMIUM), needed: true,
	start: playwright => launch(playwright, existsSync(SHELL) ? SHELL : CHROMIUM) };

/** The browser alone, as people have it; `more`: how it is launched besides. */
export async function start(more = {}) {
	return launch(await import("playwright-core"), CHROMIUM, more);
}

/** Ends that the browser keeps the last 200 MB of answers for who drives it: in the page's process, where memory is measured.
 * playwright-core has no word for it; its version is fixed. */
export function forgetAnswers(page) {
	return page._connection.toImpl(page).delegate._mainFrameSession._client.send("Network.disable");
}

/** Runs tests: `shared` get one view of the calls, one after the other; `alone` open what they need themselves. */
export async function run(shared, alone = {}, browser = chromium) {
	console.log("TAP version 13");
	const playwright = await import("playwright-core").catch(() => null);
	if (!playwright || !browser.there()) {
		if (!process.env.CI || !browser.needed) {
			console.log(`1..0 # SKIP there is no ${playwright ? browser.name : "playwright-core"}`);
			return;
		}
	}
	console.log(`1..${Object.keys(shared).length + Object.keys(alone).length}`);
	process.exitCode = await each(() => browser.start(playwright), shared, alone) ? 1 : 0;
}
