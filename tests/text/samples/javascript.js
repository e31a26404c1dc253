// Shapes — drawn as ▲ and 😀.
import fs from 'fs';
import * as path from "node:path";
import { readFile, writeFile as write } from './files.js';
import './polyfill';
const { join } = require('path');
const lazy = import('./lazy.js');
export { helper } from './helper.js';

const MAX_SIDES = 64;
let origin = { x: 0, y: 0 };

/**
 * A closed figure.
 */
export default class Shape extends Figure {
  sides = 0;
  #secret;

  constructor(name) {
    super(name);
    this.name = name;
  }

  // The area, in square units.
  get area() {
    return this.measure() * Math.sqrt(2);
  }

  static async load(file = 'x') {
    return new Shape(await readFile(file));
  }
}

/** Draws all shapes. */
async function draw(shapes, { limit }) {
  const local = 1;
  for (const shape of shapes) {
    place(shape);
  }
}

function* each() {}

export const twice = (x) => x * 2;

const handler = function (event) {
  event.preventDefault();
};

const api = {
  start(port) {
    listen(port);
  },
  stop: () => {},
};

exports.close = function () {};

Shape.prototype.rotate = function (angle) {};
