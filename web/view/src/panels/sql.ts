// sql.ts - a line for SQL, and its rows.
// SPDX-License-Identifier: Apache-2.0
import { sqlCommand } from "../command";
import { button, make, table } from "../dom";
import { count } from "../format";
import { plain } from "../timeline/text";
import { copyButton, failed, quiet, type Context, type Panel } from "./context";

const SHOWN = 1000;
const FIRST = "SELECT name, count(*) AS calls, sum(dur) AS total_ns\nFROM slices GROUP BY name ORDER BY total_ns DESC";

function text(cell: unknown): string {
	return cell === null ? "NULL" : plain(typeof cell === "string" ? cell : JSON.stringify(cell));
}

export class Sql implements Panel {
	readonly title = "SQL";
	private running: AbortController | null = null;

	constructor(private readonly context: Context) { }

	show(box: HTMLElement, signal: AbortSignal): void {
		const { context } = this;
		const input = make("textarea", { id: "sql", rows: "3", spellcheck: "false", "aria-label": "SQL" });
		const answer = make("div", { "aria-live": "polite" });
		const said = context.store.state.sql;
		input.value = said || FIRST;
		const run = () => void this.run(input.value, answer);
		input.addEventListener("keydown", event => {
			if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
				run();
		});
		box.append(input, make("div", { class: "row" }, button("Run", run, { title: "Ctrl-Enter" }),
			button("Stop", () => this.running?.abort()),
			copyButton(context, "Copy command", () => sqlCommand(context.trace(), input.value), "Command")), answer);
		signal.addEventListener("abort", () => this.running?.abort());
		if (said)
			run();
	}

	private async run(query: string, box: HTMLElement): Promise<void> {
		this.running?.abort();
		const running = this.running = new AbortController();
		// Not by set(): what is typed here stays as it is.
		if (this.context.store.state.sql !== query)
			this.context.store.set({ sql: query });
		box.replaceChildren(quiet("Running\u2026"));
		try {
			const { columns, rows, more } = await this.context.server.sql(query, SHOWN, running.signal);
			const number = (at: number) => rows.length > 0 && rows.every(row => row[at] === null || typeof row[at] === "number");
			box.replaceChildren(quiet(`${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}${more ? ", and more" : ""}`),
				table("Rows", columns.map((name, at) => ({ name: plain(name), number: number(at), text: (row: unknown[]) => text(row[at]),
					value: (row: unknown[]) => row[at] as number | string })), rows));
		} catch (error) {
			box.replaceChildren();
			if (running.signal.aborted)
				box.append(quiet("Stopped."));
			else
				failed(box, error);
		}
	}
}
