// ticks.ts - round places on an axis.
// SPDX-License-Identifier: Apache-2.0

const STEPS = [1, 2, 5];

/** The least of 1, 2 and 5 with zeros that divides the span into no more than `most` parts. */
export function step(span: number, most: number): number {
	for (let scale = 1; scale < 1e21; scale *= 10)
		for (const each of STEPS)
			if (span / (scale * each) <= most)
				return scale * each;
	return Infinity;
}

/** The round places of a stretch. */
export function ticks(begin: number, end: number, most: number): number[] {
	const each = step(end - begin, most);
	const places: number[] = [];
	for (let n = Math.ceil(begin / each); n * each <= end; n++)
		places.push(n * each);
	return places;
}

const SECOND = 1e9;
const DAY = 86400 * SECOND;
const LONG = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map(each => each * SECOND);

/** Round times of day in a stretch; `clock` is that at 0, in ns since midnight. */
export function clockTicks(begin: number, end: number, most: number, clock: number): { at: number; label: string }[] {
	const small = step(end - begin, most);
	const each = small < SECOND ? small : LONG.find(long => (end - begin) / long <= most) ?? small;
	const digits = Math.max(0, 9 - Math.floor(Math.log10(each) + 1e-9));
	const places: { at: number; label: string }[] = [];
	for (let n = Math.ceil((begin + clock) / each); n * each <= end + clock; n++)
		places.push({ at: n * each - clock, label: timeOfDay(n * each, digits) });
	return places;
}

/** 23:59:59 and so many digits of the second. */
export function timeOfDay(ns: number, digits: number): string {
	const inDay = ((ns % DAY) + DAY) % DAY;
	const whole = Math.floor(inDay / SECOND);
	const two = (number: number) => String(number).padStart(2, "0");
	const rest = String(Math.round(inDay - whole * SECOND)).padStart(9, "0").slice(0, digits);
	return `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${rest ? `.${rest}` : ""}`;
}
