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
		const rows = [...this.table.map(({ shown, says }) => [shown, says]), ["drag", "select a stretch of the tracks under it"],
			["Shift drag", "pan"], ["wheel", "scroll"], ["Ctrl wheel", "zoom; also pinch, or the wheel on the ruler"],
			["Shift wheel", "pan"], ["double click", "zoom to a slice"]];
		const list = make("div", { class: "keys" });
		for (const [shown, says] of rows) {
			const keys = make("span", {}, ...shown!.split(" ").map(each => make("kbd", {}, each)));
			list.append(make("div", {}, keys, make("span", {}, says!)));
		}
		dialog.replaceChildren(make("h2", {}, "Keys and hands"), list,
			button("Close", () => dialog.close(), { autofocus: "" }));
		dialog.showModal();
	}
}
