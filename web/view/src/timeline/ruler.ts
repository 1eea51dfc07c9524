// ruler.ts - the axis above the tracks: ticks, the pointer's time, marks, and what is damaged or lost.
// SPDX-License-Identifier: Apache-2.0
import type { Finding, Lost, Stretch } from "../api";
import { round, time, type Unit } from "../format";
import type { Theme } from "./colours";
import { LEAST_LOST, SMALL, xOf } from "./draw";
import { clockTicks, step, ticks } from "./ticks";

const TICK_ROOM = 110; // pixels
const FLAG = 6; // pixels to each side

export interface Ruled {
	clock: number | null;
	findings: Finding[];
	lost: Lost[];
	view: Stretch;
	width: number;
	theme: Theme;
	unit: Unit;
	timeless: boolean;
	marks: number[];
	selection: Stretch | null;
	cursor: number | null;
}

/** What stands on the ruler instead of ticks: the selection's duration, else the pointer's time. */
function told(scene: Ruled): { at: number; words: string; ink: string } | null {
	const { selection, cursor, view, width, theme, unit } = scene;
	if (selection && selection.to >= view.from && selection.from <= view.to) {
		const left = Math.max(0, xOf(scene, selection.from));
		const right = Math.min(width, xOf(scene, selection.to));
		return { at: (left + right) / 2, words: time(selection.to - selection.from, unit), ink: theme.accent };
	}
	if (cursor === null)
		return null;
	return { at: cursor, words: time(view.from + (view.to - view.from) * cursor / width, unit), ink: theme.text };
}

/** Where words begin that are to stand around a place: beside a mark's flag rather than under it. */
export function besides(at: number, wide: number, width: number, flags: number[]): number {
	const most = width - wide - 5;
	const first = Math.max(5, Math.min(most, at - wide / 2));
	const free = (left: number) => left >= 5 && left <= most && flags.every(flag => flag + FLAG < left - 2 || flag - FLAG > left + wide + 2);
	const beside = flags.flatMap(flag => [flag + FLAG + 3, flag - FLAG - wide - 3]).filter(free);
	return free(first) || !beside.length ? first : beside.reduce((a, b) => (Math.abs(b - first) < Math.abs(a - first) ? b : a));
}

/** The ruler above the tracks, and above their scroll bar; gives the labels of its ticks. */
export function drawRuler(context: CanvasRenderingContext2D, scene: Ruled, width: number, height: number): string[] {
	context.fillStyle = scene.theme.page;
	context.fillRect(0, 0, width, height);
	context.font = SMALL;
	const plate = told(scene);
	const wide = plate ? context.measureText(plate.words).width : 0;
	const left = plate ? besides(plate.at, wide, scene.width, scene.marks.map(mark => Math.round(xOf(scene, mark)))) : scene.width;
	const labels: string[] = [];
	for (const { at, label } of ruled(scene)) {
		const x = Math.round(xOf(scene, at));
		context.fillStyle = scene.theme.line;
		context.fillRect(x, 4, 1, height - 4);
		const end = x + 5 + context.measureText(label).width;
		// None is cut at the edge, and none stands under what else is told.
		if (end > scene.width || end + 6 > left && x < left + wide + 6)
			continue;
		labels.push(label);
		context.fillStyle = scene.theme.muted;
		context.fillText(label, x + 5, 16);
	}
	if (plate) {
		context.fillStyle = scene.theme.page;
		context.fillRect(left - 4, 4, wide + 8, height - 8);
		context.fillStyle = plate.ink;
		context.fillText(plate.words, left, 16);
	}
	context.fillStyle = scene.theme.accent;
	if (scene.selection)
		context.fillRect(xOf(scene, scene.selection.from), height - 3,
			Math.max(1, xOf(scene, scene.selection.to) - xOf(scene, scene.selection.from)), 3);
	for (const mark of scene.marks)
		flag(context, Math.round(xOf(scene, mark)), height);
	context.fillStyle = scene.theme.damage;
	for (const { from, to } of scene.lost)
		context.fillRect(xOf(scene, from), height - 4, Math.max(LEAST_LOST, xOf(scene, to) - xOf(scene, from)), 4);
	for (const finding of scene.findings)
		if (finding.time !== null)
			warning(context, xOf(scene, finding.time), height);
	return labels;
}

/** The ticks of the axis, and what stands at them. */
export function ruled({ view, width, unit, timeless, clock }: Ruled): { at: number; label: string }[] {
	if (timeless)
		return [];
	if (clock !== null && unit === "ns")
		return clockTicks(view.from, view.to, width / TICK_ROOM, clock);
	const most = width / TICK_ROOM;
	const each = step(view.to - view.from, most);
	return ticks(view.from, view.to, most).map(at => ({ at, label: round(at, unit, each) }));
}

/** Where something is damaged or lost. */
function warning(context: CanvasRenderingContext2D, x: number, height: number): void {
	context.beginPath();
	context.moveTo(x, height - 10);
	context.lineTo(x + 6, height);
	context.lineTo(x - 6, height);
	context.fill();
}

/** A mark on the ruler. */
function flag(context: CanvasRenderingContext2D, x: number, height: number): void {
	context.beginPath();
	context.moveTo(x - 5, 5);
	context.lineTo(x + 6, 5);
	context.lineTo(x + 0.5, height);
	context.fill();
}
