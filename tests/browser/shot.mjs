#!/usr/bin/env node
// shot.mjs - a picture of the page of `trackway view`, as doc/images/view.png is; no test.
// SPDX-License-Identifier: Apache-2.0
//
// usage: shot.mjs --tool TRACKWAY [--page FOLDER] --trace FILE [--state FRAGMENT] [--dark] --out PNG
//
// doc/images/view.png is of what `make demo` records, tracer.xray, with a stretch of one of its threads selected.
import { option, start, View } from "./view.mjs";

const word = name => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : null);
const state = word("--state");
const browser = await start();
const view = await View.open(browser, [option("--trace")], { words: state ? ["--state", state] : [],
	options: { viewport: { width: 1200, height: 700 }, colorScheme: process.argv.includes("--dark") ? "dark" : "light" } });
await view.page.waitForTimeout(1000); // until the panel has its answer
await view.page.screenshot({ path: option("--out") });
await view.close();
await browser.close();
