// state.ts - what is shown. It is kept in the address's fragment, so that a link shows the same.
// SPDX-License-Identifier: Apache-2.0
import type { Place, Stretch, Track } from "./api";
import { sliceName, soughtOf, trackName, trackOf, type Told } from "./link";

export const TABS = ["details", "functions", "flame", "callers", "counters", "states", "compare", "search", "sql", "table", "trace"] as const;
export type Tab = typeof TABS[number];

export interface Missing {
	slice: string;
	of: string[];
	pin: string[];
	hide: string[];
	closed: string[];
}

export const NONE_MISSING: Missing = { slice: "", of: [], pin: [], hide: [], closed: [] };

export interface State {
	view: Stretch;
	selection: Stretch | null;
	/** The tracks that the selection is of; empty: all. */
	tracks: number[];
	slice: Place | null;
	/** What a link says of it; null: it is not known yet. */
	told: Told | null;
	/** What the address names and the trace does not have, or not yet. */
	missing: Missing;
	pins: number[];
	hidden: number[];
	closed: number[];
	/** Whether tracks are shown that have nothing. */
	bare: boolean;
	/** Whether the axis has the time of day. */
	clock: boolean;
	marks: number[];
	/** When each file begins, where one was moved; empty: as the command had them. */
	starts: number[];
	filter: string;
	query: string;
	/** The function whose callers are shown; empty: the chosen slice's. */
	function: string;
	/** A question in SQL, and one whose rows are a track. */
	sql: string;
	strip: string;
	/** Whether flows are drawn, all that are in sight. */
	arrows: boolean;
	tab: Tab | null;
}

export const NOTHING: State = { view: { from: 0, to: 1 }, selection: null, tracks: [], slice: null, told: null, missing: NONE_MISSING, pins: [], hidden: [],
	closed: [], bare: false, clock: false, marks: [], starts: [], filter: "", query: "", function: "", sql: "", strip: "",
	arrows: false, tab: null };

const LEAST_SPAN = 20; // ns that fill the picture
const MARGIN = 1.2; // of the trace that may be in sight

const numbers = (list: number[]) => list.join(",");
const stretch = ({ from, to }: Stretch) => `${Math.max(0, Math.round(from))}-${Math.max(0, Math.round(to))}`;

/** Tracks as a link names them, and those that it named and the trace lacks. */
function named(ids: number[], missing: string[], tracks: Track[]): string {
	return [...ids.map(id => trackName(id, tracks)), ...missing].join(",");
}

function sliceWord({ slice, told, missing }: State, tracks: Track[]): string {
	if (!slice)
		return missing.slice;
	return told ? sliceName(trackName(slice.track, tracks), slice.depth, told) : [slice.track, slice.lane, slice.depth, slice.item].join(".");
}

/** The state as a fragment, of the tracks that the trace has: what is as at first is left out. */
export function write(state: State, tracks: Track[]): string {
	const { missing } = state;
	const parts: [string, string][] = [
		["t", stretch(state.view)],
		["sel", state.selection ? stretch(state.selection) : ""],
		["of", named(state.tracks, missing.of, tracks)],
		["slice", sliceWord(state, tracks)],
		["pin", named(state.pins, missing.pin, tracks)],
		["hide", named(state.hidden, missing.hide, tracks)],
		["closed", named(state.closed, missing.closed, tracks)],
		["bare", state.bare ? "1" : ""],
		["clock", state.clock ? "1" : ""],
		["marks", numbers(state.marks.map(Math.round))],
		["starts", numbers(state.starts)],
		["filter", state.filter],
		["q", state.query],
		["fn", state.function],
		["sql", state.sql],
		["strip", state.strip],
		["flows", state.arrows ? "1" : ""],
		["tab", state.tab ?? ""],
	];
	// These may stand in a fragment as they are, and are easier to read.
	const kept = parts.filter(([, value]) => value !== "")
		.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%20", "+").replaceAll("%3A", ":")
			.replaceAll("%40", "@")}`);
	return kept.join("&");
}

function list(text: string | null): number[] {
	return (text ?? "").split(",").filter(Boolean).map(Number).filter(number => Number.isFinite(number) && number >= 0);
}

function stretchOf(text: string | null): Stretch | null {
	const [from, to] = (text ?? "").split("-").map(Number);
	return from !== undefined && to !== undefined && from >= 0 && to > from && Number.isFinite(to) ? { from, to } : null;
}

function placeOf(text: string | null): Place | null {
	const [track, lane, depth, item, ...more] = (text ?? "").split(".").map(Number);
	if (more.length || [track, lane, depth, item].some(number => !Number.isInteger(number) || number! < 0))
		return null;
	return { track: track!, lane: lane!, depth: depth!, item: item! };
}

interface TrackList {
	ids: number[];
	missing: string[];
}

function tracksOf(text: string | null, tracks: Track[]): TrackList {
	const found: TrackList = { ids: [], missing: [] };
	for (const word of (text ?? "").split(",").filter(Boolean)) {
		const id = trackOf(word, tracks);
		if (id === "unknown")
			found.missing.push(word);
		else if (id !== null && !found.ids.includes(id))
			found.ids.push(id);
	}
	return found;
}

/** What was missing, once the trace has these tracks; null: nothing more is known. */
export function found({ missing, tracks: of, pins, hidden, closed }: State, tracks: Track[]): Partial<State> | null {
	const [ofs, pin, hide, close] = ([missing.of, missing.pin, missing.hide, missing.closed] as const)
		.map(words => tracksOf(words.join(), tracks)) as [TrackList, TrackList, TrackList, TrackList];
	if (![ofs, pin, hide, close].some(list => list.ids.length))
		return null;
	return { missing: { slice: missing.slice, of: ofs.missing, pin: pin.missing, hide: hide.missing, closed: close.missing },
		tracks: [...of, ...ofs.ids], pins: [...pins, ...pin.ids], hidden: [...hidden, ...hide.ids], closed: [...closed, ...close.ids] };
}

/** A view of a link: where it is one that hands do not come to, it ends with the trace; all is shown where nothing else is left. */
export function within(view: Stretch, end: number, whole: Stretch): Stretch {
	if (view.from >= end)
		return whole;
	const least = Math.min(LEAST_SPAN, whole.to);
	const far = (view.from + view.to) / 2 > end || view.to - view.from > end * MARGIN;
	const to = far ? end : view.to;
	const from = Math.max(0, Math.min(view.from, to - least));
	return from === view.from && to === view.to ? view : { from, to: Math.max(to, from + least) };
}

/** Reads a fragment, of a trace with these tracks; what it does not say, or says wrongly, is as in `otherwise`. */
export function read(fragment: string, otherwise: State, tracks: Track[]): State {
	const said = new URLSearchParams(fragment.replace(/^#/, ""));
	const tab = said.get("tab");
	const slice = said.get("slice");
	const [of, pin, hide, closed] = ["of", "pin", "hide", "closed"].map(key => tracksOf(said.get(key), tracks)) as [TrackList, TrackList, TrackList, TrackList];
	return {
		view: stretchOf(said.get("t")) ?? otherwise.view,
		selection: stretchOf(said.get("sel")),
		tracks: of.ids,
		slice: placeOf(slice),
		told: null,
		missing: { slice: slice && soughtOf(slice) ? slice : "", of: of.missing, pin: pin.missing, hide: hide.missing, closed: closed.missing },
		pins: pin.ids,
		hidden: hide.ids,
		closed: closed.ids,
		bare: said.get("bare") === "1",
		clock: said.get("clock") === "1",
		marks: list(said.get("marks")),
		starts: list(said.get("starts")),
		filter: said.get("filter") ?? "",
		query: said.get("q") ?? "",
		function: said.get("fn") ?? "",
		sql: said.get("sql") ?? "",
		strip: said.get("strip") ?? "",
		arrows: said.get("flows") === "1",
		tab: TABS.find(each => each === tab) ?? null,
	};
}

/** Whether the address says what is in sight. */
export function saysView(): boolean {
	return /[#&]t=/.test(location.hash);
}

type Change = Partial<State>;
type Listener = (changed: ReadonlySet<keyof State>) => void;

/** What the address is about, as far as it is known. */
export interface About {
	/** What is shown where the address does not say it; a trace that grows has more. */
	first(): State;
	tracks(): Track[];
	/** What of a view the trace has. */
	fit(view: Stretch): Stretch;
}

const REST = 500; // ms without a change, after which back leads to where it stands

/** The one state of the page; whoever draws from it is told what has changed. */
export class Store {
	state: State;
	private readonly listeners: Listener[] = [];
	private timer = 0;

	constructor(private readonly about: About) {
		this.state = this.read();
		addEventListener("hashchange", () => this.take()); // also for back and forward, which lead to another fragment
	}

	private read(): State {
		const state = read(location.hash, this.about.first(), this.about.tracks());
		return { ...state, view: this.about.fit(state.view) };
	}

	/** The state as the address has it. */
	private get fragment(): string {
		return "#" + write(this.state, this.about.tracks());
	}

	listen(listener: Listener): void {
		this.listeners.push(listener);
	}

	set(change: Change): void {
		const changed = new Set(Object.keys(change) as (keyof State)[]);
		// Who chooses a slice wants no other that an address has named.
		const other = change.slice === undefined || change.told !== undefined ? {} : { told: null, missing: { ...this.state.missing, slice: "" } };
		this.state = { ...this.state, ...other, ...change };
		for (const listener of this.listeners)
			listener(changed);
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.keep(), REST);
	}

	/** Says what is known of the chosen slice now: the address is that of the same. */
	learn(told: Told): void {
		const same = location.hash === this.fragment;
		this.state = { ...this.state, told };
		if (same)
			history.replaceState(null, "", this.fragment);
	}

	/** Puts the state into the address now. */
	keep(): void {
		clearTimeout(this.timer);
		const { fragment } = this;
		if (fragment !== location.hash)
			history.pushState(null, "", fragment);
	}

	private take(): void {
		if (location.hash === this.fragment)
			return;
		clearTimeout(this.timer);
		this.state = this.read();
		const changed = new Set(Object.keys(this.state) as (keyof State)[]);
		for (const listener of this.listeners)
			listener(changed);
	}
}
