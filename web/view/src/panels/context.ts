// context.ts - what every panel is given.
// SPDX-License-Identifier: Apache-2.0
import type { Place, Server, Stretch, Trace } from "../api";
import { button, make } from "../dom";
import type { Store } from "../state";
import type { Timeline } from "../timeline/timeline";

export interface Context {
	server: Server;
	store: Store;
	timeline: Timeline;
	trace(): Trace;
	/** Chooses a slice and brings it into sight. */
	open(place: Place, stretch?: Stretch): void;
	/** Says a sentence to all: seen, and read out. */
	say(words: string): void;
	/** Marks all slices of a name, and goes to the next. */
	find(name: string): void;
}

export interface Panel {
	title: string;
	/** Fills a box; is called again when what it shows has changed. `signal` ends requests of an older call. */
	show(box: HTMLElement, signal: AbortSignal): void | Promise<void>;
}

/** The stretch that questions are about: the selection, else what is in sight. */
export function asked(context: Context): { stretch: Stretch; tracks: number[]; selected: boolean } {
	const { selection, tracks, view } = context.store.state;
	const { end, list } = context.trace();
	// Counters and processes have no calls of their own.
	const called = tracks.filter(id => list[id]?.kind !== "counter" && list[id]?.kind !== "process");
	if (selection)
		return { stretch: selection, tracks: called, selected: true };
	const from = Math.max(0, view.from);
	return { stretch: { from, to: Math.max(from + 1, Math.min(view.to, end)) }, tracks: [], selected: false };
}

export async function copy(context: Context, text: string, what: string): Promise<void> {
	await navigator.clipboard.writeText(text).then(() => context.say(`${what} copied`), () => context.say(text));
}

export function copyButton(context: Context, label: string, text: () => string, what: string): HTMLButtonElement {
	return button(label, () => void copy(context, text(), what), { title: text() });
}

export function quiet(words: string): HTMLElement {
	return make("p", { class: "quiet" }, words);
}

export function failed(box: HTMLElement, error: unknown): void {
	if (error instanceof DOMException && error.name === "AbortError")
		return;
	box.append(make("p", { class: "bad", role: "alert" }, error instanceof Error ? error.message : String(error)));
}
