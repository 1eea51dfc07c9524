// labels.ts - the names of the tracks at the left, and what can be done to a track. Only those in sight are elements.
// SPDX-License-Identifier: Apache-2.0
import { button, make } from "../dom";
import { counted } from "../format";
import type { Store } from "../state";
import { FIRST, KIND_NAMES, linesBetween, rowsOf, type Line } from "./layout";
import { plain } from "./text";

const TAIL = 6; // characters
const OWN = 14; // as TAIL, of the name of a track behind that of its file or process
const AROUND = 200; // pixels beyond what is in sight

function toggled(list: number[], id: number): number[] {
	return list.includes(id) ? list.filter(each => each !== id) : [...list, id];
}

function numbersOf(line: Line): string {
	const { track } = line;
	if (line.group)
		return track.pid !== null && !track.name.includes(track.pid) ? `pid ${track.pid}` : "";
	if (track.tid !== null && track.kind !== "cpu" && !track.name.includes(track.tid))
		return `tid ${track.tid}`;
	return "";
}

function hintOf(line: Line): string {
	const { track } = line;
	const ids = [track.pid === null ? "" : `pid ${track.pid}`, track.tid === null ? "" : `tid ${track.tid}`];
	const slices = track.slices ? counted(track.slices, "slice") : "";
	return [`${KIND_NAMES[track.kind]} ${plain(track.name)}`, ...ids, slices].filter(Boolean).join(", ");
}

/** The end of a name keeps its room: what is too long is cut in the middle. */
export function halves(name: string, end: number): HTMLElement[] {
	const characters = [...name];
	const kept = characters.length > TAIL ? Math.min(end, Math.floor(characters.length / 2)) : 0;
	const tail = characters.slice(characters.length - kept).join("");
	return [make("span", { class: "head" }, name.slice(0, name.length - tail.length)), make("span", { class: "tail" }, tail)];
}

export class Labels {
	constructor(private readonly store: Store) { }

	/** Fills a box with the labels of the lines between two heights. */
	show(box: HTMLElement, lines: Line[], top: number, bottom: number): void {
		const seen = linesBetween(lines, top - AROUND, bottom + AROUND);
		const key = seen.map(line => `${line.track.id}:${line.y}:${line.height}:${line.closed}`).join() +
			this.store.state.pins.join();
		if (box.dataset.key === key)
			return;
		const focused = box.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.does : undefined;
		box.dataset.key = key;
		box.replaceChildren(...seen.map(line => this.label(line)));
		if (focused)
			box.querySelector<HTMLElement>(`[data-does="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
	}

	private label(line: Line): HTMLElement {
		const { track } = line;
		const name = plain(line.name);
		const toggle = button("", () => this.store.set({ closed: toggled(this.store.state.closed, track.id) }), {
			class: `name${line.inside ? " inside" : ""}`, title: hintOf(line), "aria-label": name, "aria-expanded": String(!line.closed),
			"data-does": `close ${track.id}` });
		toggle.append(...halves(name, line.name === track.name ? TAIL : OWN));
		const pinned = this.store.state.pins.includes(track.id);
		const does = make("span", { class: "does" });
		if (!line.group)
			does.append(button("\u2191", () => this.store.set({ pins: toggled(this.store.state.pins, track.id) }), {
				title: pinned ? "Unpin" : "Pin at the top", "aria-label": `Pin ${name}`, "aria-pressed": String(pinned),
				"data-does": `pin ${track.id}` }));
		if (!line.pinned)
			does.append(button("\u00d7", () => this.store.set(track.sort === FIRST ? { strip: "" } : { hidden: [...this.store.state.hidden, track.id] }), {
				title: "Hide", "aria-label": `Hide ${name}`, "data-does": `hide ${track.id}` }));
		const flat = !line.group && rowsOf(track) < 2;
		const label = make("div", { class: `label${line.group ? " group" : ""}${flat ? " flat" : ""}` }, toggle,
			make("span", { class: "note" }, numbersOf(line)), does);
		label.style.top = `${line.y}px`;
		label.style.height = `${line.height}px`;
		return label;
	}
}
