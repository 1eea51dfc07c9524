// compare.ts - two traces beside each other: functions by how much more time they take in the second.
// SPDX-License-Identifier: Apache-2.0
import { diffCommand } from "../command";
import { make, table, type Column } from "../dom";
import { count, time } from "../format";
import { plain } from "../timeline/text";
import { copyButton, failed, quiet, watched, type Context, type Panel } from "./context";

interface Difference {
	name: string;
	before: number;
	after: number;
	countBefore: number;
	countAfter: number;
}

/** A function's own time in one file. */
interface Part {
	name: string;
	self: number;
	count: number;
}

const MOST = 10_000; // rows of the answer

/** The question: own times of functions by file; of a selection those of calls that begin there. */
export function compareQuery(within: { from: number; to: number } | null): string {
	const where = within ? ` where ts >= ${Math.floor(within.from)} and ts < ${Math.ceil(within.to)}` : "";
	return `select file, name, count(*) as n, sum(self_dur) as self from slice${where} group by file, name order by self desc`;
}

/** Functions of two, by how their own time differs. */
export function differences(before: Part[], after: Part[]): Difference[] {
	const all = new Map<string, Difference>();
	const of = (name: string) => all.get(name) ?? { name, before: 0, after: 0, countBefore: 0, countAfter: 0 };
	for (const row of before)
		all.set(row.name, { ...of(row.name), before: row.self, countBefore: row.count });
	for (const row of after)
		all.set(row.name, { ...of(row.name), after: row.self, countAfter: row.count });
	return [...all.values()].sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
}

function signed(ns: number, words: string): string {
	return ns > 0 ? `+${words}` : ns < 0 ? `\u2212${words}` : words;
}

export class Compare implements Panel {
	readonly title = "Compare";

	constructor(private readonly context: Context) { }

	useless(): boolean {
		return this.context.trace().files.length < 2 || !this.context.server.live;
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const trace = context.trace();
		const [one, other] = trace.files;
		if (!one || !other) {
			box.append(quiet("Open two traces to compare them: trackway view BEFORE AFTER"));
			return;
		}
		const { selection } = context.store.state;
		box.append(quiet(`${plain(one.path)}, and after it ${plain(other.path)}${selection ? `: calls that begin in the ${time(selection.to - selection.from, trace.unit)} selected` : ""}`),
			make("div", { class: "row" }, copyButton(context, "Copy command", () => diffCommand(trace, 0, 1), "Command")));
		try {
			const { rows, more } = await watched(context, box, signal, (question, stop) =>
				context.server.sql(compareQuery(selection), MOST, null, stop, question));
			if (signal.aborted)
				return;
			const of = (path: string): Part[] => rows.filter(row => row[0] === path).map(([, name, n, self]) =>
				({ name: String(name), count: Number(n), self: Number(self) }));
			box.append(this.table(differences(of(one.path), of(other.path))));
			if (more)
				box.append(quiet("Only the functions with the most time are here: the command prints all."));
		} catch (error) {
			failed(box, error);
		}
	}

	private table(rows: Difference[]): HTMLElement {
		const { unit } = this.context.trace();
		const of = (name: string, take: (row: Difference) => number, text = (row: Difference) => time(take(row), unit)): Column<Difference> =>
			({ name, number: true, text, value: take });
		const more = (row: Difference) => row.after - row.before;
		return table<Difference>("Differences", [
			{ name: "function", text: row => plain(row.name), value: row => row.name },
			of("self before", row => row.before), of("self after", row => row.after),
			of("difference", more, row => signed(more(row), time(Math.abs(more(row)), unit))),
			of("count before", row => row.countBefore, row => count(row.countBefore)),
			of("count after", row => row.countAfter, row => count(row.countAfter)),
		], rows, row => this.context.find(row.name));
	}
}
