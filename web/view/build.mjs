// build.mjs - makes the page: node build.mjs FOLDER writes index.html, app.css and app.js there.
// SPDX-License-Identifier: Apache-2.0
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
// The oldest browsers that the page is for: Chromium and Firefox ESR of Debian 12.
const target = ["chrome115", "firefox115"];

await mkdir(out, { recursive: true });
await build({
	absWorkingDir: here,
	entryPoints: ["src/main.ts"],
	bundle: true,
	minify: true,
	format: "iife",
	charset: "ascii",
	legalComments: "none",
	target,
	outfile: join(out, "app.js"),
});
await build({
	absWorkingDir: here,
	entryPoints: ["src/app.css"],
	minify: true,
	charset: "ascii",
	target,
	outfile: join(out, "app.css"),
});
await copyFile(join(here, "src/index.html"), join(out, "index.html"));
