// search.ts - names that hold a text; n and p go from one slice to the next.
// SPDX-License-Identifier: Apache-2.0
import { holds, same, type Found, type Near, type Place } from "../api";
import { byId, table } from "../dom";
import { amount, count, titled } from "../format";
import { plain } from "../timeline/text";
import { failed, quiet, unlessEarly, weighedBy, type Context, type Panel } from "./context";

const SHOWN = 200;
const ASKED = 1000; // names
const AT_ONCE = 64; // matches that begin at once, among which one is counted
const PAUSE = 150; // ms after the last key

type Direction = "next" | "previous";

/** Which of all matches one is, from 1. */
interface Nth {
	query: string;
	place: Place;
	/** Null where it is not known. */
	nth: Promise<number | null>;
}

export class Search implements Panel {
	readonly title = "Search";
	private names: Found[] = [];
	private more = false;
	/** Of which query the names are, and of which trace: one that has grown has others. */
	private of = "";
	private reached: Nth | null = null;
	private counting = new AbortController();
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
			const { slice } = context.store.state;
			if (changed.has("slice") && this.reached && !(slice && same(slice, this.reached.place)))
				this.forget();
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
		], this.names.slice(0, SHOWN), row => void this.step("next", row)));
		if (this.names.length > SHOWN)
			box.append(quiet(`Only the ${SHOWN} names with the most time are shown.`));
	}

	focus(): void {
		this.input.focus();
		this.input.select();
	}

	/** Goes to the next slice, or the one before, whose name has been searched for: from where the step before has come to. */
	step(direction: Direction, name?: Found): Promise<void> {
		this.steps = this.steps.then(() => this.stepOn(direction, name)).catch(() => undefined);
		return this.steps;
	}

	private async stepOn(direction: Direction, name?: Found): Promise<void> {
		const { context } = this;
		await this.ask().catch(() => undefined);
		const { query } = context.store.state;
		if (!query || !this.names.length) {
			context.say(query ? "Nothing found" : "Search first: press /");
			return;
		}
		const from = await this.from();
		const near = await unlessEarly(context, name ? context.server.occurrence(name.name, from.at, direction, null, from.place)
			: context.server.match(query, from.at, direction, from.place));
		if (near === "early")
			return;
		if (!near) {
			context.say(direction === "next" ? "No later match" : "No earlier match");
			return;
		}
		const nth = this.nthOf(near, name ? null : from.place, direction, query);
		context.open(near, { from: near.begin, to: near.end });
		this.reached = { query, place: near, nth };
		void this.tell();
	}

	/** Which of all matches one is: counted from that which it was reached from, else in the trace. */
	private nthOf(near: Near, from: Place | null, direction: Direction, query: string): Promise<number | null> {
		const { reached } = this;
		if (reached && from && reached.query === query && same(reached.place, from))
			return reached.nth.then(nth => nth === null ? this.count(near, query) : nth + (direction === "next" ? 1 : -1));
		return this.count(near, query);
	}

	private async count(near: Near, query: string): Promise<number | null> {
		const { server } = this.context;
		this.counting.abort();
		const { signal } = this.counting = new AbortController();
		try {
			let nth = 1;
			let at: Near | null = near;
			while ((at = await server.match(query, near.begin, "previous", at)) && at.begin === near.begin)
				if (++nth > AT_ONCE)
					return null;
			if (near.begin < 0)
				return null; // damage has put it before the start
			const before = at ? await server.functions({ from: 0, to: near.begin }, null, signal) : [];
			return before.reduce((sum, { name, count }) => holds(name, query) ? sum + count : sum, nth);
		} catch {
			return null;
		}
	}

	private forget(): void {
		this.counting.abort();
		this.reached = null;
		void this.tell();
	}

	/** Says how many matches there are, and which of them is chosen, where that is known. */
	private async tell(): Promise<void> {
		const { reached, context } = this;
		const { query } = context.store.state;
		const nth = reached?.query === query ? await reached.nth : null;
		if (reached !== this.reached || query !== context.store.state.query)
			return;
		const all = this.names.reduce((sum, name) => sum + name.count, 0);
		const isAll = !this.more && context.trace().state !== "reading";
		const words = `${count(all)}${isAll ? "" : "+"}`;
		// What is no calls is counted otherwise.
		const known = nth !== null && nth <= all && ["ns", "instructions"].includes(weighedBy(context));
		this.found.textContent = !this.of ? "" : known ? `${count(nth)} of ${words}` : `${words} found`;
	}

	/** Goes to the first match, and from there n and p go on: they are text in the field. */
	private async go(direction: Direction): Promise<void> {
		byId("scroller").focus();
		await this.step(direction);
		if (!this.names.length)
			this.focus();
	}

	/** Where the search goes on from: the chosen slice, else the left edge of what is in sight. */
	private async from(): Promise<{ at: number; place: Place | null }> {
		const { slice, view } = this.context.store.state;
		const edge = { at: Math.ceil(view.from), place: null };
		return !slice ? edge : this.context.server.slice(slice).then(found => ({ at: found.begin, place: slice }), () => edge);
	}

	private async ask(): Promise<void> {
		const { context } = this;
		const { query } = context.store.state;
		const { state, generation } = context.trace();
		const of = query && `${state === "reading" ? state : generation} ${query}`;
		if (this.of === of)
			return;
		if (!query) {
			this.names = [];
			this.of = "";
			this.forget();
			return;
		}
		const answer = await context.server.search(query, ASKED);
		if (context.store.state.query !== query)
			return;
		this.of = of;
		this.names = answer.names;
		this.more = answer.more;
		await this.tell();
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
