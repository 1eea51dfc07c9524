// pixels.ts - many narrow rectangles at once: written as pixels, which is several times faster than filling each.
// SPDX-License-Identifier: Apache-2.0

/** The bytes of "#rrggbb" as a canvas keeps them, opaque. */
export function pixelOf(colour: string): number {
	const [red, green, blue] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
	return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

/** A sheet of pixels, written row by row of the picture: rectangles of a row stand on the same floor. */
export class Pixels {
	private readonly canvas = document.createElement("canvas");
	private readonly sheet = this.canvas.getContext("2d")!;
	private image: ImageData | null = null;
	private words = new Uint32Array(0);
	private ratio = 1;
	/** Of the sheet: asking the canvas is dear. */
	private wide = 0;
	private high = 0;
	/** The lines of it that something is in. */
	private top = 0;
	private bottom = 0;
	/** The row that is being written, by column: its colours from the floor up, and how high they stand. */
	private colours = new Uint32Array(0);
	private heights = new Uint8Array(0);
	/** Where a lower one is in front: its height, and the colour above it. */
	private fronts = new Uint8Array(0);
	private backs = new Uint32Array(0);
	private floor = 0;
	private tallest = 0;
	/** Columns by their height: the first of each height, and of each column the next of the same; from 1, 0 for none. */
	private readonly ending = new Uint16Array(256);
	private next = new Uint16Array(0);

	/** Empties the sheet, and gives it the size of a picture. */
	begin(width: number, height: number): void {
		this.ratio = devicePixelRatio;
		const wide = Math.max(1, Math.round(width * this.ratio));
		const high = Math.max(1, Math.round(height * this.ratio));
		if (this.wide === wide && this.high === high)
			this.words.fill(0, this.top * wide, this.bottom * wide);
		else
			this.resize(wide);
		this.wide = wide;
		this.high = high;
		this.top = high;
		this.bottom = 0;
	}

	/** Room for rows; the sheet itself is made when something is written into it. */
	private resize(wide: number): void {
		this.image = null;
		this.colours = new Uint32Array(wide);
		this.heights = new Uint8Array(wide);
		this.fronts = new Uint8Array(wide);
		this.backs = new Uint32Array(wide);
		this.next = new Uint16Array(wide);
	}

	private make(): ImageData {
		this.canvas.width = this.wide;
		this.canvas.height = this.high;
		const image = new ImageData(this.wide, this.high);
		this.words = new Uint32Array(image.data.buffer);
		return image;
	}

	/** Begins a row that stands on that height of the picture. */
	row(floor: number): void {
		this.floor = Math.round(floor * this.ratio);
		this.tallest = 0;
	}

	/** A rectangle from y down to the floor of the row; of several in a column the last is seen, and behind it the highest. */
	fill(x: number, y: number, width: number, pixel: number): void {
		const { ratio, colours, heights, fronts, backs } = this;
		const left = Math.max(0, Math.round(x * ratio));
		const right = Math.min(this.wide, Math.max(left + 1, Math.round((x + width) * ratio)));
		const height = this.floor - Math.round(y * ratio);
		this.tallest = Math.max(this.tallest, height);
		for (let at = left; at < right; at++) {
			if (height >= heights[at]!) {
				heights[at] = height;
				fronts[at] = 0;
			} else {
				if (!fronts[at])
					backs[at] = colours[at]!;
				fronts[at] = height;
			}
			colours[at] = pixel;
		}
	}

	/** Writes the row into the sheet. */
	endRow(): void {
		const { floor, tallest, wide, colours } = this;
		if (!tallest)
			return;
		this.image ??= this.make();
		this.sort();
		this.top = Math.min(this.top, Math.max(0, floor - tallest));
		this.bottom = Math.max(this.bottom, Math.min(this.high, floor));
		for (let height = 0; height < tallest; height++) {
			this.endAt(height);
			const line = floor - 1 - height;
			if (line >= 0 && line < this.high)
				this.words.set(colours, line * wide);
		}
		this.endAt(tallest);
		this.heights.fill(0);
	}

	private sort(): void {
		const { heights, fronts, wide } = this;
		for (let at = 0; at < wide; at++)
			if (heights[at])
				this.changeAt(fronts[at] || heights[at]!, at);
	}

	/** Remembers at which height a column has another colour. */
	private changeAt(height: number, column: number): void {
		this.next[column] = this.ending[height]!;
		this.ending[height] = column + 1;
	}

	/** Columns whose colour ends at that height: above is what is behind, or nothing. */
	private endAt(height: number): void {
		const { ending, next, colours, fronts, backs, heights } = this;
		let at = ending[height]!;
		ending[height] = 0;
		while (at) {
			const column = at - 1;
			at = next[column]!;
			colours[column] = fronts[column] ? backs[column]! : 0;
			if (fronts[column])
				this.changeAt(heights[column]!, column);
			fronts[column] = 0;
		}
	}

	/** Draws the sheet over a picture. */
	draw(context: CanvasRenderingContext2D): void {
		const { top, ratio, wide } = this;
		const high = this.bottom - top;
		if (!this.image || high <= 0)
			return;
		this.sheet.putImageData(this.image, 0, 0, 0, top, wide, high);
		context.drawImage(this.canvas, 0, top, wide, high, 0, top / ratio, wide / ratio, high / ratio);
	}
}
