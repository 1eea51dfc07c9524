// state.ts - what is shown. It is kept in the address's fragment, so that a link shows the same.
// SPDX-License-Identifier: Apache-2.0
import type { Place, Stretch } from "./api";

export const TABS = ["details", "functions", "flame", "callers", "counters", "states", "compare", "search", "sql", "table", "trace"] as const;
export type Tab = typeof TABS[number];

export interface State {
	view: Stretch;
	selection: Stretch | null;
	/** The tracks that the selection is of; empty: all. */
	tracks: number[];
	slice: Place | null;
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

export const NOTHING: State = { view: { from: 0, to: 1 }, selection: null, tracks: [], slice: null, pins: [], hidden: [],
	closed: [], bare: false, clock: false, marks: [], starts: [], filter: "", query: "", function: "", sql: "", strip: "",
	arrows: false, tab: null };

const numbers = (list: number[]) => list.join(",");
const stretch = ({ from, to }: Stretch) => `${Math.round(from)}-${Math.round(to)}`;

/** The state as a fragment: what is as at first is left out. */
export function write(state: State): string {
	const parts: [string, string][] = [
		["t", stretch(state.view)],
		["sel", state.selection ? stretch(state.selection) : ""],
		["of", numbers(state.tracks)],
		["slice", state.slice ? [state.slice.track, state.slice.lane, state.slice.depth, state.slice.item].join(".") : ""],
		["pin", numbers(state.pins)],
		["hide", numbers(state.hidden)],
		["closed", numbers(state.closed)],
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
	// Commas and points may stand in a fragment as they are, and are easier to read.
	const kept = parts.filter(([, value]) => value !== "")
		.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%20", "+")}`);
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

/** Reads a fragment; what it does not say, or says wrongly, is as in `otherwise`. */
export function read(fragment: string, otherwise: State): State {
	const said = new URLSearchParams(fragment.replace(/^#/, ""));
	const tab = said.get("tab");
	return {
		view: stretchOf(said.get("t")) ?? otherwise.view,
		selection: stretchOf(said.get("sel")),
		tracks: list(said.get("of")),
		slice: placeOf(said.get("slice")),
		pins: list(said.get("pin")),
		hidden: list(said.get("hide")),
		closed: list(said.get("closed")),
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

const REST = 500; // ms without a change, after which back leads to where it stands

/** The one state of the page; whoever draws from it is told what has changed. */
export class Store {
	state: State;
	private readonly listeners: Listener[] = [];
	private timer = 0;

	/** first: what is shown where the address does not say it; a trace that grows has more. */
	constructor(private readonly first: () => State) {
		this.state = read(location.hash, first());
		addEventListener("popstate", () => this.take());
		addEventListener("hashchange", () => this.take());
	}

	listen(listener: Listener): void {
		this.listeners.push(listener);
	}

	set(change: Change): void {
		const changed = new Set(Object.keys(change) as (keyof State)[]);
		this.state = { ...this.state, ...change };
		for (const listener of this.listeners)
			listener(changed);
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.keep(), REST);
	}

	/** Puts the state into the address now. */
	keep(): void {
		clearTimeout(this.timer);
		const fragment = "#" + write(this.state);
		if (fragment !== location.hash)
			history.pushState(null, "", fragment);
	}

	private take(): void {
		if (location.hash === "#" + write(this.state))
			return;
		clearTimeout(this.timer);
		this.state = read(location.hash, this.first());
		const changed = new Set(Object.keys(this.state) as (keyof State)[]);
		for (const listener of this.listeners)
			listener(changed);
	}
}
