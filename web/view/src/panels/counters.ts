// counters.ts - what counters were in a selection: least, most, mean over time, at its begin and at its end.
// SPDX-License-Identifier: Apache-2.0
import type { Stretch, Values } from "../api";
import { commandOf } from "../command";
import { make, table, type Column } from "../dom";
import { value } from "../format";
import { plain } from "../timeline/text";
import { asked, copyButton, failed, quiet, type Context, type Panel } from "./context";
import { about } from "./functions";

const WIDEST = 16384; // pixels
const MOST = 4096; // tracks of a window

export interface Summary {
	track: number;
	series: number;
	first: number;
	last: number;
	least: number;
	most: number;
	/** Over time. */
	mean: number;
}

/** What a series was in a stretch; null where it has no value there. */
export function summed(row: Values, { from, to }: Stretch): Summary | null {
	let found: Summary | null = null;
	let area = 0;
	let wide = 0;
	for (let i = 0; i < row.time.length && row.time[i]! < to; i++) {
		const next = Math.min(to, row.time[i + 1] ?? to);
		if (next <= from && i + 1 < row.time.length)
			continue;
		const last = row.last[i]!;
		const inside = row.time[i]! >= from;
		found ??= { track: row.track, series: row.lane, first: last, last, least: last, most: last, mean: last };
		found.last = last;
		found.least = Math.min(found.least, inside ? row.least[i]! : last);
		found.most = Math.max(found.most, inside ? row.most[i]! : last);
		const part = Math.max(0, next - Math.max(from, row.time[i]!));
		area += last * part;
		wide += part;
	}
	if (found && wide > 0)
		found.mean = area / wide;
	return found;
}

export class Counters implements Panel {
	readonly title = "Counters";

	constructor(private readonly context: Context) { }

	private all(): number[] {
		return this.context.trace().list.filter(track => track.kind === "counter").map(track => track.id);
	}

	useless(): boolean {
		return this.all().length === 0;
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context, "counter");
		box.append(about(context, "counter"));
		try {
			const window = await context.server.window(stretch, WIDEST, (tracks.length ? tracks : this.all()).slice(0, MOST), signal);
			if (signal.aborted)
				return;
			const rows = window.rows.flatMap(row => (row.kind === "values" ? summed(row, stretch) ?? [] : []));
			box.append(make("div", { class: "row" }, copyButton(context, "Copy command", () =>
				(tracks.length ? null : commandOf("counters", context.trace(), stretch, [])), "Command")));
			if (rows.length)
				box.append(this.table(rows));
			else
				box.append(quiet("No counter has a value in this time range."));
		} catch (error) {
			failed(box, error);
		}
	}

	private table(rows: Summary[]): HTMLElement {
		const { list } = this.context.trace();
		const of = (name: string, take: (row: Summary) => number): Column<Summary> =>
			({ name, number: true, text: row => value(take(row)), value: take });
		return table<Summary>("Counters", [
			{ name: "counter", text: row => this.context.timeline.title(row.track), value: row => this.context.timeline.title(row.track) },
			{ name: "series", text: row => plain(list[row.track]?.series[row.series] || "value"), value: row => list[row.track]?.series[row.series] ?? "" },
			of("first", row => row.first), of("min", row => row.least), of("mean", row => row.mean), of("max", row => row.most),
			of("last", row => row.last),
		], rows, row => this.context.timeline.revealTrack(row.track));
	}
}
