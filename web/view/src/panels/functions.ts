// functions.ts - where the time of a selection went: a row for each function; callers and callees of one.
// SPDX-License-Identifier: Apache-2.0
import type { Frame, Function, Near, Stretch } from "../api";
import { commandOf } from "../command";
import { button, make, table, type Column } from "../dom";
import { count, share, time, type Unit } from "../format";
import { plain } from "../timeline/text";
import { asked, copyButton, failed, quiet, watched, type Context, type Panel } from "./context";

const WIDEST = 16384; // pixels, and
const MOST = 4096; // tracks: the most that a window may have
const LOOKED_INTO = 8; // entries
const SHOWN = 500; // rows; the command prints all

interface Edge {
	name: string;
	count: number;
	total: number;
}

/** Who calls a function, and what it calls, of a tree of frames. */
export function around(frames: Frame[], name: string): { callers: Edge[]; callees: Edge[] } {
	const callers = new Map<string, Edge>();
	const callees = new Map<string, Edge>();
	const add = (edges: Map<string, Edge>, key: string, frame: Frame) => {
		const edge = edges.get(key) ?? { name: key, count: 0, total: 0 };
		edges.set(key, { name: key, count: edge.count + frame.count, total: edge.total + frame.total });
	};
	const stack: Frame[] = [];
	for (const frame of frames) {
		stack.length = frame.depth;
		const parent = stack[frame.depth - 1];
		stack.push(frame);
		if (frame.name === name && frame.depth > 0)
			add(callers, parent && parent.depth > 0 ? parent.name : "(nobody)", frame);
		if (parent && parent.depth > 0 && parent.name === name)
			add(callees, frame.name, frame);
	}
	const most = (edges: Map<string, Edge>) => [...edges.values()].sort((a, b) => b.total - a.total);
	return { callers: most(callers), callees: most(callees) };
}

function columnsOf(unit: Unit, whole: number): Column<Function>[] {
	const of = (name: string, take: (row: Function) => number): Column<Function> =>
		({ name, number: true, text: row => time(take(row), unit), value: take });
	const ofEnded = (name: string, take: (row: Function) => number): Column<Function> =>
		({ name, number: true, text: row => (row.ended ? time(take(row), unit) : "-"), value: row => (row.ended ? take(row) : -1) });
	return [
		{ name: "function", text: row => plain(row.name), value: row => row.name },
		{ name: "count", number: true, text: row => count(row.count), value: row => row.count },
		of("total", row => row.total),
		of("self", row => row.self),
		{ name: "self %", number: true, text: row => share(row.self, whole), value: row => row.self },
		ofEnded("min", row => row.min),
		ofEnded("median", row => row.p50),
		ofEnded("90 %", row => row.p90),
		ofEnded("99 %", row => row.p99),
		ofEnded("max", row => row.max),
	];
}

/** Says what a question is about. */
export function about(context: Context): HTMLElement {
	const { stretch, tracks, selected } = asked(context);
	const { unit, timeless } = context.trace();
	const where = tracks.length === 0 ? "all tracks" : tracks.length === 1 ? context.timeline.title(tracks[0]!)
		: `${tracks.length} tracks`;
	if (timeless)
		return quiet(`All ${unit === "samples" ? "samples" : "calls"}: they have no times; ${where}`);
	return quiet(`${selected ? "Selected" : "In sight"}: ${time(stretch.to - stretch.from, unit)} from ` +
		`${time(stretch.from, unit)}, ${where}`);
}

export class Functions implements Panel {
	readonly title = "Functions";

	constructor(private readonly context: Context) { }

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks, selected } = asked(context);
		box.append(about(context));
		const tools = make("div", { class: "row" },
			copyButton(context, "Copy command", () => commandOf("stat", context.trace(), stretch, tracks), "Command"));
		if (context.server.live)
			tools.append(copyButton(context, "Copy command for a file", () =>
				commandOf("view", context.trace(), stretch, [], ["--export", "view.html"]), "The command that writes this as a page of its own"));
		if (selected)
			tools.append(button("Zoom to selection", () => context.timeline.show(stretch)),
				button("Clear selection", () => context.store.set({ selection: null, tracks: [] })));
		box.append(tools);
		try {
			const rows = await watched(context, box, signal, (question, stop) =>
				context.server.functions(stretch, tracks.length ? tracks : null, stop, question));
			if (signal.aborted)
				return;
			this.fill(box, rows);
		} catch (error) {
			failed(box, error);
		}
	}

	private fill(box: HTMLElement, rows: Function[]): void {
		if (!rows.length) {
			box.append(quiet("No function ran here."));
			return;
		}
		const whole = rows.reduce((sum, row) => sum + row.self, 0);
		const one = make("div");
		box.append(one, table("Functions", columnsOf(this.context.trace().unit, whole),
			rows.slice().sort((a, b) => b.self - a.self).slice(0, SHOWN), row => void this.one(one, row)));
		if (rows.length > SHOWN)
			box.append(quiet(`${count(rows.length - SHOWN)} more functions: the command prints all.`));
	}

	/** The longest call of a function in a stretch, and entries in which several slices are told as one, the longest of that name. */
	private async longest(row: Function, stretch: Stretch, tracks: number[], exact: boolean): Promise<{ best: Near | null; joined: Near[] }> {
		const { server } = this.context;
		const window = await server.window(stretch, WIDEST, tracks, undefined, exact).catch(() => null);
		const length = (each: Near) => Math.min(each.end, stretch.to) - Math.max(each.begin, stretch.from);
		let best: Near | null = null;
		const joined: Near[] = [];
		for (const of of window?.rows ?? []) {
			if (of.kind !== "slices")
				continue;
			const { begin, end, item, name, count, track, lane, depth } = of;
			for (let i = 0; i < begin.length; i++) {
				const each = { track, lane, depth, item: item[i]!, begin: begin[i]!, end: end[i]! };
				if (server.names[name[i]!] !== row.name || length(each) < row.max)
					continue;
				if (count[i] !== 1)
					joined.push(each);
				else if (!best || length(each) > length(best))
					best = each;
			}
		}
		return { best, joined };
	}

	/** Opens the slowest call. Where it is told as one with others, these are asked for by themselves. */
	private async slowest(row: Function): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context);
		const all = context.trace().list.filter(track => track.lanes.length > 0 && track.kind !== "counter").map(track => track.id);
		const { best, joined } = await this.longest(row, stretch, (tracks.length ? tracks : all).slice(0, MOST), false);
		let found = best;
		for (const each of found ? [] : joined.slice(0, LOOKED_INTO))
			found ??= (await this.longest(row, { from: each.begin, to: each.end }, [each.track], true)).best;
		if (found)
			context.open(found, { from: found.begin, to: found.end });
		else
			context.say("Its calls are too short to be told apart here: select less");
	}

	/** One function between those that call it and those that it calls. */
	private async one(box: HTMLElement, row: Function): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context);
		try {
			const frames = await context.server.flame(stretch, tracks.length ? tracks : null);
			const { callers, callees } = around(frames, row.name);
			const columns: Column<Edge>[] = [
				{ name: "function", text: edge => plain(edge.name), value: edge => edge.name },
				{ name: "count", number: true, text: edge => count(edge.count), value: edge => edge.count },
				{ name: "total", number: true, text: edge => time(edge.total, context.trace().unit), value: edge => edge.total },
			];
			box.replaceChildren(make("h2", { class: "slice-name" }, plain(row.name)),
				make("div", { class: "row" }, button("Slowest call", () => void this.slowest(row)),
					button("Callers as a flame graph", () => context.store.set({ function: row.name, tab: "callers" })),
					button("Find in the timeline", () => context.find(row.name)),
					button("Back to all", () => box.replaceChildren())),
				make("div", { class: "columns" },
					make("div", {}, make("h3", {}, "Called by"), table("Callers", columns, callers)),
					make("div", {}, make("h3", {}, "Calls"), callees.length ? table("Callees", columns, callees) : quiet("nothing"))),
				make("h3", {}, "All functions"));
			box.scrollIntoView({ block: "start" });
		} catch (error) {
			failed(box, error);
		}
	}
}
