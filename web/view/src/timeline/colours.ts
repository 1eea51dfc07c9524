// colours.ts - what has which colour, in light and dark.
// SPDX-License-Identifier: Apache-2.0

/** Twelve that stay apart for eyes that do not tell red from green, and carry text with a contrast above 4.5. */
export const LIGHT = ["#d3b080", "#85dcff", "#ffea75", "#9d8cca", "#d6d79d", "#58a0ff", "#e2c242", "#abf2e4",
	"#9fa7ae", "#d4bec3", "#8e9a6e", "#96b5ed"];
export const DARK = ["#783615", "#3871af", "#8b4900", "#6a44b4", "#60773e", "#435c63", "#4e3e8f", "#2f7a6e",
	"#61528c", "#4d6544", "#44237d", "#304d44"];

export interface Theme {
	names: string[];
	/** What two traces have changed: as before, then by steps; as the tool's pictures have it. */
	more: string[];
	less: string[];
	text: string;
	page: string;
	band: string;
	group: string;
	muted: string;
	line: string;
	grid: string;
	accent: string;
	selection: string;
	match: string;
	damage: string;
	counter: string;
	dark: boolean;
}

export const THEMES: Record<"light" | "dark", Theme> = {
	light: { names: LIGHT, more: ["#e9e3da", "#fbd5cb", "#f7ac9b", "#f07d68", "#e2493a"],
		less: ["#e9e3da", "#cfdffa", "#a5c4f5", "#77a3ec", "#4a80dd"], text: "#1f1408", page: "#fffdf9", band: "#fbf7f0", group: "#f1ebe1", muted: "#5c5046",
		line: "#ded6cb", grid: "#eee7dc", accent: "#0b57d0", selection: "#0b57d022", match: "#8a2be2", damage: "#c5221f",
		counter: "#1f6fb4", dark: false },
	dark: { names: DARK, more: ["#3a342b", "#54302a", "#74322a", "#963529", "#b93a2b"],
		less: ["#3a342b", "#2b3a54", "#2b4876", "#2c5799", "#2d66bd"], text: "#fff4e6", page: "#17140f", band: "#1c1913", group: "#28231b", muted: "#b8aa9a",
		line: "#453d33", grid: "#2a251e", accent: "#8ab4f8", selection: "#8ab4f82e", match: "#d3b4ff", damage: "#f28b82",
		counter: "#6cb0ee", dark: true },
};

const STEPS = [0.02, 0.1, 0.3, 0.6]; // of the larger one

/** By how much of the larger one something has changed. */
export function changeColour(before: number, after: number, theme: Theme): string {
	const most = Math.max(before, after);
	const step = STEPS.filter(each => Math.abs(after - before) > each * most).length;
	return (after > before ? theme.more : theme.less)[step]!;
}

const utf8 = new TextEncoder();

/** A stable number for a name: FNV-1a, as the tool's pictures take it. */
export function hash(name: string, most: number): number {
	let value = 2166136261;
	for (const byte of utf8.encode(name))
		value = Math.imul(value ^ byte, 16777619);
	return ((value >>> 16 ^ value) >>> 0) % most;
}
