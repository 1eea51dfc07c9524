// sql.ts - a line for SQL, and its rows: as a table, or as a track.
// SPDX-License-Identifier: Apache-2.0
import { Refusal, type Answer } from "../api";
import { sqlCommand } from "../command";
import { button, make, table, type Column } from "../dom";
import { counted, time } from "../format";
import { plain } from "../timeline/text";
import { asked, copyButton, failed, quiet, watched, type Context, type Panel } from "./context";
import { areApart } from "../starts";
import { beginOf, isTrack } from "../timeline/strip";

const SHOWN = 1000;
/** `file` is a column more where there are several: times are those of each. */
const ready = (file: string): [string, string][] => [
	["functions by time", "select name, count(*) as calls, sum(dur) as total_ns\nfrom slice group by name order by total_ns desc"],
	["slowest calls", `select ts, dur, name${file} from slice order by dur desc limit 100`],
	["threads", "select * from thread"],
	["arguments", `select ts, dur, name, args${file} from slice where args is not null limit 100`],
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
		this.input.value = context.store.state.sql || this.ready()[0]![1];
		context.store.listen(changed => {
			if (changed.has("sql") && context.store.state.sql)
				this.input.value = context.store.state.sql;
		});
	}

	private ready(): [string, string][] {
		return ready(this.context.trace().files.length > 1 ? ", file" : "");
	}

	useless(): boolean {
		return !this.context.server.live;
	}

	/** A ready question gives way to what is typed. */
	focus(): void {
		this.input.focus();
		if (this.ready().some(([, query]) => query === this.input.value))
			this.input.select();
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
		const questions = this.ready();
		const choice = make("select", { "aria-label": "Ready questions" }, ...["Ready questions", ...questions.map(([name]) => name)].map((name, i) =>
			make("option", { value: String(i) }, name)));
		choice.onchange = () => {
			this.input.value = questions[Number(choice.value) - 1]?.[1] ?? this.input.value;
			choice.value = "0";
			this.input.focus();
		};
		box.append(this.input, make("div", { class: "row" }, button("Run", run, { title: "Ctrl Enter" }), choice,
			make("label", {}, this.restricted, " only of the selection"),
			copyButton(context, "Copy command", () => (this.restricted.checked ? null : sqlCommand(context.trace(), this.input.value)), "Command")), answer);
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
		const tools = make("div", { class: "row" }, quiet(`${counted(rows.length, "row")}` +
			`${more ? ", and more" : ""}, ${time(elapsed)}`));
		if (isTrack(answer))
			tools.append(button("Show as a track", () => this.context.store.set({ strip: query })));
		const at = (name: string) => columns.findIndex(column => column.name.toLowerCase() === name);
		const open = at("ts") < 0 ? undefined : (row: unknown[]) => {
			const from = Number(row[at("ts")]) + beginOf(answer, row, this.context.trace().files);
			const wide = at("dur") < 0 ? 0 : Number(row[at("dur")]);
			this.context.timeline.show({ from: from - wide * 0.1 - 10, to: from + wide * 1.1 + 10 });
			this.context.store.set({ selection: { from, to: from + Math.max(1, wide) }, tracks: [] });
		};
		const shown = columns.map(({ name, type }, i): Column<unknown[]> => ({ name: plain(name), number: type === "integer" || type === "real",
			text: row => text(row[i]), value: row => (row[i] ?? "") as number | string }));
		if (at("ts") >= 0 && at("file") < 0 && areApart(this.context.trace()))
			tools.append(quiet("ts is that of the first file: with the column file each row is where its own file is"));
		box.replaceChildren(tools, make("div", { class: "wide-table" }, table("Rows", shown, rows, open)));
	}
}
