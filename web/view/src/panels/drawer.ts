// drawer.ts - the box below the timeline, and its tabs.
// SPDX-License-Identifier: Apache-2.0
import { button, byId, make } from "../dom";
import { TABS, type State, type Tab } from "../state";
import type { Context, Panel } from "./context";

const LEAST = 120; // pixels
const STEP = 24;
const PAUSE = 250; // ms that the view rests before questions about it are asked anew

/** What a question about a selection depends on. */
const ASKED: (keyof State)[] = ["selection", "tracks", "filter", "hidden"];
/** What each tab's content depends on. */
const NEEDS: Record<Tab, (keyof State)[]> = {
	details: ["slice"],
	functions: ASKED,
	flame: [...ASKED, "query"],
	callers: [...ASKED, "function", "slice", "query"],
	counters: ASKED,
	states: ASKED,
	compare: ["selection"],
	search: ["query"],
	sql: [],
	table: ["view", "closed", "hidden", "filter", "pins"],
	trace: ["hidden", "clock", "marks", "slice"],
};
/** Asked of what is in sight where nothing is selected. */
const OF_VIEW: Tab[] = ["functions", "flame", "callers", "counters", "states", "compare"];

export class Drawer {
	private readonly box = byId("drawer");
	private readonly tabs = byId("tabs");
	private readonly panel = byId("panel");
	private shown: Tab | null = null;
	private running = new AbortController();
	private timer = 0;

	constructor(private readonly context: Context, private readonly panels: Record<Tab, Panel>) {
		for (const tab of TABS)
			this.tabs.append(button(panels[tab].title, () => context.store.set({ tab }), {
				role: "tab", id: `tab-${tab}`, "aria-controls": "panel", "aria-selected": "false", tabindex: "-1" }));
		const close = button("\u00d7", () => this.close(), { class: "close", "aria-label": "Close the panel", title: "Close (Esc)" });
		this.tabs.after(close);
		this.tabs.addEventListener("keydown", event => this.key(event));
		context.store.listen(changed => this.stateChanged(changed));
		context.store.state = { ...context.store.state, tab: this.fitting };
		this.attachGrip();
	}

	close(): void {
		this.context.store.set({ tab: null });
		byId("scroller").focus();
	}

	private isMissing(tab: Tab): boolean {
		const { server } = this.context;
		return !server.live && (this.panels[tab].asksServer === true || tab === "compare" && !server.compares);
	}

	/** The tab of the state, or another where an exported page has not what it asks. */
	private get fitting(): Tab | null {
		const { tab } = this.context.store.state;
		return tab !== null && this.isMissing(tab) ? "functions" : tab;
	}

	/** Fills the panel anew: the trace has grown, or what it is about has changed. */
	refresh(): void {
		const { tab } = this.context.store.state;
		this.running.abort();
		this.running = new AbortController();
		this.box.classList.toggle("shut", tab === null);
		for (const each of TABS) {
			const element = byId(`tab-${each}`);
			element.hidden = this.isMissing(each) || each !== tab && this.panels[each].useless?.() === true;
			element.setAttribute("aria-selected", String(each === tab));
			element.tabIndex = each === (tab ?? TABS[0]) ? 0 : -1;
		}
		byId("panel").hidden = tab === null;
		if (tab === null)
			return;
		const box = make("div");
		if (tab !== this.shown)
			this.panel.scrollTop = 0;
		this.shown = tab;
		byId(`tab-${tab}`).scrollIntoView({ block: "nearest", inline: "nearest" });
		this.panel.setAttribute("aria-labelledby", `tab-${tab}`);
		const focused = this.panel.contains(document.activeElement) ? document.activeElement!.id : "";
		this.panel.replaceChildren(box);
		void this.panels[tab].show(box, this.running.signal);
		// Who stands in a box that is made anew stays there.
		if (focused)
			document.getElementById(focused)?.focus();
	}

	private stateChanged(changed: ReadonlySet<keyof State>): void {
		const { tab, selection } = this.context.store.state;
		const { fitting } = this;
		if (fitting !== tab) {
			this.context.store.set({ tab: fitting });
			return;
		}
		if (changed.has("tab") && tab !== this.shown) {
			this.refresh();
			this.shown = tab;
			return;
		}
		if (tab === null)
			return;
		const ofView = changed.has("view") && !selection && OF_VIEW.includes(tab);
		if (!ofView && !NEEDS[tab].some(key => changed.has(key)))
			return;
		this.refreshIn(tab === "details" ? 0 : PAUSE);
	}

	/** What somebody is writing stays until it is written. */
	private refreshIn(pause: number): void {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => (this.isWritten ? this.refreshIn(PAUSE) : this.refresh()), pause);
	}

	/** Whether there is something else in a field of the panel than it was made with. */
	private get isWritten(): boolean {
		const field = document.activeElement;
		return field instanceof HTMLInputElement && field.defaultValue !== "" && field.value !== field.defaultValue && this.panel.contains(field);
	}

	private key(event: KeyboardEvent): void {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		const { tab } = this.context.store.state;
		if (!step || tab === null)
			return;
		const tabs = TABS.filter(each => !byId(`tab-${each}`).hidden);
		const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length]!;
		this.context.store.set({ tab: next });
		byId(`tab-${next}`).focus();
		event.preventDefault();
		event.stopPropagation();
	}

	private attachGrip(): void {
		const grip = byId("grip");
		const resize = (height: number) => {
			const most = innerHeight * 0.75;
			const next = Math.round(Math.min(most, Math.max(LEAST, height)));
			this.box.style.height = `${next}px`;
			grip.setAttribute("aria-valuenow", String(next));
		};
		grip.addEventListener("pointerdown", event => grip.setPointerCapture(event.pointerId));
		grip.addEventListener("pointermove", event => {
			if (grip.hasPointerCapture(event.pointerId))
				resize(innerHeight - event.clientY);
		});
		grip.addEventListener("keydown", event => {
			const step = event.key === "ArrowUp" ? STEP : event.key === "ArrowDown" ? -STEP : 0;
			if (!step)
				return;
			resize(this.box.clientHeight + step);
			event.preventDefault();
			event.stopPropagation();
		});
	}
}
