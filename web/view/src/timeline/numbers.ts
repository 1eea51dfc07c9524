// numbers.ts - a list of numbers that is made anew for each picture, and keeps its room.
// SPDX-License-Identifier: Apache-2.0

const MOST = 5; // numbers of an entry

/** Entries of so many numbers each, one after the other. */
export class Numbers {
	items = new Float64Array(1024);
	length = 0;

	constructor(private readonly stride: number) { }

	add(a: number, b: number, c = 0, d = 0, e = 0): void {
		const at = this.length;
		if (at + MOST > this.items.length)
			this.grow();
		const { items } = this;
		items[at] = a;
		items[at + 1] = b;
		items[at + 2] = c;
		items[at + 3] = d;
		items[at + 4] = e;
		this.length = at + this.stride;
	}

	clear(): void {
		this.length = 0;
	}

	private grow(): void {
		const items = new Float64Array(2 * this.items.length);
		items.set(this.items);
		this.items = items;
	}
}
