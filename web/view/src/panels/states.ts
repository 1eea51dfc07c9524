// states.ts - what threads did with a selection's time: ran, waited for a CPU, slept.
// SPDX-License-Identifier: Apache-2.0
import { statesCommand } from "../command";
import { make, table } from "../dom";
import { count, share, time } from "../format";
import { statesQuery } from "../queries";
import { plain } from "../timeline/text";
import { asked, copyButton, failed, quiet, saysIgnored, saysNone, watched, type Context, type Panel } from "./context";
import { about } from "./functions";

const SHOWN = 1000;
/** The words of thread_state, as doc/sql.md has them. */
const WORDS: Record<string, string> = { Running: "running", R: "waits for a CPU", "R+": "waits for a CPU, preempted", S: "sleeps",
	T: "suspended", Z: "dying", X: "dead" };

interface Time {
	thread: string;
	state: string;
	count: number;
	total: number;
	utid: number;
}

/** The states of a thread as a track. */
export function stripQuery(utid: number, thread: string): string {
	const words = Object.entries(WORDS).map(([state, word]) => `when '${state}' then '${word}'`).join(" ");
	return `select ts, dur, case state ${words} else coalesce(state, 'not known') end as name, '${thread.replaceAll("'", "''")}: states' as track, file
from thread_state where utid = ${utid}`;
}

export class States implements Panel {
	readonly title = "States";
	readonly asksServer = true;

	constructor(private readonly context: Context) { }

	useless(): boolean {
		return this.context.trace().unit !== "ns" || !this.context.trace().list.some(track => track.kind === "cpu");
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context);
		const { unit } = context.trace();
		if (saysNone(context, box))
			return;
		box.append(about(context), make("div", { class: "row" }, copyButton(context, "Copy command", () =>
			statesCommand(context.trace(), stretch, tracks), "Command")), ...saysIgnored(context));
		try {
			const query = statesQuery(context.trace(), stretch);
			const { rows } = await watched(context, box, signal, (question, stop) =>
				context.server.sql(query, SHOWN, tracks.length ? { stretch, tracks } : null, stop, question));
			if (signal.aborted)
				return;
			const times = rows.map(([thread, state, n, total, utid]): Time => ({ thread: String(thread ?? "?"), state: String(state ?? "not known"),
				count: Number(n), total: Number(total), utid: Number(utid) }));
			if (!times.length) {
				box.append(quiet("No thread has a state in this time range."));
				return;
			}
			box.append(table<Time>("Thread states", [
				{ name: "thread", text: row => plain(row.thread), value: row => row.thread },
				{ name: "state", text: row => WORDS[row.state] ?? row.state, value: row => row.state },
				{ name: "count", number: true, text: row => count(row.count), value: row => row.count },
				{ name: "total", number: true, text: row => time(row.total, unit), value: row => row.total },
				{ name: "of the time", number: true, text: row => share(row.total, stretch.to - stretch.from), value: row => row.total },
			], times, row => context.store.set({ strip: stripQuery(row.utid, row.thread) })));
			box.append(quiet("Click a row to show the states of its thread as a track."));
		} catch (error) {
			failed(box, error);
		}
	}
}
