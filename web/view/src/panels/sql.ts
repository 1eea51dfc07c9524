// sql.ts - a line for SQL, and its rows: as a table, or as a track.
// SPDX-License-Identifier: Apache-2.0
import { Refusal, type Answer } from "../api";
import { sqlCommand } from "../command";
import { button, make, table, type Column } from "../dom";
import { counted, time } from "../format";
import { plain } from "../timeline/text";
import { slicesAt } from "./calls";
import { asked, copyButton, failed, quiet, saysIgnored, watched, type Context, type Panel } from "./context";
import { areApart } from "../starts";
import { beginOf, isTrack } from "../timeline/strip";

const SHOWN = 1000;
const THREAD = "coalesce(t.name, 'thread ' || t.tid) as thread";
const SLICES = "from slice s left join thread t using (utid)";
/** `file` is a column more where there are several: times are those of each. */
const examples = (file: string): [string, string][] => [
	["Functions by time", "select name, count(*) as calls, sum(dur) as total_ns\nfrom slice group by name order by total_ns desc"],
	["Slowest calls", `select s.name, ${THREAD}, ts, dur${file}\n${SLICES} order by dur desc limit 100`],
	["Threads by time", `select ${THREAD}, t.tid, p.name as process, count(*) as calls, sum(self_dur) as self_ns${file}\n` +
		`${SLICES} left join process p using (upid) group by s.utid order by self_ns desc`],
	["Arguments of slices", `select s.name, ${THREAD}, ts, dur, args${file}\n${SLICES} where args is not null limit 100`],
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
	readonly asksServer = true;
	private running: AbortController | null = null;
	private readonly input = make("textarea", { id: "sql", rows: "3", spellcheck: "false", "aria-label": "SQL" });
	private readonly restricted = make("input", { type: "checkbox", id: "sql-within" });

	constructor(private readonly context: Context) {
		this.input.value = context.store.state.sql || this.examples()[0]![1];
		context.store.listen(changed => {
			if (changed.has("sql") && context.store.state.sql)
				this.input.value = context.store.state.sql;
		});
	}

	private examples(): [string, string][] {
		return examples(this.context.trace().files.length > 1 ? ", s.file" : "");
	}

	/** An example gives way to what is typed. */
	focus(): void {
		this.input.focus();
		if (this.examples().some(([, query]) => query === this.input.value))
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
		const queries = this.examples();
		const choice = make("select", { "aria-label": "Example queries" }, ...["Example queries", ...queries.map(([name]) => name)].map((name, i) =>
			make("option", { value: String(i) }, name)));
		choice.onchange = () => {
			this.input.value = queries[Number(choice.value) - 1]?.[1] ?? this.input.value;
			choice.value = "0";
			run();
		};
		box.append(this.input, make("div", { class: "row" }, button("Run", run, { title: "Ctrl Enter" }), choice,
			make("label", {}, this.restricted, " only of the selected range"),
			copyButton(context, "Copy command", () => (this.restricted.checked ? { why: "trackway sql asks the whole trace" }
				: sqlCommand(context.trace(), this.input.value)), "Command")), ...saysIgnored(context), answer);
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

	/** Selects the slice of a row, if the row has its name; else its range of time. */
	private async open(answer: Answer, row: unknown[]): Promise<void> {
		const { context } = this;
		const { list, files } = context.trace();
		const cell = (...names: string[]) => row[answer.columns.findIndex(({ name }) => names.includes(name.toLowerCase()))] ?? null;
		const [begin, dur, name] = [Number(cell("ts")) + beginOf(answer, row, files), cell("dur"), cell("name")];
		const wide = Math.max(0, Number(dur));
		const range = { from: begin, to: begin + Math.max(1, wide) };
		const called = cell("thread", "thread_name", "track", "track_name");
		const named = list.filter(({ id, name, tid }) => called === null ? String(cell("tid")) === tid
			: name === called || context.timeline.title(id) === called);
		const tracks = (named.length ? named : list).filter(({ kind }) => kind !== "counter").map(({ id }) => id);
		const found = name === null ? [] : await slicesAt(context, String(name), begin, tracks).catch(() => []);
		const slice = found.find(near => near.begin === begin && (dur === null || wide !== Number(dur) || near.end - begin === wide));
		if (slice) {
			context.choose(slice, range);
			return;
		}
		context.timeline.show({ from: begin - wide * 0.1 - 10, to: begin + wide * 1.1 + 10 });
		context.store.set({ selection: range, tracks: [] });
	}

	private fill(box: HTMLElement, query: string, answer: Answer): void {
		const { columns, rows, more, elapsed } = answer;
		const tools = make("div", { class: "row" }, quiet(`${counted(rows.length, "row")}` +
			`${more ? ", and more" : ""}, ${time(elapsed)}`));
		if (isTrack(answer))
			tools.append(button("Show as a track", () => this.context.store.set({ strip: query })));
		const at = (name: string) => columns.findIndex(column => column.name.toLowerCase() === name);
		const open = at("ts") < 0 ? undefined : (row: unknown[]) => void this.open(answer, row);
		const shown = columns.map(({ name, type }, i): Column<unknown[]> => ({ name: plain(name), number: type === "integer" || type === "real",
			text: row => text(row[i]), value: row => (row[i] ?? "") as number | string }));
		if (at("ts") >= 0 && at("file") < 0 && areApart(this.context.trace()))
			tools.append(quiet("ts is that of the first file: with the column file each row is where its own file is"));
		box.replaceChildren(tools, make("div", { class: "wide-table" }, table("Rows", shown, rows, open)));
	}
}
