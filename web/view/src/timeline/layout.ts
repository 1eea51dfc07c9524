// layout.ts - which track is where: rows of the picture, from top to bottom.
// SPDX-License-Identifier: Apache-2.0
import { POINTS, STATES, type Kind, type Track } from "../api";
import type { State } from "../state";

export const ROW = 17; // a row of slices, as the flame graph has it
export const GROUP = 26;
export const LEAST = 26; // a track of one row: its name needs the room
export const COUNTER = 40;
export const PAD = 4; // above and below the slices of a track

export const FIRST = -Infinity; // the order of what a person has made: above all of the trace

export interface Line {
	track: Track;
	/** What it is called where it stands. */
	name: string;
	group: boolean;
	/** Inside a group. */
	inside: boolean;
	pinned: boolean;
	closed: boolean;
	/** Of a group: what is in it. */
	children: number[];
	y: number;
	height: number;
}

export interface Layout {
	pinned: Line[];
	pinnedHeight: number;
	lines: Line[];
	height: number;
	/** Tracks that are left out because they have nothing. */
	bare: number;
	/** Tracks that are neither hidden nor filtered out nor left out, also those of a closed process. */
	shown: number[];
}

export const KIND_NAMES: Record<Kind, string> = {
	process: "Process", thread: "Thread", cpu: "CPU", counter: "Counter", async: "Asynchronous", other: "Track",
};

function sum(depths: number[]): number {
	return depths.reduce((all, depth) => all + depth, 0);
}

/** How many rows of slices, points and states a track has. */
export function rowsOf(track: Track): number {
	return sum(track.lanes) + (track.points ? 1 : 0) + (track.states ? 1 : 0);
}

/** Which row of its track a slice is in; points are below all slices, and states below these. */
export function rowAt(track: Track, lane: number, depth: number): number {
	const apart = lane === POINTS || lane === STATES;
	return sum(track.lanes.slice(0, apart ? undefined : lane)) + (lane === STATES && track.points ? 1 : 0) + depth;
}

function heightOf(track: Track, group: boolean, closed: boolean): number {
	if (group)
		return GROUP;
	if (track.kind === "counter")
		return closed ? LEAST : Math.max(1, track.lanes.length) * COUNTER;
	return Math.max(LEAST, (closed ? 1 : rowsOf(track)) * ROW + 2 * PAD);
}

/** Whether a name has what the filter asks for: each of its words, in any case. */
export function matches(name: string, filter: string): boolean {
	const lower = name.toLowerCase();
	return filter.toLowerCase().split(/\s+/).every(word => lower.includes(word));
}

/** Whether a track has nothing that is drawn. */
function isBare(track: Track): boolean {
	return track.lanes.length === 0 && !track.points && !track.states;
}

/** How the kinds stand below each other. */
const RANKS: Record<Kind, number> = { cpu: 0, process: 1, thread: 2, async: 3, other: 3, counter: 4 };

const { compare } = new Intl.Collator("en", { numeric: true });

/** The first thread of a process has its number. */
const isMain = ({ kind, pid, tid }: Track) => kind === "thread" && tid !== null && tid === pid;

/** One trace is above the other; in each CPUs stand together before all else. Then the trace's own hints decide, and numbers or
 * names: when a track is first met depends on how the file is read. */
function order(a: Track, b: Track): number {
	const first = Number(b.sort === FIRST) - Number(a.sort === FIRST);
	const main = Number(isMain(b)) - Number(isMain(a));
	const numbers = Number(a.pid) - Number(b.pid) || Number(a.tid) - Number(b.tid);
	const names = () => (RANKS[a.kind] > RANKS.thread ? compare(a.name, b.name) : 0);
	return first || a.file - b.file || RANKS[a.kind] - RANKS[b.kind] || a.sort - b.sort || main || numbers || names() || a.id - b.id;
}

const OF_THREAD = "thread CPU "; // begins the name of a counter that each thread has: the thread's follows

/** Counters of threads stand behind their threads. */
function withOwn(list: Track[]): Track[] {
	const isOwn = ({ kind, name }: Track) => kind === "counter" && name.startsWith(OF_THREAD);
	const threads = new Set(list.some(isOwn) ? list.filter(({ kind }) => kind === "thread").map(({ name }) => name) : []);
	const own = new Map<string, Track[]>();
	const others = list.filter(track => {
		const thread = track.name.slice(OF_THREAD.length);
		const moves = isOwn(track) && threads.has(thread);
		if (moves)
			own.set(thread, [...own.get(thread) ?? [], track]);
		return !moves;
	});
	return others.flatMap(track => {
		const behind = track.kind === "thread" ? own.get(track.name) ?? [] : [];
		if (behind.length)
			own.delete(track.name); // of threads of one name the first has them
		return [track, ...behind];
	});
}

type Families = Map<number | null, Track[]>;
const known = new WeakMap<Track[], Families>(); // who types a filter does not wait for thousands to be sorted

/** Tracks by what they are in, each list in order. */
function families(tracks: Track[]): Families {
	const found = known.get(tracks) ?? familiesOf(tracks);
	known.set(tracks, found);
	return found;
}

function familiesOf(tracks: Track[]): Families {
	const inside: Families = new Map();
	for (const track of tracks) {
		const family = inside.get(track.parent);
		if (family)
			family.push(track);
		else
			inside.set(track.parent, [track]);
	}
	for (const [parent, list] of inside)
		inside.set(parent, withOwn(list.sort(order)));
	return inside;
}

/** Of lines in order those that touch what is between two heights. */
export function linesBetween(lines: Line[], top: number, bottom: number): Line[] {
	let low = 0;
	let high = lines.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (lines[middle]!.y + lines[middle]!.height < top)
			low = middle + 1;
		else
			high = middle;
	}
	let end = low;
	while (end < lines.length && lines[end]!.y <= bottom)
		end++;
	return lines.slice(low, end);
}

/** What a person can call a track: "worker", "server / worker" outside of its group. */
export function titleOf(track: Track, tracks: Track[]): string {
	const parent = track.parent === null ? undefined : tracks[track.parent];
	return parent ? `${parent.name} / ${track.name}` : track.name;
}

/** What stands outside of all groups; of several traces with that which it is of. */
function nameOf(track: Track, files: string[]): string {
	const file = track.parent === null && track.sort !== FIRST && files.length > 1 ? files[track.file] : undefined;
	return file === undefined ? track.name : `${file.replace(/.*\//, "")}: ${track.name}`;
}

/** `files`: their paths. */
export function layOut(tracks: Track[], state: State, files: string[] = []): Layout {
	const layout: Layout = { pinned: [], pinnedHeight: 0, lines: [], height: 0, bare: 0, shown: [] };
	const inside = families(tracks);
	const isGroup = (track: Track) => track.kind === "process" || (inside.get(track.id)?.length ?? 0) > 0;
	const leaveBare = !state.bare && state.filter === "" && !tracks.every(isBare);
	const bare = (track: Track): boolean => leaveBare && !state.pins.includes(track.id) && isBare(track) &&
		(inside.get(track.id) ?? []).every(bare);
	const shown = (track: Track): boolean => !state.hidden.includes(track.id) && !bare(track) && (state.filter === "" ||
		matches([titleOf(track, tracks), ...track.series].join(" "), state.filter) || (inside.get(track.id) ?? []).some(shown));
	const place = (track: Track, group: boolean, deep: boolean) => {
		const closed = state.closed.includes(track.id);
		const height = heightOf(track, group, closed);
		layout.lines.push({ track, name: deep ? track.name : nameOf(track, files), group, inside: deep, pinned: false, closed, y: layout.height, height,
			children: group ? (inside.get(track.id) ?? []).map(child => child.id) : [] });
		layout.height += height;
	};
	const walk = (track: Track, deep: boolean, open: boolean) => {
		if (!shown(track))
			return;
		layout.shown.push(track.id);
		const group = isGroup(track);
		const opened = open && !state.closed.includes(track.id);
		if (open)
			place(track, group, deep);
		// A process may have slices of its own.
		if (opened && group && rowsOf(track) > 0)
			place(track, false, true);
		(inside.get(track.id) ?? []).forEach(child => walk(child, true, opened));
	};
	(inside.get(null) ?? []).forEach(track => walk(track, false, true));
	layout.bare = leaveBare ? tracks.filter(track => track.kind !== "process" && bare(track)).length : 0;
	for (const id of state.pins) {
		const track = tracks[id];
		if (!track)
			continue;
		const height = heightOf(track, false, state.closed.includes(id));
		layout.pinned.push({ track, name: titleOf(track, tracks), group: false, inside: false, pinned: true, closed: state.closed.includes(id), children: [],
			y: layout.pinnedHeight, height });
		layout.pinnedHeight += height;
	}
	return layout;
}
