// exported.ts - a window of a trace that the page itself holds: the same answers as the server's, without one.
// SPDX-License-Identifier: Apache-2.0
import type { Told } from "./link";
import { decodeWindow, differencesOf, framesOfLines, functionOf, holds, inOrder, isCalling, Refusal, same, Server, traceOf, weightOf, type Boxes, type Caller, type Difference, type Found, type Frame, type Function,
	type Near, type Place, type Row, type Slice, type Stretch, type Summary, type Trace, type Values, type Window } from "./api";
import { isAll } from "./starts";

const BLOCK = "trackway-data";

function bytesOf(base64: string): ArrayBuffer {
	return Uint8Array.from(atob(base64), character => character.charCodeAt(0)).buffer;
}

function boxesOf(row: Boxes, keep: number[], merged: (at: number) => Merged): Boxes {
	const of = (take: (part: Merged) => number) => Float64Array.from(keep, at => take(merged(at)));
	return { track: row.track, lane: row.lane, depth: row.depth, kind: row.kind, begin: of(part => part.begin), end: of(part => part.end),
		busy: of(part => part.busy), item: of(part => part.item), count: Uint32Array.from(of(part => part.count)),
		name: Uint32Array.from(of(part => part.name)) };
}

/** Slices that are one entry. */
interface Merged {
	begin: number;
	end: number;
	busy: number;
	item: number;
	count: number;
	name: number;
	longest: number;
}

/** The entries of a row in a window: those that begin and end in one pixel become one. */
export function narrowed(row: Boxes, { from, to }: Stretch, width: number): Boxes {
	const pixel = (time: number) => Math.floor((time - from) / (to - from) * width);
	const entries: Merged[] = [];
	for (let i = 0; i < row.begin.length; i++) {
		const begin = row.begin[i]!;
		const end = row.end[i]!;
		if (end < from || begin > to)
			continue;
		const last = entries[entries.length - 1];
		const one = { begin, end, busy: row.busy[i]!, item: row.item[i]!, count: row.count[i]!, name: row.name[i]!, longest: end - begin };
		if (!last || pixel(last.begin) !== pixel(end) || last.begin < from) {
			entries.push(one);
			continue;
		}
		last.end = Math.max(last.end, end);
		last.busy += one.busy;
		last.count += one.count;
		if (one.longest > last.longest)
			Object.assign(last, { item: one.item, name: one.name, longest: one.longest });
	}
	return boxesOf(row, entries.map((_, at) => at), at => entries[at]!);
}

function valuesIn(row: Values, { from, to }: Stretch): Values {
	let first = row.time.findIndex(time => time > from) - 1;
	if (first === -2)
		first = row.time.length - 1;
	first = Math.max(0, first);
	const beyond = row.time.findIndex(time => time > to);
	const after = beyond < 0 ? row.time.length : beyond;
	const cut = (all: Float64Array) => all.slice(first, after);
	return { ...row, time: cut(row.time), least: cut(row.least), most: cut(row.most), last: cut(row.last) };
}

/** What a series was in a stretch; null where it has no value there. What is at the end of all is in what ends there. */
export function summed(row: Values, { from, to }: Stretch, end = Infinity): Summary | null {
	let found: Summary | null = null;
	let area = 0;
	let wide = 0;
	for (let i = 0; i < row.time.length && (row.time[i]! < to || (to >= end && row.time[i] === to)); i++) {
		const next = Math.min(to, row.time[i + 1] ?? to);
		if (next <= from && i + 1 < row.time.length)
			continue;
		const last = row.last[i]!;
		const inside = row.time[i]! >= from;
		found ??= { track: row.track, series: row.lane, first: last, last, least: last, most: last, mean: last, exact: true };
		found.last = last;
		found.least = Math.min(found.least, inside ? row.least[i]! : last);
		found.most = Math.max(found.most, inside ? row.most[i]! : last);
		found.exact &&= row.least[i] === row.most[i];
		const part = Math.max(0, next - Math.max(from, row.time[i]!));
		area += last * part;
		wide += part;
	}
	if (found && wide > 0)
		found.mean = area / wide;
	return found;
}

/** A call inside of a stretch. */
interface Call {
	name: string;
	depth: number;
	total: number;
	self: number;
}

const EXACT = 16; // values that the tool keeps each of; of more it counts those of a bucket, and tells its middle
const BUCKETS = 64; // of an octave

function middleOf(value: number): number {
	let width = 1;
	while (value >= 2 * BUCKETS * width)
		width *= 2;
	return width === 1 ? value : Math.floor(value / width) * width + width / 2;
}

/** 50, 90 and 99 of 100 of some ascending times are at most so long, as the tool tells it. */
export function percentiles(times: number[]): number[] {
	const least = times[0]!;
	const most = times[times.length - 1]!;
	return [500, 900, 990].map(part => {
		const exact = times[Math.max(1, Math.ceil(times.length * part / 1000)) - 1]!;
		return times.length > EXACT ? Math.min(most, Math.max(least, middleOf(exact))) : exact;
	});
}

/** The first, or backwards the last. */
function nearest(slices: Near[], direction: "next" | "previous"): Near | null {
	return slices.reduce<Near | null>((best, near) => (best && inOrder(best, near) > 0 === (direction === "previous") ? best : near), null);
}

/** The answers of a server, of what the page holds. */
export class Exported extends Server {
	override readonly live = false;
	override readonly state: string;
	override readonly compares: boolean;
	private readonly rows: Row[];
	private readonly known: Trace;

	constructor(private readonly data: any) {
		super();
		this.compares = data.diff != null;
		this.state = data.state ?? "";
		this.known = traceOf(data.trace);
		this.rows = decodeWindow(bytesOf(data.window), this.names).rows;
	}

	/** What the page holds, if it is one that was written as a file. */
	static here(): Exported | null {
		const block = document.getElementById(BLOCK);
		return block ? new Exported(JSON.parse(block.textContent ?? "")) : null;
	}

	override async trace(): Promise<Trace> {
		return this.known;
	}

	override async window(stretch: Stretch, width: number, tracks: number[]): Promise<Window> {
		const asked = new Set(tracks);
		const rows = this.rows.filter(row => asked.has(row.track)).map(row =>
			row.kind === "values" ? valuesIn(row, stretch) : narrowed(row, stretch, width));
		return { generation: this.known.generation, ...stretch, rows: rows.filter(row => (row.kind === "values" ? row.time : row.begin).length > 0) };
	}

	override async counters(stretch: Stretch, tracks: number[]): Promise<Summary[]> {
		const asked = new Set(tracks);
		return this.rows.flatMap(row => (row.kind === "values" && asked.has(row.track) ? summed(row, stretch, this.known.end) ?? [] : []));
	}

	/** Rows are parts of what the file holds, which stays. */
	override release(): void { }

	private boxes(): Boxes[] {
		return this.rows.filter((row): row is Boxes => row.kind !== "values");
	}

	private at(row: Boxes, i: number): Near & { name: string } {
		return { track: row.track, lane: row.lane, depth: row.depth, item: row.item[i]!, begin: row.begin[i]!, end: row.end[i]!,
			name: this.names[row.name[i]!] ?? "" };
	}

	private entry(place: Place): { row: Boxes; i: number } | null {
		const row = this.boxes().find(each => same(each, place, false));
		const i = row?.item.indexOf(place.item) ?? -1;
		return row && i >= 0 ? { row, i } : null;
	}

	override async slice(place: Place): Promise<Slice> {
		const found = this.entry(place);
		if (!found)
			throw new Refusal("this file does not have the slice");
		const it = this.at(found.row, found.i);
		const lane = this.boxes().filter(row => row.track === place.track && row.lane === place.lane && row.kind === "slices");
		const callerOf = (near: Near & { name: string }): Caller => ({ name: near.name, depth: near.depth, item: near.item,
			begin: near.begin, duration: near.end - near.begin });
		const callers = lane.filter(row => row.depth < place.depth).sort((a, b) => b.depth - a.depth).flatMap(row => {
			const i = row.begin.findLastIndex((begin, at) => begin <= it.begin && row.end[at]! >= it.end);
			return i < 0 ? [] : [callerOf(this.at(row, i))];
		});
		const inner = lane.find(row => row.depth === place.depth + 1);
		const children = inner ? [...inner.begin.keys()].filter(i => inner.begin[i]! >= it.begin && inner.end[i]! <= it.end)
			.map(i => callerOf(this.at(inner, i))) : [];
		return { ...place, name: it.name, category: "", file: this.known.list[place.track]?.file ?? 0, offset: null, begin: it.begin, end: it.end,
			duration: it.end - it.begin, callers, children: children.slice(0, 100), childCount: children.length, source: null };
	}

	override async find(track: number, depth: number, told: Told): Promise<Near | null> {
		const at = this.known.fromTime ?? 0;
		const from = Math.max(told.from, at);
		const to = Math.min(told.to, this.known.toTime ?? Infinity);
		const near = this.boxes().filter(row => row.track === track).flatMap(row => [...row.begin.keys()].map(i => this.at(row, i)));
		const likeness = ({ begin, end, name, depth: deep }: Near & { name: string }) => {
			const same = begin === from ? name === told.name || deep === depth && end === to
				: begin <= from && end > from && end >= to && name === told.name && deep === depth;
			return same ? 1 + 8 * Number(begin === from) + 4 * Number(name === told.name) + 2 * Number(deep === depth) + Number(end === to) : 0;
		};
		const best = near.map(each => ({ each, like: likeness(each) })).reduce((a, b) => (b.like > a.like ? b : a), { each: null as Near | null, like: 0 });
		return to < from || told.from < at && told.to <= at ? null : best.each;
	}

	override async neighbour(place: Place, direction: "next" | "previous"): Promise<Near | null> {
		const found = this.entry(place);
		const i = found ? found.i + (direction === "next" ? 1 : -1) : -1;
		return found && i >= 0 && i < found.row.begin.length ? this.at(found.row, i) : null;
	}

	override async occurrence(name: string, at: number, direction: "next" | "previous", tracks: number[] | null = null,
		behind: Place | null = null): Promise<Near | null> {
		const id = this.names.indexOf(name);
		const far = behind && { ...behind, begin: at, end: at };
		const isBeyond = (near: Near) => far ? inOrder(near, far) * (direction === "next" ? 1 : -1) > 0
			: direction === "next" ? near.begin > at : near.begin < at;
		const rows = this.boxes().filter(({ track }) => !tracks || tracks.includes(track));
		return nearest(rows.flatMap(row => [...row.begin.keys()].filter(i => row.name[i] === id).map(i => this.at(row, i))).filter(isBeyond), direction);
	}

	override async match(text: string, at: number, direction: "next" | "previous", behind: Place | null = null): Promise<Near | null> {
		const far = behind && { ...behind, begin: at, end: at };
		const isBeyond = (near: Near) => far ? inOrder(near, far) * (direction === "next" ? 1 : -1) > 0 : direction === "next" ? near.begin >= at : near.begin < at;
		const wanted = new Set(this.names.flatMap((name, id) => holds(name, text) ? [id] : []));
		const calls = this.boxes().filter(row => row.kind === "slices" && isCalling(this.known.list[row.track]!, this.known.unit));
		const found = calls.flatMap(row => [...row.begin.keys()].filter(i => wanted.has(row.name[i]!)).map(i => this.at(row, i))).filter(isBeyond);
		return nearest(found, direction);
	}

	override async search(text: string, limit: number): Promise<{ names: Found[]; more: boolean }> {
		this.weigh(this.data.stat.weight);
		const names = this.data.stat.functions.map(functionOf).filter((row: Function) => holds(row.name, text))
			.sort((a: Found, b: Found) => b.total - a.total);
		return { names: names.slice(0, limit), more: names.length > limit };
	}

	override async details(): Promise<null> {
		return null;
	}

	override async flows(): Promise<{ flows: []; more: boolean }> {
		return { flows: [], more: false };
	}

	private isWhole(stretch: Stretch, tracks: number[] | null): boolean {
		return !tracks && isAll(stretch, this.known);
	}

	/** The calls of some tracks in a stretch, cut to it, depth first. */
	private *calls({ from, to }: Stretch, tracks: number[] | null): Generator<Call> {
		const lanes = new Map<string, Boxes[]>();
		for (const row of this.boxes())
			if (row.kind === "slices" && isCalling(this.known.list[row.track]!, this.known.unit) && (!tracks || tracks.includes(row.track)))
				lanes.set(`${row.track}.${row.lane}`, [...lanes.get(`${row.track}.${row.lane}`) ?? [], row]);
		for (const rows of lanes.values()) {
			if (rows.some(row => row.count.some(count => count > 1)))
				throw new Refusal("this file does not hold each slice: only sums of all of it can be told");
			const all = rows.flatMap(row => [...row.begin.keys()].map(i => this.at(row, i)))
				.filter(near => near.begin < to && near.end > from).sort((a, b) => a.begin - b.begin || a.depth - b.depth);
			const calls = all.map(near => ({ near, total: Math.min(near.end, to) - Math.max(near.begin, from), self: 0 }));
			const open: typeof calls = [];
			for (const call of calls) {
				open.length = Math.min(open.length, call.near.depth);
				call.self = call.total;
				const above = open[call.near.depth - 1];
				if (above)
					above.self -= call.total;
				open[call.near.depth] = call;
			}
			for (const { near, total, self } of calls)
				yield { name: near.name, depth: near.depth, total, self };
		}
	}

	override async functions(stretch: Stretch, tracks: number[] | null): Promise<Function[]> {
		const all = this.isWhole(stretch, tracks);
		this.weigh(all ? this.data.stat.weight : null);
		if (all)
			return this.data.stat.functions.map(functionOf);
		const calls = new Map<string, Call[]>();
		for (const call of this.calls(stretch, tracks))
			calls.set(call.name, [...calls.get(call.name) ?? [], call]);
		return [...calls].map(([name, calls]) => {
			const times = calls.map(call => call.total).sort((a, b) => a - b);
			const [p50, p90, p99] = percentiles(times) as [number, number, number];
			const sum = (take: (call: Call) => number) => calls.reduce((most, call) => most + take(call), 0);
			return { name, count: calls.length, total: sum(call => call.total), self: sum(call => call.self), ended: true, min: times[0]!,
				max: times[times.length - 1]!, p50, p90, p99 };
		});
	}

	override async differences(): Promise<Difference[]> {
		this.weigh(this.data.diff.weight);
		return differencesOf(this.data.diff);
	}

	override async differenceFlame(): Promise<Frame[]> {
		return framesOfLines(this.data.diff_flame);
	}

	override async flame(stretch: Stretch, tracks: number[] | null): Promise<Frame[]> {
		const all = this.isWhole(stretch, tracks);
		this.weigh(all ? weightOf(this.data.flame) : null);
		if (all)
			return framesOfLines(this.data.flame);
		return framesOf(this.calls(stretch, tracks));
	}
}

interface Branch extends Frame {
	inside: Map<string, Branch>;
}

/** Calls as a tree, those of one name and one caller together. */
export function framesOf(calls: Iterable<Call>): Frame[] {
	const branch = (name: string, depth: number): Branch => ({ name, depth, total: 0, self: 0, count: 0, inside: new Map() });
	const root = branch("", 0);
	const path: Branch[] = [root];
	for (const { name, depth, total, self } of calls) {
		path.length = Math.min(path.length, depth + 1);
		const above = path[path.length - 1]!;
		const it = above.inside.get(name) ?? branch(name, above.depth + 1);
		above.inside.set(name, it);
		it.total += total;
		it.self += self;
		it.count++;
		if (depth === 0)
			root.total += total;
		path.push(it);
	}
	const frames: Frame[] = [];
	const walk = (it: Branch) => {
		frames.push({ name: it.name, depth: it.depth, total: it.total, self: it.self, count: it.count });
		[...it.inside.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).forEach(walk);
	};
	walk(root);
	return frames;
}
