// details.ts - all that is known of one slice.
// SPDX-License-Identifier: Apache-2.0
import { Refusal, same, type Caller, type Deep, type Flow, type FlowEnd, type Place, type Slice } from "../api";
import { dumpCommand } from "../command";
import { button, make, pairs, table } from "../dom";
import { count, exactTime, time } from "../format";
import { plain } from "../timeline/text";
import { copyButton, early, failed, OFTEN, quiet, unlessEarly, watched, type Context, type Panel } from "./context";

/** The time of day at a time of the trace, to the nanosecond. */
export function wallClock(wall: bigint, ns: number): string {
	const at = wall + BigInt(Math.round(ns));
	const whole = new Date(Number(at / 1000000000n) * 1000);
	const rest = (at % 1000000000n).toString().padStart(9, "0");
	return whole.toISOString().replace("T", " ").replace(/\.000Z$/, `.${rest} UTC`);
}

export class Details implements Panel {
	readonly title = "Details";
	/** What has been read of the slice that was chosen last. */
	private deep: { of: Place; found: Deep } | null = null;

	constructor(private readonly context: Context) {
		context.store.listen(changed => {
			const { slice } = context.store.state;
			if (changed.has("slice") && this.deep && (!slice || !same(slice, this.deep.of)))
				this.forget();
		});
	}

	private forget(): void {
		this.deep = null;
		this.context.timeline.arrows.choose([]);
	}

	/** The slice, once it is known; null where nobody waits any more. */
	private async known(slice: Place, box: HTMLElement, signal: AbortSignal): Promise<Slice | null> {
		let line: HTMLElement | null = null;
		try {
			for (;;) {
				const found = await this.context.server.slice(slice).catch((error: unknown) => {
					if (signal.aborted || !early(error))
						throw error;
					return null;
				});
				if (found || signal.aborted)
					return found;
				if (!line)
					box.append(line = make("p", { class: "quiet", role: "status" },
						"The file is still being read. The details of this slice appear as soon as it has been."));
				await new Promise(over => setTimeout(over, OFTEN));
			}
		} finally {
			(line as HTMLElement | null)?.remove();
		}
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { slice } = this.context.store.state;
		if (!slice) {
			box.append(quiet("Click a slice, or press an arrow key in the timeline, to see its details here."));
			return;
		}
		try {
			const found = await this.known(slice, box, signal);
			if (found && !signal.aborted)
				await this.fill(box, found, signal);
		} catch (error) {
			if (!signal.aborted)
				failed(box, error);
		}
	}

	/** Goes to where a flow of the chosen slice comes from, or goes on. */
	async follow(direction: "in" | "out"): Promise<void> {
		const { context } = this;
		const { slice } = context.store.state;
		if (!slice) {
			context.say("Choose a slice first");
			return;
		}
		const deep = await this.read(slice).catch(() => null);
		const end = direction === "in" ? deep?.flowsIn[0]?.from : deep?.flowsOut[0]?.to;
		if (end)
			this.openEnd(end);
		else
			context.say(direction === "in" ? "No incoming flow" : "No outgoing flow");
	}

	private async read(slice: Place, box: HTMLElement | null = null, signal = new AbortController().signal): Promise<Deep | null> {
		if (this.deep && same(this.deep.of, slice))
			return this.deep.found;
		const { server } = this.context;
		const found = box ? await watched(this.context, box, signal, (question, stop) => server.details(slice, stop, question))
			: await server.details(slice, signal);
		const now = this.context.store.state.slice;
		if (found && now && same(now, slice)) {
			this.deep = { of: slice, found };
			this.context.timeline.arrows.choose([...found.flowsIn, ...found.flowsOut]);
		}
		return found;
	}

	private openEnd(end: FlowEnd): void {
		const { context } = this;
		if (end.place)
			context.open(end.place, { from: end.time, to: end.time + 1 });
		else
			context.timeline.show({ from: end.time - 1000, to: end.time + 1000 });
	}

	private rows(slice: Slice): [string, string][] {
		const trace = this.context.trace();
		const { unit, wall } = trace;
		const rows: [string, string][] = [
			["duration", exactTime(slice.duration, unit)],
			["begins", exactTime(slice.begin, unit)],
			["ends", exactTime(slice.end, unit)],
			["track", this.context.timeline.title(slice.track)],
		];
		if (wall !== null && unit === "ns")
			rows.push(["time of day", wallClock(wall, slice.begin)]);
		if (slice.category)
			rows.push(["category", plain(slice.category)]);
		if (slice.source)
			rows.push(["source", plain(`${slice.source.file}:${slice.source.line}`)]);
		const file = trace.files[slice.file];
		if (file && trace.files.length > 1)
			rows.push(["file", plain(file.path)]);
		if (slice.offset !== null)
			rows.push(["record at", `${slice.offset} (0x${BigInt(slice.offset).toString(16)})`]);
		return rows;
	}

	/** All of it as lines. */
	private text(slice: Slice, rows: [string, string][]): string {
		const deep = this.deep && same(this.deep.of, slice) ? this.deep.found : null;
		const stack = deep?.stack.map(frame => `  ${frame.name}${frame.file ? ` (${frame.file}:${frame.line})` : ""}`) ?? [];
		return [slice.name, ...rows.map(([name, value]) => `${name}: ${value}`),
			...deep?.arguments.map(({ name, value }) => `${name}: ${value ?? "null"}`) ?? [],
			...slice.callers.map(caller => `called by ${caller.name}`), ...stack.length ? ["stack:", ...stack] : []].join("\n");
	}

	private async fill(box: HTMLElement, slice: Slice, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const all = this.rows(slice);
		const command = () => dumpCommand(context.trace(), slice.file, { from: slice.begin, to: slice.end + 1 }, [slice.track]);
		const tools = make("div", { class: "row" },
			button("Zoom to slice", () => context.timeline.show({ from: slice.begin - slice.duration * 0.05,
				to: slice.end + slice.duration * 0.05 })),
			button("Previous of this name", () => void this.other(slice, "previous")),
			button("Next of this name", () => void this.other(slice, "next")),
			button("Highlight all of this name", () => context.store.set({ query: slice.name })),
			button("Callers and callees", () => context.store.set({ function: slice.name, tab: "callers" })),
			button("Copy as text", () => void navigator.clipboard.writeText(this.text(slice, all)).then(() => context.say("Details copied"),
				() => context.say("The browser does not let the page copy"))),
			copyButton(context, "Copy command", command, "Command"));
		const left = make("div", {}, pairs(all));
		const middle = make("div");
		const right = make("div");
		if (slice.callers.length)
			right.append(make("h3", {}, "Called by, innermost first"), this.related("Callers", slice, slice.callers));
		if (slice.children.length)
			right.append(make("h3", {}, "Calls"), this.related("Children", slice, slice.children));
		if (slice.childCount > slice.children.length)
			right.append(quiet(`${count(slice.childCount - slice.children.length)} more.`));
		box.append(make("h2", { class: "slice-name" }, plain(slice.name)), tools, make("div", { class: "columns" }, left, middle, right));
		const deep = await this.read(slice, middle, signal).catch((error: unknown) => {
			// A server without the tables of SQL has none of this.
			if (!signal.aborted && !(error instanceof Refusal && (error.status === 404 || error.status === 501)))
				failed(middle, error);
			return null;
		});
		if (deep && !signal.aborted)
			this.fillDeep(middle, deep);
	}

	private fillDeep(box: HTMLElement, deep: Deep): void {
		if (deep.arguments.length)
			box.append(make("h3", {}, "Arguments"), table("Arguments", [
				{ name: "name", text: row => plain(row.name) },
				{ name: "value", text: row => plain(row.value ?? "null") },
				{ name: "type", text: row => row.type },
			], deep.arguments));
		if (deep.stack.length)
			box.append(make("h3", {}, "Stack, innermost first"), table("Stack", [
				{ name: "function", text: row => plain(row.name) },
				{ name: "source", text: row => (row.file ? plain(`${row.file}:${row.line}`) : "") },
			], deep.stack));
		this.flows(box, "Incoming flows", deep.flowsIn, flow => flow.from);
		this.flows(box, "Outgoing flows", deep.flowsOut, flow => flow.to);
		if (deep.more)
			box.append(quiet("There are more flows: trackway sql has all, in the table flow."));
	}

	private flows(box: HTMLElement, title: string, flows: Flow[], end: (flow: Flow) => FlowEnd): void {
		if (!flows.length)
			return;
		const { unit } = this.context.trace();
		box.append(make("h3", {}, title), table<Flow>(title, [
			{ name: "flow", text: flow => plain(flow.name || flow.id) },
			{ name: "track", text: flow => this.context.timeline.title(end(flow).track) },
			{ name: "at", number: true, text: flow => time(end(flow).time, unit) },
		], flows, flow => this.openEnd(end(flow))));
	}

	private related(title: string, slice: Slice, rows: Caller[]): HTMLElement {
		const { unit } = this.context.trace();
		return table(title, [
			{ name: "name", text: row => plain(row.name) },
			{ name: "duration", number: true, text: row => time(row.duration, unit) },
		], rows, row => this.context.open({ track: slice.track, lane: slice.lane, depth: row.depth, item: row.item },
			{ from: row.begin, to: row.begin + row.duration }));
	}

	private async other(slice: Slice, direction: "next" | "previous"): Promise<void> {
		const near = await unlessEarly(this.context, this.context.server.occurrence(slice.name, slice.begin, direction, null, slice));
		if (near === "early")
			return;
		if (near)
			this.context.open(near, { from: near.begin, to: near.end });
		else
			this.context.say(direction === "next" ? "This is the last of its name" : "This is the first of its name");
	}
}
