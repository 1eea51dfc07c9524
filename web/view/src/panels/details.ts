// details.ts - all that is known of one slice.
// SPDX-License-Identifier: Apache-2.0
import type { Slice } from "../api";
import { commandOf } from "../command";
import { button, make, pairs, table } from "../dom";
import { time } from "../format";
import { plain } from "../timeline/text";
import { copyButton, failed, quiet, type Context, type Panel } from "./context";

/** The time of day at a time of the trace, to the nanosecond. */
export function wallClock(wall: bigint, ns: number): string {
	const at = wall + BigInt(Math.round(ns));
	const whole = new Date(Number(at / 1000000000n) * 1000);
	const rest = (at % 1000000000n).toString().padStart(9, "0");
	return whole.toISOString().replace("T", " ").replace(/\.000Z$/, `.${rest} UTC`);
}

export class Details implements Panel {
	readonly title = "Details";

	constructor(private readonly context: Context) { }

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { slice } = this.context.store.state;
		if (!slice) {
			box.append(quiet("Click a slice, or press an arrow key in the timeline, to see its details here."));
			return;
		}
		try {
			const found = await this.context.server.slice(slice);
			if (signal.aborted)
				return;
			this.fill(box, found);
		} catch (error) {
			failed(box, error);
		}
	}

	private rows(slice: Slice): [string, string][] {
		const trace = this.context.trace();
		const { unit, wall } = trace;
		const rows: [string, string][] = [
			["duration", time(slice.duration, unit)],
			["begins", time(slice.begin, unit)],
			["ends", time(slice.end, unit)],
			["on", this.context.timeline.title(slice.track)],
		];
		if (wall !== null && unit === "ns")
			rows.push(["time of day", wallClock(wall, slice.begin)]);
		if (slice.category)
			rows.push(["category", plain(slice.category)]);
		const file = trace.files[slice.file];
		if (file && trace.files.length > 1)
			rows.push(["file", plain(file.path)]);
		if (slice.offset !== null)
			rows.push(["record at", `${slice.offset} (0x${BigInt(slice.offset).toString(16)})`]);
		return rows;
	}

	private fill(box: HTMLElement, slice: Slice): void {
		const { context } = this;
		const all = this.rows(slice);
		const text = () => [slice.name, ...all.map(([name, value]) => `${name}: ${value}`)].join("\n");
		const command = () => commandOf("dump", context.trace(), { from: slice.begin, to: slice.end + 1 }, [slice.track]);
		const tools = make("div", { class: "row" },
			button("Zoom to it", () => context.timeline.show({ from: slice.begin - slice.duration * 0.05,
				to: slice.end + slice.duration * 0.05 })),
			button("Previous of this name", () => void this.other(slice, "previous")),
			button("Next of this name", () => void this.other(slice, "next")),
			copyButton(context, "Copy as text", text, "Details"),
			copyButton(context, "Copy command", command, "Command"));
		const left = make("div", {}, pairs(all));
		const right = make("div");
		if (slice.callers.length)
			right.append(make("h3", {}, "Called by, innermost first"), this.callers(slice));
		box.append(make("h2", { class: "slice-name" }, plain(slice.name)), tools, make("div", { class: "columns" }, left, right));
	}

	private callers(slice: Slice): HTMLElement {
		const { unit } = this.context.trace();
		return table("Callers", [
			{ name: "name", text: row => plain(row.name) },
			{ name: "duration", number: true, text: row => time(row.duration, unit) },
		], slice.callers, row => this.context.open({ track: slice.track, lane: slice.lane, depth: row.depth, item: row.item },
			{ from: row.begin, to: row.begin + row.duration }));
	}

	private async other(slice: Slice, direction: "next" | "previous"): Promise<void> {
		const near = await this.context.server.occurrence(slice.name, slice.begin, direction).catch(() => null);
		if (near)
			this.context.open(near, { from: near.begin, to: near.end });
		else
			this.context.say(direction === "next" ? "This is the last of its name" : "This is the first of its name");
	}
}
