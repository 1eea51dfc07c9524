// counters.ts - what counters were in a selection: least, most, mean over time, at its begin and at its end.
// SPDX-License-Identifier: Apache-2.0
import { whole, type Stretch, type Summary } from "../api";
import { countersCommand } from "../command";
import { make, table, type Column } from "../dom";
import { count, value } from "../format";
import { plain } from "../timeline/text";
import { asked, copyButton, failed, quiet, saysNone, type Context, type Panel } from "./context";
import { about } from "./functions";

const AT_ONCE = 64; // tracks of a window
const SHOWN = 500; // rows; the command prints all

export class Counters implements Panel {
	readonly title = "Counters";

	constructor(private readonly context: Context) { }

	/** All that have a value, as they stand in the picture. */
	private all(): number[] {
		const { list } = this.context.trace();
		return this.context.timeline.layout.shown.filter(id => list[id]?.kind === "counter");
	}

	useless(): boolean {
		return !this.context.trace().list.some(({ kind }) => kind === "counter");
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context, "counter");
		if (saysNone(context, box, "counter"))
			return;
		box.append(about(context, "counter"));
		try {
			const { rows, left } = await this.summaries(stretch, tracks.length ? tracks : this.all(), signal);
			if (signal.aborted)
				return;
			box.append(make("div", { class: "row" }, copyButton(context, "Copy command", () =>
				countersCommand(context.trace(), stretch, tracks), "Command")));
			if (rows.length)
				box.append(this.table(rows.slice(0, SHOWN)));
			else
				box.append(quiet("No counter has a value in this time range."));
			if (rows.some(row => !row.exact))
				box.append(quiet("This file does not hold each sample: first values and means are about right."));
			if (left)
				box.append(quiet(`Up to ${count(left)} more: filter tracks, or select some.`));
		} catch (error) {
			failed(box, error);
		}
	}

	/** Of so many tracks as fill the table: each request takes its time. `left`: how many series the others have. */
	private async summaries(stretch: Stretch, tracks: number[], signal: AbortSignal): Promise<{ rows: Summary[]; left: number }> {
		const { context } = this;
		const { list, end } = context.trace();
		const { from, to } = whole({ from: stretch.from, to: Math.min(stretch.to, end) });
		const rows: Summary[] = [];
		let at = 0;
		for (; at < tracks.length && rows.length < SHOWN && !signal.aborted; at += AT_ONCE) {
			rows.push(...await context.server.counters({ from, to }, tracks.slice(at, at + AT_ONCE), signal));
		}
		const left = tracks.slice(at).reduce((sum, id) => sum + list[id]!.lanes.length, Math.max(0, rows.length - SHOWN));
		return { rows, left };
	}

	private table(rows: Summary[]): HTMLElement {
		const { list } = this.context.trace();
		const of = (name: string, take: (row: Summary) => number): Column<Summary> =>
			({ name, number: true, text: row => value(take(row)), value: take });
		return table<Summary>("Counters", [
			{ name: "counter", text: row => this.context.timeline.title(row.track), value: row => this.context.timeline.title(row.track) },
			{ name: "series", text: row => plain(list[row.track]?.series[row.series] || "value"), value: row => list[row.track]?.series[row.series] ?? "" },
			of("first", row => row.first), of("min", row => row.least), of("mean over time", row => row.mean), of("max", row => row.most),
			of("last", row => row.last),
		], rows, row => this.context.timeline.revealTrack(row.track));
	}
}
