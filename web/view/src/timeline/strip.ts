// strip.ts - the rows of a question in SQL as a track: those with ts and dur as slices, with ts alone as points, with value as a counter.
// SPDX-License-Identifier: Apache-2.0
import { POINTS, type Answer, type Boxes, type Row, type Track, type TraceFile, type Values } from "../api";
import { FIRST } from "./layout";

export interface Strip {
	track: Track;
	rows: Row[];
	/** Names of these rows alone. */
	names: string[];
}

interface Entry {
	begin: number;
	end: number;
	name: number;
	item: number;
}

function column(answer: Answer, ...names: string[]): number {
	return answer.columns.findIndex(({ name }) => names.includes(name.toLowerCase()));
}

/** When the file of a row begins: its times are those of that file. Rows without a column of that name are of the first. */
export function beginOf(answer: Answer, row: unknown[], files: TraceFile[]): number {
	const file = column(answer, "file");
	return files.find(({ path }) => file >= 0 && path === row[file])?.start ?? files[0]?.start ?? 0;
}

/** Whether rows have a place in time. */
export function isTrack(answer: Answer): boolean {
	return column(answer, "ts") >= 0 && answer.rows.length > 0;
}

function boxesOf(track: number, depth: number, entries: Entry[], point: boolean): Boxes {
	const of = (take: (entry: Entry) => number) => Float64Array.from(entries, take);
	return { track, lane: point ? POINTS : 0, depth: point ? 0 : depth, kind: point ? "points" : "slices", begin: of(each => each.begin),
		end: of(each => each.end), busy: of(each => each.end - each.begin), item: of(each => each.item),
		count: new Uint32Array(entries.length).fill(1), name: Uint32Array.from(entries, each => each.name) };
}

/** Rows of slices, each as far up as there is room. */
function piled(entries: Entry[]): Entry[][] {
	const rows: Entry[][] = [];
	for (const entry of entries) {
		let depth = rows.findIndex(row => row[row.length - 1]!.end <= entry.begin);
		if (depth < 0)
			depth = rows.push([]) - 1;
		rows[depth]!.push(entry);
	}
	return rows;
}

/** What has not ended, with -1 as its duration, lasts to the end of the trace. */
export function stripOf(answer: Answer, id: number, files: TraceFile[], last = 0): Strip {
	const [ts, dur, value, name] = [["ts"], ["dur"], ["value"], ["name"]].map(names => column(answer, ...names)) as [number, number, number, number];
	const title = column(answer, "track");
	const called = title < 0 ? "SQL" : String(answer.rows[0]?.[title] ?? "SQL");
	const track: Track = { id, parent: null, kind: "other", name: called, file: 0, pid: null, tid: null, sort: FIRST, lanes: [], points: false, states: false,
		slices: 0, series: [] };
	const numbers = new Map<string, number>();
	const at = (row: unknown[]) => Number(row[ts]) + beginOf(answer, row, files);
	const told = answer.rows.filter(row => row[ts] !== null).sort((a, b) => at(a) - at(b));
	if (value >= 0 && dur < 0) {
		const of = (column: number) => Float64Array.from(told, row => Number(row[column]));
		const values: Values = { track: id, lane: 0, depth: 0, kind: "values", time: Float64Array.from(told, at), least: of(value), most: of(value), last: of(value) };
		return { track: { ...track, kind: "counter", lanes: [1], series: ["value"] }, rows: [values], names: [] };
	}
	const entries = told.map((row, item): Entry => {
		const words = name < 0 ? `row ${item + 1}` : String(row[name] ?? "");
		if (!numbers.has(words))
			numbers.set(words, numbers.size);
		const begin = at(row);
		const lasts = dur < 0 ? 0 : Number(row[dur]);
		return { begin, end: Math.max(begin, lasts < 0 ? last : begin + lasts), name: numbers.get(words)!, item };
	});
	const names = [...numbers.keys()];
	if (dur < 0)
		return { track: { ...track, points: true }, rows: [boxesOf(id, 0, entries, true)], names };
	const rows = piled(entries).map((row, depth) => boxesOf(id, depth, row, false));
	return { track: { ...track, lanes: [rows.length], slices: entries.length }, rows, names };
}
