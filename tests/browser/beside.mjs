#!/usr/bin/env node
// beside.mjs - how long speedscope takes for a trace in the same browser, for bench/view; no test.
// SPDX-License-Identifier: Apache-2.0
//
// usage: beside.mjs --trace FILE.speedscope.json [--json]
//
// Prints milliseconds from the page's address to the first picture, which is the whole one, and the memory (PSS) of the page.
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { forgetAnswers, option, start } from "./view.mjs";

const VIEWER = join(dirname(fileURLToPath(import.meta.url)), "node_modules/speedscope/dist/release");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const PATIENCE = 600_000; // ms

const trace = option("--trace");
const server = createServer((request, response) => {
	const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
	const file = path === "/trace.json" ? trace : join(VIEWER, normalize(path === "/" ? "/index.html" : path));
	if (!existsSync(file)) {
		response.writeHead(404).end();
		return;
	}
	response.writeHead(200, { "Content-Type": TYPES[file.slice(file.lastIndexOf("."))] ?? "application/octet-stream" });
	createReadStream(file).pipe(response);
});
await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}/`;

const browser = await start();
const page = await browser.newPage();
const begun = performance.now();
await page.goto(`${address}#profileURL=${encodeURIComponent(`${address}trace.json`)}`);
await forgetAnswers(page);
const shown = await page.getByText("Sandwich").first().waitFor({ timeout: PATIENCE }).then(() => true, () => false);
const took = performance.now() - begun;
const memory = readdirSync("/proc").filter(name => /^\d+$/.test(name)).map(pid => {
	try {
		const ours = readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--type=renderer");
		return ours ? Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))?.[1] ?? 0) / 1024 : 0;
	} catch {
		return 0;
	}
}).reduce((a, b) => Math.max(a, b), 0);
await browser.close();
server.close();
server.closeAllConnections();
if (process.argv.includes("--json"))
	console.log(JSON.stringify({ shown, first: took, page: memory }));
else
	console.log(shown ? `speedscope: ${Math.round(took)} ms to its picture, page ${memory.toFixed(0)} MiB` : "speedscope: no picture");
