// Shapes — drawn as ▲ and 😀.
import fs from 'fs';
import type { Canvas, Pen as Stylus } from './canvas';
import * as path from "node:path";
import legacy = require('legacy');
export { helper } from './helper';

export const MAX_SIDES: number = 64;

/** What can be drawn. */
export interface Drawable<T> extends Named, geo.Placed {
  readonly name: string;
  draw(canvas: Canvas): void;
}

export type Pair = [Point, Point];

export enum Colour {
  Red = 1,
  Green,
}

/** A closed figure. */
@register('shape')
export abstract class Shape<T> extends Figure<T> implements Drawable<T> {
  private sides: Side[] = [];
  static count = 0;

  constructor(private readonly pen: Stylus, name: string) {
    super(name);
  }

  // The area, in square units.
  get area(): number {
    return this.measure<Side>(this.sides);
  }

  abstract rotate(angle: Angle): this;
}

/** Draws all shapes. */
export async function draw(shapes: Shape<Side>[], limit?: number): Promise<void> {
  for (const shape of shapes) {
    await place(shape as Drawable<Side>);
  }
}

export function parse(text: string): Shape<Side>;

export const twice = (x: number): number => x * 2;

declare module 'extra' {
  export function more(): void;
}

namespace geometry {
  export class Point {}
}
