// fills.ts - rectangles and points of a picture, gathered and then drawn colour by colour: changing it is dear.
// SPDX-License-Identifier: Apache-2.0
import type { Theme } from "./colours";
import { Numbers } from "./numbers";
import { Pixels, pixelOf } from "./pixels";

const NARROW = 2; // pixels
const MANY = 2000; // narrow rectangles: more are written as pixels

/** Colours are numbers of those that names have. */
export class Fills {
	/** By colour: x, y, width, height; and x, y. */
	private readonly rectangles: Numbers[] = [];
	private readonly points: Numbers[] = [];
	/** x, y, width, height, colour. */
	private readonly narrow = new Numbers(5);

	constructor(private readonly pixels: Pixels) { }

	rectangle(colour: number, x: number, y: number, width: number, height: number): void {
		if (width <= NARROW)
			this.narrow.add(x, y, width, height, colour);
		else
			(this.rectangles[colour] ??= new Numbers(4)).add(x, y, width, height);
	}

	point(colour: number, x: number, y: number): void {
		(this.points[colour] ??= new Numbers(2)).add(x, y);
	}

	/** Draws what has been gathered into a picture of that size, and forgets it. */
	draw(context: CanvasRenderingContext2D, theme: Theme, size: { width: number; height: number }): void {
		const asPixels = this.narrow.length > 5 * MANY;
		if (!asPixels)
			this.spread();
		// An edge of paper: points that touch stay apart.
		context.strokeStyle = theme.page;
		context.lineWidth = 1;
		theme.names.forEach((colour, i) => {
			context.fillStyle = colour;
			this.fill(context, this.rectangles[i]);
			this.fillPoints(context, this.points[i]);
		});
		if (asPixels)
			this.write(context, theme, size);
		this.narrow.clear();
	}

	/** Narrow ones become as others are. */
	private spread(): void {
		const { items, length } = this.narrow;
		for (let i = 0; i < length; i += 5)
			(this.rectangles[items[i + 4]!] ??= new Numbers(4)).add(items[i]!, items[i + 1]!, items[i + 2]!, items[i + 3]!);
	}

	private fill(context: CanvasRenderingContext2D, rectangles: Numbers | undefined): void {
		if (!rectangles)
			return;
		const { items, length } = rectangles;
		for (let i = 0; i < length; i += 4)
			context.fillRect(items[i]!, items[i + 1]!, items[i + 2]!, items[i + 3]!);
		rectangles.clear();
	}

	private fillPoints(context: CanvasRenderingContext2D, points: Numbers | undefined): void {
		if (!points)
			return;
		const { items, length } = points;
		for (let i = 0; i < length; i += 2)
			point(context, items[i]!, items[i + 1]!);
		points.clear();
	}

	private write(context: CanvasRenderingContext2D, theme: Theme, { width, height }: { width: number; height: number }): void {
		const pixels = theme.names.map(pixelOf);
		const { items, length } = this.narrow;
		this.pixels.begin(width, height);
		for (let i = 0; i < length; i += 5)
			this.pixels.fill(items[i]!, items[i + 1]!, items[i + 2]!, items[i + 3]!, pixels[items[i + 4]!]!);
		this.pixels.draw(context);
	}
}

function point(context: CanvasRenderingContext2D, x: number, y: number): void {
	context.beginPath();
	context.moveTo(x, y + 2);
	context.lineTo(x + 5, y + 8);
	context.lineTo(x, y + 14);
	context.lineTo(x - 5, y + 8);
	context.closePath();
	context.fill();
	context.stroke();
}
