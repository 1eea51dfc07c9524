// table.ts - the picture as a table: what is in sight, for those who do not see it.
// SPDX-License-Identifier: Apache-2.0
import { make, table } from "../dom";
import { count, counted, time } from "../format";
import type { Box } from "../timeline/draw";
import { plain } from "../timeline/text";
import { quiet, type Context, type Panel } from "./context";

const SHOWN = 1000;
const PAUSE = 50; // ms between looks whether the picture has come

export class Table implements Panel {
	readonly title = "Table";

	constructor(private readonly context: Context) { }

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { unit } = context.trace();
		const { timeline } = context;
		while (!timeline.settled && !signal.aborted)
			await new Promise(resolve => setTimeout(resolve, PAUSE));
		if (signal.aborted)
			return;
		const boxes = timeline.boxes.slice(0, SHOWN);
		box.append(quiet(`What the timeline shows: ${counted(timeline.boxes.length, "row")}` +
			`${timeline.boxes.length > SHOWN ? `, the first ${count(SHOWN)} here` : ""}. Enter opens one.`));
		if (!boxes.length)
			return;
		box.append(make("div", {}, table<Box>("Visible slices", [
			{ name: "track", text: row => timeline.title(row.track), value: row => row.track },
			{ name: "depth", number: true, text: row => String(row.depth), value: row => row.depth },
			{ name: "name", text: row => row.count === 1 ? plain(row.name) : `${count(row.count)} slices, longest ${plain(row.name)}`,
				value: row => row.name },
			{ name: "begins", number: true, text: row => time(row.begin, unit), value: row => row.begin },
			{ name: "duration", number: true, text: row => time(row.end - row.begin, unit), value: row => row.end - row.begin },
		], boxes, row => context.open({ track: row.track, lane: row.lane, depth: row.depth, item: row.item },
			{ from: row.begin, to: row.end }))));
	}
}
