// search.ts - names that hold a text; n and p go from one slice to the next.
// SPDX-License-Identifier: Apache-2.0
import type { Found } from "../api";
import { byId, table } from "../dom";
import { amount, count, titled } from "../format";
import { plain } from "../timeline/text";
import { failed, quiet, unlessEarly, weighedBy, type Context, type Panel } from "./context";

const SHOWN = 200;
const ASKED = 32; // names that n and p look for at once
const PAUSE = 150; // ms after the last key

export class Search implements Panel {
	readonly title = "Search";
	private names: Found[] = [];
	private more = false;
	private of = "";
	private readonly input = byId<HTMLInputElement>("search");
	private readonly found = byId("found");
	private timer = 0;
	/** Steps that are asked for, one after the other. */
	private steps = Promise.resolve();

	constructor(private readonly context: Context) {
		this.input.value = context.store.state.query;
		this.input.addEventListener("input", () => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => context.store.set({ query: this.input.value.trim() }), PAUSE);
		});
		this.input.addEventListener("keydown", event => this.key(event));
		context.store.listen(changed => {
			if (changed.has("query") && document.activeElement !== this.input)
				this.input.value = context.store.state.query;
			if (changed.has("query"))
				void this.ask().catch(() => undefined);
		});
		if (context.store.state.query)
			void this.ask().catch(() => undefined);
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { query } = this.context.store.state;
		if (!query) {
			box.append(quiet("Press / and type a part of a name."));
			return;
		}
		try {
			await this.ask();
		} catch (error) {
			failed(box, error);
			return;
		}
		if (signal.aborted)
			return;
		if (!this.names.length) {
			box.append(quiet(`No name contains \u201c${plain(query)}\u201d.`));
			return;
		}
		const unit = weighedBy(this.context);
		box.append(table("Names found", [
			{ name: "name", text: row => plain(row.name), value: row => row.name },
			{ name: "count", number: true, text: row => count(row.count), value: row => row.count },
			{ name: titled("total", unit), number: true, text: row => amount(row.total, unit), value: row => row.total },
		], this.names, row => void this.step("next", [row])));
		if (this.more)
			box.append(quiet(`Only the ${SHOWN} names with the most time are shown.`));
	}

	focus(): void {
		this.input.focus();
		this.input.select();
	}

	/** Goes to the next slice, or the one before, whose name has been searched for: from where the step before has come to. */
	step(direction: "next" | "previous", names?: Found[]): Promise<void> {
		this.steps = this.steps.then(() => this.stepOn(direction, names)).catch(() => undefined);
		return this.steps;
	}

	private async stepOn(direction: "next" | "previous", names?: Found[]): Promise<void> {
		const { context } = this;
		await this.ask().catch(() => undefined);
		const among = (names ?? this.names).slice(0, ASKED);
		if (!among.length) {
			context.say(context.store.state.query ? "Nothing found" : "Search first: press /");
			return;
		}
		const at = await this.from();
		const all = await unlessEarly(context, Promise.all(among.map(name => context.server.occurrence(name.name, at, direction))));
		if (all === "early")
			return;
		const near = (all ?? []).filter(each => each !== null);
		near.sort((a, b) => direction === "next" ? a.begin - b.begin : b.begin - a.begin);
		const first = near[0];
		if (first)
			context.open(first, { from: first.begin, to: first.end });
		else
			context.say(direction === "next" ? "No later match" : "No earlier match");
	}

	/** Goes to the first match, and from there n and p go on: they are text in the field. */
	private async go(direction: "next" | "previous"): Promise<void> {
		byId("scroller").focus();
		await this.step(direction);
		if (!this.names.length)
			this.focus();
	}

	/** Where the search goes on from: the chosen slice, else the left edge of what is in sight. */
	private async from(): Promise<number> {
		const { slice, view } = this.context.store.state;
		if (!slice)
			return Math.max(0, view.from) - 1;
		return this.context.server.slice(slice).then(found => found.begin, () => view.from);
	}

	private async ask(): Promise<void> {
		const { query } = this.context.store.state;
		if (this.of === query)
			return;
		if (!query) {
			this.names = [];
			this.of = "";
			this.found.textContent = "";
			return;
		}
		const answer = await this.context.server.search(query, SHOWN);
		if (this.context.store.state.query !== query)
			return;
		this.of = query;
		this.names = answer.names;
		this.more = answer.more;
		const slices = this.names.reduce((sum, name) => sum + name.count, 0);
		this.found.textContent = `${count(slices)}${this.more ? "+" : ""} found`;
	}

	private key(event: KeyboardEvent): void {
		if (event.key === "Enter") {
			clearTimeout(this.timer);
			this.context.store.set({ query: this.input.value.trim(), tab: "search" });
			void this.go(event.shiftKey ? "previous" : "next");
		} else if (event.key === "Escape") {
			if (this.input.value === "")
				byId("scroller").focus();
			this.input.value = "";
			this.context.store.set({ query: "" });
		} else {
			return;
		}
		event.preventDefault();
	}
}
