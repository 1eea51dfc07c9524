// keys.ts - one table of keys: what each does, and what the help says of it.
// SPDX-License-Identifier: Apache-2.0
import { button, byId, make } from "./dom";

export interface Key {
	/** What events call it; several do the same. */
	keys: string[];
	/** How the help writes it. */
	shown: string;
	says: string;
	act(event: KeyboardEvent): void;
	/** Goes on while the key is held: called with the part of a second since the last time. */
	hold?(seconds: number): void;
	ctrl?: boolean;
	/** Only with the focus in the timeline: these keys mean something to other parts. */
	inTimeline?: boolean;
}

/** What mouse and fingers do. */
const HANDS: [string, string][] = [
	["click", "select a slice"],
	["double-click", "zoom to a slice"],
	["drag", "select a time range on the tracks under it; on the ruler, on all"],
	["Shift+drag", "pan and scroll"],
	["one finger", "pan; up and down, scroll"],
	["wheel", "scroll"],
	["Shift+wheel", "pan"],
	["Ctrl+wheel", "zoom; also the wheel on the ruler"],
	["two fingers", "zoom by pinching"],
];

/** Keys, and what they do: several may do the same. */
function listOf(rows: [string, string][]): HTMLElement {
	const said = new Map<string, string[]>();
	for (const [shown, says] of rows)
		said.set(says, [...said.get(says) ?? [], shown]);
	const list = make("div", { class: "keys" });
	for (const [says, keys] of said) {
		const shown = keys.map(key => make("span", { class: "combination" }, ...key.split("+").map(each => make("kbd", {}, each))));
		list.append(make("div", {}, make("span", {}, ...shown.flatMap((each, i) => (i ? [" or ", each] : [each]))), make("span", {}, says)));
	}
	return list;
}

function isText(target: EventTarget | null): boolean {
	return target instanceof HTMLInputElement && target.type !== "checkbox" || target instanceof HTMLTextAreaElement ||
		target instanceof HTMLSelectElement;
}

function inTimeline(target: EventTarget | null): boolean {
	return target === document.body || (target instanceof Element && target.closest("#scroller") !== null &&
		target.closest("button") === null);
}

export class Keys {
	private readonly held = new Map<string, (seconds: number) => void>();
	private last = 0;

	constructor(private readonly table: Key[]) {
		addEventListener("keydown", event => this.down(event));
		addEventListener("keyup", event => this.held.delete(event.key.toLowerCase()));
		addEventListener("blur", () => this.held.clear());
	}

	private find(event: KeyboardEvent): Key | undefined {
		const ctrl = event.ctrlKey || event.metaKey;
		return this.table.find(key => (key.keys.includes(event.key) || key.keys.includes(event.key.toLowerCase())) &&
			(key.ctrl ?? false) === ctrl && (!key.inTimeline || inTimeline(event.target)));
	}

	private down(event: KeyboardEvent): void {
		const dialog = byId<HTMLDialogElement>("help");
		if (dialog.open || event.altKey)
			return;
		const key = this.find(event);
		if (event.defaultPrevented || !key || isText(event.target) && !key.ctrl && event.key !== "Escape")
			return;
		event.preventDefault();
		if (key.hold && event.repeat)
			return;
		key.act(event);
		if (key.hold)
			this.hold(event.key.toLowerCase(), key.hold);
	}

	private hold(name: string, act: (seconds: number) => void): void {
		if (!this.held.size) {
			this.last = performance.now();
			requestAnimationFrame(() => this.frame());
		}
		this.held.set(name, act);
	}

	private frame(): void {
		const now = performance.now();
		for (const act of this.held.values())
			act(Math.min(0.05, (now - this.last) / 1000));
		this.last = now;
		if (this.held.size)
			requestAnimationFrame(() => this.frame());
	}

	showHelp(): void {
		const dialog = byId<HTMLDialogElement>("help");
		dialog.replaceChildren(make("h2", {}, "Keys, mouse and touch"), listOf(this.table.map(({ shown, says }) => [shown, says])),
			make("h3", {}, "Mouse and touch"), listOf(HANDS), button("Close", () => dialog.close(), { autofocus: "" }));
		dialog.showModal();
	}
}
