// api.ts - the protocol of the server: doc/view.md. Nothing else of the page knows addresses or bytes.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "./format";
import type { Told } from "./link";

export interface Progress {
	generation: number;
	tracks: number;
	state: "reading" | "done" | "failed";
	/** Whether files that grow are read anew. */
	follows: boolean;
	read: number;
	size: number | null;
	events: number;
	/** Slices, samples and points that the picture has no room for. */
	left: number;
	end: number;
	error: string | null;
}

export interface TraceFile {
	path: string;
	format: string;
	title: string;
	size: number | null;
	/** When it begins on the axis, and when it does as the command has it. */
	start: number;
	begin: number;
	/** How it is another file than when it was opened: "grown", "truncated", "replaced", "gone". */
	changed: string | null;
}

/** An option of the command line that decides what is shown. */
export interface Given {
	/** Without the dashes. */
	name: string;
	/** Null: it takes none. */
	value: string | null;
}

/** A stretch that is lost, of one track or of all. */
export interface Lost extends Stretch {
	track: number | null;
	bytes: number;
	offset: number;
}

export interface Finding {
	file: number;
	rule: string;
	severity: string;
	offset: number;
	/** Where on the axis, if that is known. */
	time: number | null;
	text: string;
}

export type Kind = "process" | "thread" | "cpu" | "counter" | "async" | "other";

export interface Track {
	id: number;
	parent: number | null;
	kind: Kind;
	name: string;
	file: number;
	pid: string | null;
	tid: string | null;
	sort: number;
	/** How many rows each lane has. */
	lanes: number[];
	/** Whether it has instants too: a row of its own, in the lane POINTS. */
	points: boolean;
	/** Whether it is known when it ran and when it waited: a row of its own, in the lane STATES. */
	states: boolean;
	slices: number;
	series: string[];
}

/** The lane of a track's points. */
export const POINTS = 0xffff;
/** The lane of what a thread does by the scheduling. */
export const STATES = 0xfffe;

/** Whether the slices of a track are calls: those of functions, not what a CPU runs, nor operations beside threads. */
export function isCalling({ kind }: Track, unit: Unit): boolean {
	return kind === "thread" || kind === "cpu" && unit !== "ns";
}

export interface Trace extends Progress {
	unit: Unit;
	/** Nothing in it has a time. */
	timeless: boolean;
	begin: number;
	/** Time of day at 0, in nanoseconds since 1970: beyond what a number holds. */
	wall: bigint | null;
	/** Where most of a damaged trace is, if some of it is far from there. */
	bulk: Stretch | null;
	files: TraceFile[];
	options: Given[];
	/** What the options leave out by time, on the axis that the command has. */
	fromTime: number | null;
	toTime: number | null;
	/** The first of them. */
	findings: Finding[];
	/** How many there are. */
	damage: number;
	/** The first stretches that are lost, and how many there are. */
	lost: Lost[];
	lostCount: number;
	list: Track[];
}

/** Slices or points of one row, in the order of time. */
export interface Boxes {
	track: number;
	lane: number;
	depth: number;
	kind: "slices" | "points" | "states";
	begin: Float64Array;
	end: Float64Array;
	busy: Float64Array;
	item: Float64Array;
	count: Uint32Array;
	name: Uint32Array;
}

/** A series of a counter. */
export interface Values {
	track: number;
	lane: number;
	depth: number;
	kind: "values";
	time: Float64Array;
	least: Float64Array;
	most: Float64Array;
	last: Float64Array;
}

export type Row = Boxes | Values;

export interface Window {
	generation: number;
	from: number;
	to: number;
	rows: Row[];
}

/** Which slice: its row, and its number in it. */
export interface Place {
	track: number;
	lane: number;
	depth: number;
	item: number;
}

/** Whether two are of one row, and one slice in it. */
export function same(a: Omit<Place, "item"> & { item?: unknown }, b: Place, ofItem = true): boolean {
	return a.track === b.track && a.lane === b.lane && a.depth === b.depth && (!ofItem || a.item === b.item);
}

export interface Caller {
	name: string;
	depth: number;
	item: number;
	begin: number;
	duration: number;
}

export interface Slice extends Place {
	name: string;
	category: string;
	begin: number;
	end: number;
	duration: number;
	file: number;
	offset: string | null;
	callers: Caller[];
	/** Those directly inside, the first of them; and how many there are. */
	children: Caller[];
	childCount: number;
	source: Source | null;
}

export interface Source {
	file: string;
	line: number;
}

/** What needs the trace itself to be read again. */
export interface Deep {
	arguments: { name: string; type: string; value: string | null }[];
	stack: { name: string; file: string | null; line: number }[];
	flowsIn: Flow[];
	flowsOut: Flow[];
	more: boolean;
}

export interface FlowEnd {
	track: number;
	time: number;
	/** The slice that it is in, where it is in one. */
	place: Place | null;
}

export interface Flow {
	name: string;
	id: string;
	from: FlowEnd;
	to: FlowEnd;
}

export interface Answer {
	columns: { name: string; type: string }[];
	rows: unknown[][];
	more: boolean;
	elapsed: number;
}

/** How far the server is with a question. */
export interface Question {
	elapsed: number;
	read: number | null;
	size: number | null;
}

export interface Near extends Place {
	begin: number;
	end: number;
}

export interface Found {
	name: string;
	count: number;
	total: number;
}

export interface Function extends Found {
	self: number;
	/** Whether one of its calls was seen to end: of others there is no duration. */
	ended: boolean;
	min: number;
	max: number;
	p50: number;
	p90: number;
	p99: number;
}

/** What a series of a counter was in a stretch. */
export interface Summary {
	track: number;
	series: number;
	first: number;
	last: number;
	least: number;
	most: number;
	/** Over time. */
	mean: number;
	/** Whether first and mean are those of each sample, or of pixels. */
	exact: boolean;
}

/** A function in two traces: before and after. */
export interface Difference {
	name: string;
	self: [number, number];
	total: [number, number];
	count: [number, number];
	p50: [number, number];
}

/** A frame of the tree of calls: depth first. */
export interface Frame {
	name: string;
	depth: number;
	total: number;
	self: number;
	count: number;
	/** Of a difference: the total before. */
	before?: number;
}

export interface Stretch {
	from: number;
	to: number;
}

type Parameters = Record<string, string | number>;

/** What the server says where it does not answer. */
export class Refusal extends Error {
	/** Of SQL: where it is wrong, from 1. */
	line: number | null = null;
	column: number | null = null;
	status = 0;
}

const MAGIC = 0x31565754; // "TWV1"
const KINDS = ["slices", "values", "points", "states"] as const;

export class Server {
	/** Whether there is a server, or only what a file holds. */
	readonly live: boolean = true;
	/** What is shown at first where the address does not say it: as a fragment. */
	readonly state: string = "";
	/** Whether two traces can be compared. */
	readonly compares: boolean = true;
	/** Names by their number; they come with windows, each once. */
	readonly names: string[] = [];
	/** What functions are weighed by, as the last answer has told; null: by what the trace counts. */
	weighed: Unit | null = null;
	/** When each file begins, where the page has moved one: what is asked and answered is of this axis. */
	starts: number[] = [];
	private readonly bodies = new Bodies();

	async trace(): Promise<Trace> {
		return traceOf(await this.json("trace"));
	}

	async progress(): Promise<Progress> {
		return progressOf(await this.json("progress"));
	}

	/** exact: slices that the server must read again are worth some tenths of a second; outer: those alone that are in no other. */
	async window(stretch: Stretch, width: number, tracks: number[], signal?: AbortSignal, exact = false, outer = false): Promise<Window> {
		const response = await this.ask("window",
			{ ...whole(stretch), width, tracks: tracks.join(","), names: this.names.length, ...exact ? { exact: 1 } : {},
				...outer ? { outer: 1 } : {} }, signal);
		return decodeWindow(await this.bodies.bytesOf(response), this.names);
	}

	/** The bytes of answers that nobody has rows of. */
	release(answers: Set<ArrayBufferLike>): void {
		answers.forEach(giveBack);
	}

	async slice(place: Place): Promise<Slice> {
		return sliceOf(place, await this.json("slice", { ...placeOf(place) }));
	}

	/** A slice by what a link says of it; null where there is none. */
	async find(track: number, depth: number, { from, to, name }: Told): Promise<Near | null> {
		return nearOf(await this.json("find", { track, begin: from, end: to, depth, name }));
	}

	/** What counters were in a stretch: a row for each series that has a value there. */
	async counters(stretch: Stretch, tracks: number[], signal?: AbortSignal): Promise<Summary[]> {
		const answer = await this.json("counters", { ...whole(stretch), tracks: tracks.join(",") }, signal);
		return answer.counters.map((row: any) => ({ track: row.track, series: row.series, first: Number(row.first), last: Number(row.last),
			least: Number(row.min), most: Number(row.max), mean: Number(row.mean), exact: true }));
	}

	/** The neighbour in the slice's own row. */
	neighbour(place: Place, direction: "next" | "previous"): Promise<Near | null> {
		return this.near({ ...placeOf(place), direction });
	}

	/** The next slice of exactly this name, of some tracks or of all, or behind a slice that begins then; from -1, also one that begins
	 * at 0. */
	async occurrence(name: string, at: number, direction: "next" | "previous", tracks: number[] | null = null,
		behind: Place | null = null): Promise<Near | null> {
		const what = { name, ...list(tracks), ...behind ? placeOf(behind) : {} };
		const first = at < 0 && direction === "next" ? await this.near({ ...what, at: 1, direction: "previous" }) : null;
		return first ?? this.near({ ...what, at: Math.max(0, Math.round(at)), direction });
	}

	/** The next call whose name holds a text: from a time on, or behind a slice that begins then. Of one time outer ones are first. */
	match(text: string, at: number, direction: "next" | "previous", behind: Place | null = null): Promise<Near | null> {
		return this.near({ text, at: Math.round(at), direction, ...behind ? placeOf(behind) : {} });
	}

	async search(text: string, limit: number, signal?: AbortSignal): Promise<{ names: Found[]; more: boolean }> {
		const answer = await this.json("search", { text, limit }, signal);
		this.weigh(answer.weight);
		return { names: answer.names.map(foundOf), more: answer.more === true };
	}

	async functions(stretch: Stretch, tracks: number[] | null, signal?: AbortSignal, question = fresh()): Promise<Function[]> {
		const answer = await this.json("stat", { ...whole(stretch), ...list(tracks), question }, signal);
		this.weigh(answer.weight);
		return answer.functions.map(functionOf);
	}

	async flame(stretch: Stretch, tracks: number[] | null, signal?: AbortSignal, question = fresh()): Promise<Frame[]> {
		const response = await this.ask("flame", { ...whole(stretch), ...list(tracks), question }, signal);
		const lines = await response.text();
		this.weigh(weightOf(lines));
		return framesOfLines(lines);
	}

	/** Of the first two files. */
	async differences(stretch: Stretch | null, signal?: AbortSignal, question = fresh()): Promise<Difference[]> {
		const answer = await this.json("diff", { ...(stretch ? whole(stretch) : {}), question }, signal);
		this.weigh(answer.weight);
		return differencesOf(answer);
	}

	async differenceFlame(stretch: Stretch | null, signal?: AbortSignal, question = fresh()): Promise<Frame[]> {
		const response = await this.ask("diff-flame", { ...(stretch ? whole(stretch) : {}), question }, signal);
		return framesOfLines(await response.text());
	}

	/** Tables of the trace; where a stretch is given they have only what touches it. */
	async sql(query: string, limit: number, within: { stretch: Stretch; tracks: number[] } | null, signal: AbortSignal,
		question = fresh()): Promise<Answer> {
		const where = within ? { ...whole(within.stretch), ...list(within.tracks.length ? within.tracks : null) } : {};
		const answer = await this.json("sql", { query, limit, question, ...where }, signal);
		return { columns: answer.columns, rows: answer.rows, more: answer.more === true, elapsed: Number(answer.elapsed) };
	}

	/** Null where the tables of the trace do not have the slice. */
	async details(place: Place, signal?: AbortSignal, question = fresh()): Promise<Deep | null> {
		const answer = await this.json("details", { ...placeOf(place), question }, signal);
		return answer.found === false ? null : { arguments: answer.arguments ?? [], stack: answer.stack ?? [],
			flowsIn: (answer.flows_in ?? []).map(flowOf), flowsOut: (answer.flows_out ?? []).map(flowOf), more: answer.more === true };
	}

	async flows(stretch: Stretch, limit: number, signal?: AbortSignal): Promise<{ flows: Flow[]; more: boolean }> {
		const answer = await this.json("flows", { ...whole(stretch), limit }, signal);
		return { flows: answer.flows.map(flowOf), more: answer.more === true };
	}

	async question(name: string): Promise<Question | null> {
		const answer = await this.json("question", { question: name });
		return answer.found ? { elapsed: Number(answer.elapsed), read: known(answer.read), size: known(answer.size) } : null;
	}

	async cancel(name: string): Promise<void> {
		await this.json("cancel", { question: name });
	}

	/** Takes a weight as the tool calls it. */
	protected weigh(weight: string | null): void {
		this.weighed = WEIGHTS.find(each => each === weight) ?? null;
	}

	private async near(parameters: Parameters): Promise<Near | null> {
		return nearOf(await this.json("near", parameters));
	}

	private async ask(address: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Response> {
		const moved: Parameters = this.starts.length ? { starts: this.starts.join(",") } : {};
		const query = new URLSearchParams(Object.entries({ ...parameters, ...moved }).map(([key, value]) => [key, String(value)]));
		const response = await fetch(`api/${address}?${query}`, signal ? { signal } : {});
		if (response.ok)
			return response;
		const answer = await response.json().catch(() => ({}));
		const refusal = new Refusal(typeof answer.error === "string" ? answer.error : `${response.status} ${response.statusText}`);
		refusal.status = response.status;
		refusal.line = answer.line ?? null;
		refusal.column = answer.column ?? null;
		throw refusal;
	}

	private async json(address: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<any> {
		return (await this.ask(address, parameters, signal)).json();
	}
}

/** Gives memory back at once: as garbage it would wait. */
function giveBack(bytes: ArrayBufferLike): void {
	(bytes as { transfer?(size: number): unknown }).transfer?.(0);
}

const ROOM = 1 << 16; // bytes

/** The body of an answer. What the browser has made of it would stay until garbage is collected, even where it was given back:
 * so it writes into one room, and the bytes are copied from there. */
class Bodies {
	private room: Uint8Array<ArrayBuffer> | null = null;

	async bytesOf(response: Response): Promise<ArrayBuffer> {
		const size = Number(response.headers.get("content-length"));
		const reader = size ? this.readerOf(response) : null;
		if (!reader)
			return response.arrayBuffer();
		const bytes = new Uint8Array(size);
		let room = this.room ?? new Uint8Array(ROOM);
		this.room = null; // who reads at the same time has one of its own
		for (let at = 0, done = false; !done;) {
			const part = await reader.read(room);
			const value = part.value ?? new Uint8Array(0);
			bytes.set(value, at);
			at += value.length;
			room = new Uint8Array(value.buffer);
			done = part.done;
		}
		this.room = room.length ? room : null;
		return bytes.buffer;
	}

	/** Null where the browser does not have such. */
	private readerOf(response: Response): ReadableStreamBYOBReader | null {
		try {
			return response.body?.getReader({ mode: "byob" }) ?? null;
		} catch {
			return null;
		}
	}
}

let questions = 0;

/** A name for a question that no other has. */
export function fresh(): string {
	return `q${Date.now().toString(36)}-${++questions}`;
}

/** A stretch as questions have it. */
export function whole(stretch: Stretch): { from: number; to: number } {
	const from = Math.max(0, Math.floor(stretch.from));
	return { from, to: Math.max(from + 1, Math.ceil(stretch.to)) };
}

function list(tracks: number[] | null): Parameters {
	return tracks ? { tracks: tracks.join(",") } : {};
}

function placeOf({ track, lane, depth, item }: Place): Parameters {
	return { track, lane, depth, item };
}

/** Whether a name holds a text, in any case of A to Z. */
export function holds(name: string, text: string): boolean {
	const lower = (words: string) => words.replace(/[A-Z]+/g, part => part.toLowerCase());
	return lower(name).includes(lower(text));
}

/** Of two that begin at once an outer one stands before an inner one. */
export function inOrder(a: Near, b: Near): number {
	return a.begin - b.begin || a.track - b.track || a.lane - b.lane || a.depth - b.depth || a.item - b.item;
}

function known(digits: string | null | undefined): number | null {
	return digits == null ? null : Number(digits);
}

function progressOf(answer: any): Progress {
	return { generation: answer.generation, tracks: answer.tracks, state: answer.state, read: Number(answer.read),
		size: known(answer.size), events: Number(answer.events), left: Number(answer.left ?? 0), end: Number(answer.end), follows: answer.follows === true,
		error: answer.error };
}

/** Formats of sums: a flame graph is all that they tell. */
const TIMELESS = ["folded", "xray-profiling"];

/** What an answer says of a trace. */
export function traceOf(answer: any): Trace {
	return {
		...progressOf(answer),
		unit: answer.files.every((file: any) => file.format === "folded") ? "samples" : answer.unit,
		timeless: answer.files.every((file: any) => TIMELESS.includes(file.format)),
		begin: Number(answer.begin),
		wall: answer.wall == null ? null : BigInt(answer.wall),
		bulk: answer.bulk ? { from: Number(answer.bulk.from), to: Number(answer.bulk.to) } : null,
		files: answer.files.map((file: any) => ({
			path: file.path, format: file.format, title: file.title ?? file.format, size: known(file.size),
			start: Number(file.start ?? 0), begin: Number(file.begin ?? file.start ?? 0), changed: file.changed ?? null })),
		options: answer.options ?? [],
		fromTime: known(answer.from_time),
		toTime: known(answer.to_time),
		lost: (answer.lost ?? []).map((lost: any) => ({ track: lost.track ?? null, from: Number(lost.from), to: Number(lost.to),
			bytes: Number(lost.bytes ?? 0), offset: Number(lost.offset ?? 0) })),
		lostCount: Number(answer.lost_count ?? answer.lost?.length ?? 0),
		damage: Number(answer.finding_count ?? answer.findings.length),
		findings: answer.findings.map((finding: any) => ({
			...finding, offset: Number(finding.offset), time: known(finding.time) })),
		list: answer.list.map((track: any) => ({
			...track, sort: track.sort ?? 0, file: track.file ?? 0, slices: Number(track.slices), points: track.points === true, states: track.states === true, series: track.series ?? [] })),
	};
}

function nearOf(answer: any): Near | null {
	return answer.found ? { track: answer.track, lane: answer.lane, depth: answer.depth, item: Number(answer.item),
		begin: Number(answer.begin), end: Number(answer.end) } : null;
}

function flowOf(answer: any): Flow {
	const end = (each: any): FlowEnd => ({ track: each.track, time: Number(each.time), place: each.item === undefined || each.item === null ? null
		: { track: each.track, lane: each.lane, depth: each.depth, item: Number(each.item) } });
	return { name: answer.name ?? "", id: String(answer.id ?? ""), from: end(answer.from), to: end(answer.to) };
}

export function foundOf(row: any): Found {
	return { name: row.name, count: Number(row.count), total: Number(row.total) };
}

function sliceOf(place: Place, answer: any): Slice {
	const around = (rows: any): Caller[] => (rows ?? []).map((row: any) => ({ name: row.name, depth: row.depth,
		item: Number(row.item), begin: Number(row.begin), duration: Number(row.duration) }));
	return { ...place, name: answer.name, category: answer.category ?? "", file: answer.file ?? 0,
		offset: answer.offset ?? null, begin: Number(answer.begin), end: Number(answer.end),
		duration: Number(answer.duration), callers: around(answer.callers), children: around(answer.children),
		childCount: Number(answer.child_count ?? answer.children?.length ?? 0), source: answer.source ?? null };
}

export function functionOf(row: any): Function {
	return { ...foundOf(row), self: Number(row.self), ended: row.ended !== false, min: Number(row.min), max: Number(row.max), p50: Number(row.p50),
		p90: Number(row.p90), p99: Number(row.p99) };
}

export function differencesOf(answer: any): Difference[] {
	const both = (pair: any): [number, number] => [Number(pair[0]), Number(pair[1])];
	return answer.functions.map((row: any) => ({ name: row.name, self: both(row.self), total: both(row.total), count: both(row.count),
		p50: both(row.p50) }));
}

/** Weights that are no time. */
const WEIGHTS: Unit[] = ["samples", "ticks", "instructions"];

/** What frames of JSON Lines are weighed by. */
export function weightOf(lines: string): string | null {
	return lines ? JSON.parse(lines.slice(0, lines.indexOf("\n"))).weight ?? null : null;
}

/** Frames of JSON Lines. */
export function framesOfLines(lines: string): Frame[] {
	return lines.split("\n").filter(Boolean).map(line => frameOf(JSON.parse(line)));
}

function frameOf(line: any): Frame {
	return { ...(line.before === undefined ? {} : { before: Number(line.before) }), name: line.name, depth: Number(line.depth), total: Number(line.total_ns ?? line.total),
		self: Number(line.self_ns ?? line.self), count: Number(line.count) };
}

/** Reads the bytes of a window one after the other; every array begins at a multiple of 8. */
class Reader {
	at = 0;
	constructor(private readonly buffer: ArrayBuffer, private readonly view = new DataView(buffer)) { }

	u16(): number {
		this.at += 2;
		return this.view.getUint16(this.at - 2, true);
	}

	u32(): number {
		this.at += 4;
		return this.view.getUint32(this.at - 4, true);
	}

	u64(): number {
		this.at += 8;
		return Number(this.view.getBigUint64(this.at - 8, true));
	}

	f64s(count: number): Float64Array {
		const array = new Float64Array(this.buffer, this.at, count);
		this.at += 8 * count;
		return array;
	}

	u32s(count: number): Uint32Array {
		const array = new Uint32Array(this.buffer, this.at, count);
		this.at += 4 * count + (count % 2) * 4;
		return array;
	}

	text(ends: Uint32Array, size: number): string[] {
		const utf8 = new TextDecoder();
		let begin = this.at;
		const texts = [...ends].map(end => {
			const text = utf8.decode(new Uint8Array(this.buffer, begin, this.at + end - begin));
			begin = this.at + end;
			return text;
		});
		this.at += size;
		return texts;
	}
}

function shift(times: Float64Array, by: number): Float64Array {
	for (let i = 0; i < times.length; i++)
		times[i]! += by;
	return times;
}

function decodeRow(reader: Reader, from: number): Row {
	const place = { track: reader.u32(), lane: reader.u16(), depth: reader.u16() };
	const kind = KINDS[reader.u32()];
	const n = reader.u32();
	const f64s = () => reader.f64s(n);
	if (kind === "values")
		return { ...place, kind, time: shift(f64s(), from), least: f64s(), most: f64s(), last: f64s() };
	if (!kind)
		throw new Refusal("the server sent a row of a kind that this page does not know");
	return { ...place, kind, begin: shift(f64s(), from), end: shift(f64s(), from), busy: f64s(), item: f64s(),
		count: reader.u32s(n), name: reader.u32s(n) };
}

/** Decodes a window, and adds the names that come with it to those that are there. */
export function decodeWindow(buffer: ArrayBuffer, names: string[]): Window {
	const reader = new Reader(buffer);
	if (reader.u32() !== MAGIC)
		throw new Refusal("the server sent no window");
	const generation = reader.u32();
	const from = reader.u64();
	const to = reader.u64();
	const rowCount = reader.u32();
	const firstName = reader.u32();
	const nameCount = reader.u32();
	const textSize = reader.u32();
	const rows = Array.from({ length: rowCount }, () => decodeRow(reader, from));
	reader.text(reader.u32s(nameCount), textSize).forEach((name, i) => {
		names[firstName + i] = name;
	});
	return { generation, from, to, rows };
}
