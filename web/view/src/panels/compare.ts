// compare.ts - two traces beside each other, as `trackway diff` compares them: functions, and the tree of calls.
// SPDX-License-Identifier: Apache-2.0
import type { Difference } from "../api";
import { diffCommand } from "../command";
import { button, make, table, type Column } from "../dom";
import { amount, count, time, titled } from "../format";
import { plain } from "../timeline/text";
import { copyButton, failed, quiet, watched, weighedBy, type Context, type Panel } from "./context";
import { FlameGraph, type Node } from "./flamegraph";

const SHOWN = 500; // rows; the command prints all

function signed(more: number, words: string): string {
	return more > 0 ? `+${words}` : more < 0 ? `\u2212${words}` : words;
}

/** What a change is of what was: "new", "gone", "+12.5 %". */
export function changeOf(before: number, after: number): string {
	if (before === 0 || after === 0)
		return before === after ? "" : before === 0 ? "new" : "gone";
	return signed(after - before, `${(100 * Math.abs(after - before) / before).toFixed(1)} %`);
}

export class Compare implements Panel {
	readonly title = "Compare";
	private picture = false;
	private graph: FlameGraph | null = null;

	constructor(private readonly context: Context) { }

	useless(): boolean {
		return this.context.trace().files.length < 2 || !this.context.server.compares;
	}

	get drawn(): Node[] {
		return this.graph?.drawn ?? [];
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const trace = context.trace();
		const [one, other] = trace.files;
		this.graph = null;
		if (!one || !other) {
			box.append(quiet("Open two traces to compare them: trackway view BEFORE AFTER"));
			return;
		}
		const { selection } = context.store.state;
		const within = context.server.live ? selection : null;
		const about = make("div", { class: "row" }, button(this.picture ? "Table" : "Flame graph of the difference", () => {
			this.picture = !this.picture;
			box.replaceChildren();
			void this.show(box, signal);
		}), copyButton(context, "Copy command", () => diffCommand(trace, within, this.picture), "Command"));
		box.append(quiet(`Before ${plain(one.path)}, after ${plain(other.path)}${within ? `: ${time(within.to - within.from, trace.unit)} selected of each` : ""}`), about);
		try {
			const add = await watched(context, box, signal, async (question, stop) => {
				if (!this.picture)
					return this.table(await context.server.differences(within, stop, question));
				const graph = this.graph = new FlameGraph(context, await context.server.differenceFlame(within, stop, question),
					"Flame graph of the difference, which is a table, too");
				about.append(button("Reset zoom", () => graph.all()), graph.found);
				return [quiet("Widths are times after. Red: more than before; blue: less."), graph.element];
			});
			if (!signal.aborted)
				box.append(...add);
		} catch (error) {
			failed(box, error);
		}
	}

	private table(rows: Difference[]): HTMLElement[] {
		const unit = weighedBy(this.context);
		if (!rows.length)
			return [quiet("No function was called in this time range.")];
		const of = (name: string, take: (row: Difference) => number, text = (row: Difference) => amount(take(row), unit)): Column<Difference> =>
			({ name, number: true, text, value: take });
		const more = (row: Difference) => row.self[1] - row.self[0];
		const median = (name: string, side: 0 | 1) => of(name, row => row.count[side] ? row.p50[side] : -1,
			row => row.count[side] ? amount(row.p50[side], unit) : "-");
		const sampled = unit === "samples"; // of which none is a call
		const differences = table<Difference>("Differences", [
			{ name: "function", text: row => plain(row.name), value: row => row.name },
			of(titled("self before", unit), row => row.self[0]), of("self after", row => row.self[1]),
			of("difference", more, row => signed(more(row), amount(Math.abs(more(row)), unit))),
			of("change", row => row.self[1] / row.self[0], row => changeOf(...row.self)),
			...sampled ? [] : [median("median before", 0), median("median after", 1)],
			of("total before", row => row.total[0]), of("total after", row => row.total[1]),
			of("count before", row => row.count[0], row => count(row.count[0])),
			of("count after", row => row.count[1], row => count(row.count[1])),
		], rows.slice(0, SHOWN), row => this.context.find(row.name));
		return rows.length > SHOWN ? [differences, quiet(`${count(rows.length - SHOWN)} more functions: the command prints all.`)] : [differences];
	}
}
