// ticks.ts - round places on an axis.
// SPDX-License-Identifier: Apache-2.0

const STEPS = [1, 2, 5];

/** The least of 1, 2 and 5 with zeros that divides the span into no more than `most` parts. */
export function step(span: number, most: number): number {
	for (let scale = 1; scale < 1e18; scale *= 10)
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
