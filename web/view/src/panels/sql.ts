// sql.ts - a line for SQL, and its rows: as a table, or as a track.
// SPDX-License-Identifier: Apache-2.0
import { Refusal, type Answer } from "../api";
import { sqlCommand } from "../command";
import { button, make, table, type Column } from "../dom";
import { count, time } from "../format";
import { plain } from "../timeline/text";
import { asked, copyButton, failed, quiet, watched, type Context, type Panel } from "./context";
import { isTrack } from "../timeline/strip";

const SHOWN = 1000;
const READY: [string, string][] = [
	["functions by time", "select name, count(*) as calls, sum(dur) as total_ns\nfrom slice group by name order by total_ns desc"],
	["slowest calls", "select ts, dur, name from slice order by dur desc limit 100"],
	["threads", "select * from thread"],
	["arguments", "select ts, dur, name, args from slice where args is not null limit 100"],
];

function text(cell: unknown): string {
	return cell === null ? "" : plain(typeof cell === "string" ? cell : typeof cell === "object" ? JSON.stringify(cell) : String(cell));
}

/** The place of an error in a query: the line, and a caret below. */
export function pointed(query: string, line: number | null, column: number | null): string {
	const found = line === null ? undefined : query.split("\n")[line - 1];
	return found === undefined || column === null ? "" : `\n${found}\n${" ".repeat(Math.max(0, column - 1))}^`;
}

export class Sql implements Panel {
	readonly title = "SQL";
	private running: AbortController | null = null;
	private readonly input = make("textarea", { id: "sql", rows: "3", spellcheck: "false", "aria-label": "SQL" });
	private readonly restricted = make("input", { type: "checkbox", id: "sql-within" });

	constructor(private readonly context: Context) {
		this.input.value = context.store.state.sql || READY[0]![1];
		context.store.listen(changed => {
			if (changed.has("sql") && context.store.state.sql)
				this.input.value = context.store.state.sql;
		});
	}

	useless(): boolean {
		return !this.context.server.live;
	}

	focus(): void {
		this.input.focus();
	}

	show(box: HTMLElement, signal: AbortSignal): void {
		const { context } = this;
		const answer = make("div", { "aria-live": "polite" });
		const run = () => void this.run(answer);
		this.input.onkeydown = event => {
			if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
				run();
				event.preventDefault();
			}
		};
		const ready = make("select", { "aria-label": "Ready questions" }, ...["Ready questions", ...READY.map(([name]) => name)].map((name, i) =>
			make("option", { value: String(i) }, name)));
		ready.onchange = () => {
			this.input.value = READY[Number(ready.value) - 1]?.[1] ?? this.input.value;
			ready.value = "0";
			this.input.focus();
		};
		box.append(this.input, make("div", { class: "row" }, button("Run", run, { title: "Ctrl Enter" }), ready,
			make("label", {}, this.restricted, " only of the selection"),
			copyButton(context, "Copy command", () => sqlCommand(context.trace(), this.input.value), "Command")), answer);
		signal.addEventListener("abort", () => this.running?.abort());
		if (context.store.state.sql)
			run();
	}

	private async run(box: HTMLElement): Promise<void> {
		const { context } = this;
		const query = this.input.value;
		this.running?.abort();
		const running = this.running = new AbortController();
		if (context.store.state.sql !== query)
			context.store.set({ sql: query });
		box.replaceChildren();
		const { stretch, tracks } = asked(context);
		const within = this.restricted.checked ? { stretch, tracks } : null;
		try {
			this.fill(box, query, await watched(context, box, running.signal, (question, stop) =>
				context.server.sql(query, SHOWN, within, stop, question)));
		} catch (error) {
			if (running.signal.aborted)
				return;
			failed(box, error);
			if (error instanceof Refusal)
				box.append(make("pre", { class: "bad" }, pointed(query, error.line, error.column)));
		}
	}

	private fill(box: HTMLElement, query: string, answer: Answer): void {
		const { columns, rows, more, elapsed } = answer;
		const tools = make("div", { class: "row" }, quiet(`${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}` +
			`${more ? ", and more" : ""}, ${time(elapsed)}`));
		if (isTrack(answer))
			tools.append(button("Show as a track", () => this.context.store.set({ strip: query })));
		const at = (name: string) => columns.findIndex(column => column.name.toLowerCase() === name);
		const open = at("ts") < 0 ? undefined : (row: unknown[]) => {
			const from = Number(row[at("ts")]);
			const wide = at("dur") < 0 ? 0 : Number(row[at("dur")]);
			this.context.timeline.show({ from: from - wide * 0.1 - 10, to: from + wide * 1.1 + 10 });
			this.context.store.set({ selection: { from, to: from + Math.max(1, wide) }, tracks: [] });
		};
		const shown = columns.map(({ name, type }, i): Column<unknown[]> => ({ name: plain(name), number: type === "integer" || type === "real",
			text: row => text(row[i]), value: row => (row[i] ?? "") as number | string }));
		box.replaceChildren(tools, make("div", { class: "wide-table" }, table("Rows", shown, rows, open)));
	}
}
