// fills.ts - rectangles and points of a picture, gathered and then drawn colour by colour: changing it is dear.
// SPDX-License-Identifier: Apache-2.0
import type { Theme } from "./colours";
import { Numbers } from "./numbers";
import { Pixels, pixelOf } from "./pixels";

export const NARROW = 2; // pixels

/** Colours are numbers of those that names have. */
export class Fills {
	/** By colour: x, y, width, height; and x, y. */
	private readonly rectangles: Numbers[] = [];
	private readonly points: Numbers[] = [];
	private readonly narrow = new Pixels();
	private colours: string[] = [];
	private pixels: number[] = [];
	/** Of the row. */
	private floor = 0;

	/** Begins a picture of that size. */
	begin(theme: Theme, { width, height }: { width: number; height: number }): void {
		if (this.colours !== theme.names)
			this.pixels = theme.names.map(pixelOf);
		this.colours = theme.names;
		this.narrow.begin(width, height);
	}

	/** Begins a row: its rectangles end at that height. */
	row(floor: number): void {
		this.floor = floor;
		this.narrow.row(floor);
	}

	/** A rectangle of the row. */
	rectangle(colour: number, x: number, width: number, height: number): void {
		const y = this.floor - height;
		if (width <= NARROW)
			this.narrow.fill(x, y, width, this.pixels[colour]!);
		else
			(this.rectangles[colour] ??= new Numbers(4)).add(x, y, width, height);
	}

	point(colour: number, x: number, y: number): void {
		(this.points[colour] ??= new Numbers(2)).add(x, y);
	}

	endRow(): void {
		this.narrow.endRow();
	}

	/** Draws what has been gathered, and forgets it. */
	draw(context: CanvasRenderingContext2D, theme: Theme): void {
		// An edge of paper: points that touch stay apart.
		context.strokeStyle = theme.page;
		context.lineWidth = 1;
		theme.names.forEach((colour, i) => {
			context.fillStyle = colour;
			this.fill(context, this.rectangles[i]);
			this.fillPoints(context, this.points[i]);
		});
		this.narrow.draw(context);
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
