// command.ts - the `trackway` command that shows what the page shows.
// SPDX-License-Identifier: Apache-2.0
import type { Stretch, Trace, TraceFile, Track } from "./api";
import { shell } from "./format";
import { areApart } from "./starts";
import { write, type State } from "./state";

function filesOf(trace: Trace): string[] {
	return trace.files.map(file => file.path);
}

/** A time as the options take it: exact. */
function exact(time: number): string {
	return `${Math.round(time)}ns`;
}

function threadsOf(trace: Trace, tracks: number[]): string[] {
	const chosen = tracks.map(id => trace.list[id]).filter((track): track is Track => track?.kind === "thread");
	const all = trace.list.filter(track => track.kind === "thread");
	const ids = chosen.map(track => track.tid).filter((id): id is string => id !== null);
	return chosen.length && chosen.length < all.length ? ["--thread", [...new Set(ids)].join(",")] : [];
}

/** --offset, of files that begin later than others. */
function offsetsOf(files: TraceFile[], start: (file: TraceFile) => number): string[] {
	return files.filter(file => start(file) !== 0).flatMap(file => ["--offset", `${file.path}=${exact(start(file))}`]);
}

const line = (words: string[]) => words.map(shell).join(" ");

/** Commands that take several files, each from its own start. */
const OF_MANY = ["stat", "flame", "counters"];

/** `trackway NAME` of a stretch of the trace, and of some tracks. Of files that do not begin together a command has the whole. */
export function commandOf(name: string, trace: Trace, stretch: Stretch, tracks: number[], more: string[] = []): string {
	const whole = stretch.from <= 0 && stretch.to >= trace.end;
	const times = whole ? [] : ["--from-time", exact(stretch.from), "--to-time", exact(stretch.to)];
	const words = ["trackway", name, ...times, ...threadsOf(trace, tracks), ...more];
	const offsets = offsetsOf(trace.files, file => file.start);
	if (name === "view")
		return line([...words, ...offsets, ...filesOf(trace)]);
	if (trace.files.length === 1 || OF_MANY.includes(name) && (whole || !areApart(trace)))
		return line([...words, ...filesOf(trace)]);
	return `${line(["trackway", "merge", "--to", "fxt", ...offsets, ...filesOf(trace)])} | ${line([...words, "-"])}`;
}

/** `trackway dump` of a stretch of one of the files, on its own clock. */
export function dumpCommand(trace: Trace, file: number, stretch: Stretch, tracks: number[]): string {
	const { path, start } = trace.files[file]!;
	const times = ["--from-time", exact(Math.max(0, stretch.from - start)), "--to-time", exact(stretch.to - start)];
	return line(["trackway", "dump", ...times, ...threadsOf(trace, tracks), path]);
}

/** `trackway sql` with a query. */
export function sqlCommand(trace: Trace, query: string): string {
	return ["trackway", "sql", ...filesOf(trace), query].map(shell).join(" ");
}

/** `trackway diff` of two files. */
export function diffCommand(trace: Trace, before: number, after: number, picture = false): string {
	return ["trackway", "diff", ...(picture ? ["--flame", "-o", "diff.svg"] : []), trace.files[before]?.path ?? "", trace.files[after]?.path ?? ""].map(shell).join(" ");
}

/** `trackway view` of the same window: tracks have their numbers with the files where they were opened. */
export function viewCommand(trace: Trace, state: State): string {
	return line(["trackway", "view", "--state", write(state), ...offsetsOf(trace.files, file => file.begin), ...filesOf(trace)]);
}
