// functions.ts - where the time of a selection went: a row for each function; callers and callees of one.
// SPDX-License-Identifier: Apache-2.0
import type { Frame, Function, Kind } from "../api";
import { commandOf } from "../command";
import { button, make, table, type Column } from "../dom";
import { amount, count, share, time, titled, type Unit } from "../format";
import { plain } from "../timeline/text";
import { slowestCall } from "./calls";
import { asked, copyButton, failed, quiet, saysNone, watched, weighedBy, type Context, type Panel } from "./context";

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
		({ name: titled(name, unit), number: true, text: row => amount(take(row), unit), value: take });
	const ofEnded = (name: string, take: (row: Function) => number): Column<Function> =>
		({ name, number: true, text: row => (row.ended ? amount(take(row), unit) : "-"), value: row => (row.ended ? take(row) : -1) });
	const calls: Column<Function> = { name: "count", number: true, text: row => count(row.count), value: row => row.count };
	const ofCalls = [ofEnded("min", row => row.min), ofEnded("median", row => row.p50), ofEnded("90 %", row => row.p90),
		ofEnded("99 %", row => row.p99), ofEnded("max", row => row.max)];
	const sampled = unit === "samples"; // of which none is a call
	return [
		{ name: "function", text: row => plain(row.name), value: row => row.name },
		...sampled ? [] : [calls],
		of("total", row => row.total),
		of("self", row => row.self),
		{ name: "self %", number: true, text: row => share(row.self, whole), value: row => row.self },
		...sampled ? [] : ofCalls,
	];
}

/** Says what a question is about. */
export function about(context: Context, kind: Kind = "thread"): HTMLElement {
	const { stretch, tracks, selected, filtered } = asked(context, kind);
	const { unit, timeless } = context.trace();
	const where = !tracks.length ? `all ${kind}s` : tracks.length === 1 ? context.timeline.title(tracks[0]!)
		: filtered ? `all shown ${kind}s` : `${tracks.length} ${kind}s`;
	if (timeless)
		return quiet(`All ${unit === "samples" ? "samples" : "calls"}: they have no times; ${where}`);
	return quiet(`${selected ? "Selected" : "Visible"}: ${time(stretch.to - stretch.from, unit)} from ` +
		`${time(stretch.from, unit)}, ${where}`);
}

export class Functions implements Panel {
	readonly title = "Functions";
	/** The name of the function between its callers and callees; null: there is none. */
	private chosen: string | null = null;
	/** Ends what is asked about it. */
	private looking = new AbortController();

	constructor(private readonly context: Context) { }

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks, selected } = asked(context);
		if (saysNone(context, box))
			return;
		box.append(about(context));
		const tools = make("div", { class: "row" },
			copyButton(context, "Copy command", () => commandOf("stat", context.trace(), stretch, tracks), "Command"));
		if (context.server.live)
			tools.append(button("Copy export command", () => void context.copyExport(),
				{ title: "The trackway view --export command that writes this page as a file" }));
		if (selected)
			tools.append(button("Zoom to selection", () => context.timeline.show(stretch)),
				button("Clear selection", () => context.store.set({ selection: null, tracks: [] })));
		box.append(tools);
		try {
			const rows = await watched(context, box, signal, (question, stop) =>
				context.server.functions(stretch, tracks.length ? tracks : null, stop, question));
			if (signal.aborted)
				return;
			this.fill(box, rows, signal);
		} catch (error) {
			failed(box, error);
		}
	}

	private fill(box: HTMLElement, rows: Function[], signal: AbortSignal): void {
		if (!rows.length) {
			box.append(quiet("No function was called in this time range."));
			return;
		}
		const whole = rows.reduce((sum, row) => sum + row.self, 0);
		const one = make("div");
		box.append(one, table("Functions", columnsOf(weighedBy(this.context), whole),
			rows.slice().sort((a, b) => b.self - a.self).slice(0, SHOWN), row => {
				this.one(one, row, signal);
				one.scrollIntoView({ block: "start" });
			}));
		const chosen = rows.find(({ name }) => name === this.chosen);
		if (chosen)
			this.one(one, chosen, signal);
		if (rows.length > SHOWN)
			box.append(quiet(`${count(rows.length - SHOWN)} more functions: the command prints all.`));
	}

	/** A button that tells the slowest call, and where it is once that is known, and goes there. */
	private slowest(row: Function, signal: AbortSignal): HTMLButtonElement {
		const { context } = this;
		const { unit } = context.trace();
		const words = `Slowest call: ${time(row.max, unit)}`;
		const found = slowestCall(context, row, signal).catch(() => null);
		const go = button(words, () => void found.then(near => (near ? context.open(near, { from: near.begin, to: near.end })
			: context.say("The calls are too short to be told apart here: select less"))));
		void found.then(near => near && go.replaceChildren(`${words} on ${context.timeline.title(near.track)}, at ${time(near.begin, unit)}`));
		return go;
	}

	/** One function: its slowest call at once, and who calls it and what it calls as soon as that has been read. */
	private one(box: HTMLElement, row: Function, signal: AbortSignal): void {
		const { context } = this;
		this.looking.abort();
		const { signal: own } = this.looking = new AbortController();
		signal.addEventListener("abort", () => this.looking.abort());
		this.chosen = row.name;
		const around = make("div");
		box.replaceChildren(make("h2", { class: "slice-name" }, plain(row.name)),
			make("div", { class: "row" }, ...row.ended && !context.trace().timeless && weighedBy(context) !== "samples" ? [this.slowest(row, own)] : [],
				button("Find in the timeline", () => context.find(row.name)),
				button("Callers and callees as flame graphs", () => context.store.set({ function: row.name, tab: "callers" })),
				button("Close", () => {
					this.looking.abort();
					this.chosen = null;
					box.replaceChildren();
				})),
			around, make("h3", {}, "All functions"));
		void this.fillAround(around, row.name, own);
	}

	private async fillAround(box: HTMLElement, name: string, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context);
		try {
			const frames = await watched(context, box, signal, (question, stop) =>
				context.server.flame(stretch, tracks.length ? tracks : null, stop, question));
			const unit = weighedBy(context);
			const { callers, callees } = around(frames, name);
			const columns: Column<Edge>[] = [
				{ name: "function", text: edge => plain(edge.name), value: edge => edge.name },
				...unit === "samples" ? [] : [{ name: "count", number: true, text: (edge: Edge) => count(edge.count), value: (edge: Edge) => edge.count }],
				{ name: titled("total", unit), number: true, text: edge => amount(edge.total, unit), value: edge => edge.total },
			];
			box.append(make("div", { class: "columns" },
				make("div", {}, make("h3", {}, "Called by"), table("Callers", columns, callers)),
				make("div", {}, make("h3", {}, "Calls"), callees.length ? table("Callees", columns, callees) : quiet("nothing"))));
		} catch (error) {
			if (!signal.aborted)
				failed(box, error);
		}
	}
}
