// context.ts - what every panel is given.
// SPDX-License-Identifier: Apache-2.0
import type { Kind, Place, Server, Stretch, Trace } from "../api";
import { fresh, Refusal } from "../api";
import { ignoredBySql, type Command } from "../command";
import { button, make } from "../dom";
import { bytes, share, time, type Unit } from "../format";
import type { Store } from "../state";
import type { Timeline } from "../timeline/timeline";

export interface Context {
	server: Server;
	store: Store;
	timeline: Timeline;
	trace(): Trace;
	/** Selects a slice, brings it into sight, and shows its details. */
	open(place: Place, stretch?: Stretch): void;
	/** The same, but the panel stays as it is. */
	choose(place: Place, stretch?: Stretch): void;
	/** Says a sentence to all: seen, and read out. */
	say(words: string): void;
	/** Marks all slices of a name, and goes to the first call that the panel counts. */
	find(name: string): void;
	/** Copies the command that writes the page as a file. */
	copyExport(): Promise<void>;
	/** Has a file begin at a time of the axis. */
	move(file: number, at: number): Promise<void>;
	/** Has all files begin there. */
	moveAll(starts: number[]): Promise<void>;
}

export interface Panel {
	title: string;
	/** Whether the trace has nothing for it: then its tab is left out. */
	useless?(): boolean;
	/** Whether it asks what only a server can answer. */
	asksServer?: boolean;
	/** Fills a box; is called again when what it shows has changed. `signal` ends requests of an older call. */
	show(box: HTMLElement, signal: AbortSignal): void | Promise<void>;
}

const MOST = 4096; // tracks of a question

/** What a question is about: the selection, else all that is in sight. */
export interface Asked {
	stretch: Stretch;
	/** Empty: all. */
	tracks: number[];
	selected: boolean;
	/** Whether the tracks are those that a filter, or what is hidden, leaves. */
	filtered: boolean;
	/** Whether a filter, or what is hidden, leaves no track of the kind. */
	none: boolean;
}

/** What a question about tracks of a kind is about. */
export function asked(context: Context, kind: Kind = "thread"): Asked {
	const { selection, tracks, view, filter, hidden } = context.store.state;
	const { end, list } = context.trace();
	const ofKind = (ids: number[]) => ids.filter(id => list[id]?.kind === kind);
	const chosen = selection ? ofKind(tracks) : [];
	const some = filter !== "" || hidden.length > 0;
	const shown = some ? ofKind(context.timeline.layout.shown) : [];
	const filtered = !chosen.length && shown.length > 0 && shown.length <= MOST;
	const none = some && !chosen.length && !shown.length && list.some(track => track.kind === kind);
	const from = Math.max(0, view.from);
	return { stretch: selection ?? { from, to: Math.max(from + 1, Math.min(view.to, end)) }, tracks: filtered ? shown : chosen,
		selected: selection !== null, filtered, none };
}

/** Says so where no track of a kind is shown. */
export function saysNone(context: Context, box: HTMLElement, kind: Kind = "thread"): boolean {
	const { none } = asked(context, kind);
	if (none)
		box.append(quiet(`No ${kind} is shown: the filter, or what is hidden, leaves none.`));
	return none;
}

/** A line where the command line has filters that SQL does not know. */
export function saysIgnored(context: Context): HTMLElement[] {
	const words = ignoredBySql(context.trace());
	return words ? [quiet(words)] : [];
}

/** What functions are weighed by. */
export function weighedBy(context: Context): Unit {
	return context.server.weighed ?? context.trace().unit;
}

function whyNone({ why }: { why: string }): string {
	return `No command shows just this: ${why}`;
}

export async function copy(context: Context, text: Command, what: string): Promise<void> {
	if (typeof text !== "string")
		context.say(`${whyNone(text)}. Nothing was copied.`);
	else
		await navigator.clipboard.writeText(text).then(() => context.say(`${what} copied`), () => context.say(text));
}

export function copyButton(context: Context, label: string, text: () => Command, what: string): HTMLButtonElement {
	const now = text();
	return button(label, () => void copy(context, text(), what), { title: typeof now === "string" ? now : whyNone(now) });
}

export const OFTEN = 400; // ms between looks at how far something is

/** Whether the server will know what was asked once the file has been read. */
export function early(error: unknown): boolean {
	return error instanceof Refusal && error.status === 503;
}

/** What a key has asked for; null where there is none. "early": it came too early, which is said. */
export async function unlessEarly<T>(context: Context, answer: Promise<T | null>): Promise<T | null | "early"> {
	const found = await answer.catch((error: unknown) => (early(error) ? "early" : null));
	if (found === "early")
		context.say("The file is still being read: try again when it has been");
	return found;
}

/** Asks what may take long; how far it is stands in the box meanwhile, with a way to stop it. */
export async function watched<T>(context: Context, box: HTMLElement, signal: AbortSignal,
	ask: (question: string, signal: AbortSignal) => Promise<T>): Promise<T> {
	const question = fresh();
	const stopping = new AbortController();
	const said = make("span", { class: "quiet", role: "status" }, "Reading\u2026");
	const line = make("div", { class: "row" }, button("Stop", () => stopping.abort()), said);
	signal.addEventListener("abort", () => stopping.abort());
	const look = async () => {
		box.append(line);
		const at = await context.server.question(question).catch(() => null);
		if (at)
			said.textContent = `${time(at.elapsed)}, ${at.size ? `${share(at.read ?? 0, at.size)} of ${bytes(at.size)} read` : "how much is left is not known"}`;
	};
	const timer = setInterval(() => void look(), OFTEN);
	try {
		return await ask(question, stopping.signal);
	} catch (error) {
		if (stopping.signal.aborted && !signal.aborted)
			throw new Error("Stopped");
		throw error;
	} finally {
		clearInterval(timer);
		line.remove();
	}
}

export function quiet(words: string): HTMLElement {
	return make("p", { class: "quiet" }, words);
}

export function failed(box: HTMLElement, error: unknown): void {
	if (error instanceof DOMException && error.name === "AbortError")
		return;
	box.append(make("p", { class: "bad", role: "alert" }, error instanceof Error ? error.message : String(error)));
}
