// pixels.ts - many narrow rectangles at once: written as pixels, which is several times faster than filling each.
// SPDX-License-Identifier: Apache-2.0

/** The bytes of "#rrggbb" as a canvas keeps them, opaque. */
export function pixelOf(colour: string): number {
	const [red, green, blue] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
	return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

export class Pixels {
	private readonly canvas = document.createElement("canvas");
	private readonly sheet = this.canvas.getContext("2d")!;
	private image: ImageData | null = null;
	private words = new Uint32Array(0);
	private ratio = 1;
	/** Of the sheet: asking the canvas is dear. */
	private wide = 0;
	private high = 0;
	/** The rows of it that something is in. */
	private top = 0;
	private bottom = 0;

	/** Empties the sheet, and gives it the size of a picture. */
	begin(width: number, height: number): void {
		this.ratio = devicePixelRatio;
		const wide = Math.max(1, Math.round(width * this.ratio));
		const high = Math.max(1, Math.round(height * this.ratio));
		if (this.image && this.wide === wide && this.high === high) {
			this.words.fill(0, this.top * wide, this.bottom * wide);
		} else {
			this.canvas.width = wide;
			this.canvas.height = high;
			this.image = new ImageData(wide, high);
			this.words = new Uint32Array(this.image.data.buffer);
		}
		this.wide = wide;
		this.high = high;
		this.top = high;
		this.bottom = 0;
	}

	fill(x: number, y: number, width: number, height: number, pixel: number): void {
		const { ratio, words, wide: stride } = this;
		const left = Math.max(0, Math.round(x * ratio));
		const right = Math.min(stride, Math.max(left + 1, Math.round((x + width) * ratio)));
		const top = Math.max(0, Math.round(y * ratio));
		const bottom = Math.min(this.high, Math.round((y + height) * ratio));
		if (top >= bottom)
			return;
		this.top = Math.min(this.top, top);
		this.bottom = Math.max(this.bottom, bottom);
		for (let row = top * stride; row < bottom * stride; row += stride)
			for (let at = row + left; at < row + right; at++)
				words[at] = pixel;
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
