// command.ts - the `trackway` command that shows what the page shows.
// SPDX-License-Identifier: Apache-2.0
import type { Stretch, Trace, Track } from "./api";
import { shell } from "./format";
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

/** `trackway NAME` of a stretch of the trace, and of some tracks. */
export function commandOf(name: string, trace: Trace, stretch: Stretch, tracks: number[], more: string[] = []): string {
	const whole = stretch.from <= 0 && stretch.to >= trace.end;
	const times = whole ? [] : ["--from-time", exact(stretch.from), "--to-time", exact(stretch.to)];
	return ["trackway", name, ...times, ...threadsOf(trace, tracks), ...more, ...filesOf(trace)].map(shell).join(" ");
}

/** `trackway sql` with a query. */
export function sqlCommand(trace: Trace, query: string): string {
	return ["trackway", "sql", ...filesOf(trace), query].map(shell).join(" ");
}

/** `trackway diff` of two files. */
export function diffCommand(trace: Trace, before: number, after: number, picture = false): string {
	return ["trackway", "diff", ...(picture ? ["--flame", "-o", "diff.svg"] : []), trace.files[before]?.path ?? "", trace.files[after]?.path ?? ""].map(shell).join(" ");
}

/** `trackway view` of the same window. */
export function viewCommand(trace: Trace, state: State): string {
	const offsets = trace.files.filter(file => file.start !== 0).flatMap(file => ["--offset", `${file.path}=${exact(file.start)}`]);
	return ["trackway", "view", "--state", write(state), ...offsets, ...filesOf(trace)].map(shell).join(" ");
}
