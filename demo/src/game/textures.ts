import type { Textures } from 'phaser';

/** The game's colors, from the top of the scene to the bottom. */
export const palette = {
  skyTop: '#141233',
  skyLow: '#6a3f73',
  glow: '#f2a05f',
  moon: '#fbeec2',
  farHill: '#3a2b5f',
  nearHill: '#271f49',
  water: '#1a1738',
  ink: '#120f28',
  flame: '#ffc861',
  blueFlame: '#8fd3ff',
} as const;

type Draw = (pen: CanvasRenderingContext2D, width: number, height: number) => void;

export const hillWidth = 1_024;

/** Draws every texture once, so that the game does not have to download any. */
export function makeTextures(textures: Textures.TextureManager): void {
  const add = (key: string, width: number, height: number, draw: Draw) => {
    const texture = textures.createCanvas(key, width * 2, height * 2);
    if (!texture) return;
    texture.context.scale(2, 2);
    draw(texture.context, width, height);
    texture.refresh();
  };
  add('glow', 160, 160, drawGlow);
  add('blue-glow', 160, 160, drawBlueGlow);
  add('lantern', 40, 52, drawLantern('#fff6cf', '#ffd373', '#ff9d4a'));
  add('blue-lantern', 40, 52, drawLantern('#f2fbff', '#8fd3ff', '#3f86e8'));
  add('spark', 36, 36, drawSpark);
  add('ember', 8, 8, drawEmber(palette.flame));
  add('blue-ember', 8, 8, drawEmber(palette.blueFlame));
  add('reed', 44, 420, drawReed);
  add('branch', 64, 420, drawBranch);
  add('water', 512, 28, drawWater);
  add('far', hillWidth, 190, drawHills(palette.farHill, 3, 60, 1));
  add('near', hillWidth, 130, drawHills(palette.nearHill, 5, 36, 2));
}

function drawDisc(
  pen: CanvasRenderingContext2D,
  x: number,
  y: number,
  radius: number,
  color: string,
) {
  pen.fillStyle = color;
  pen.beginPath();
  pen.arc(x, y, radius, 0, Math.PI * 2);
  pen.fill();
}

function drawHalo(pen: CanvasRenderingContext2D, size: number, colors: [number, string][]): void {
  const gradient = pen.createRadialGradient(size / 2, size / 2, 0, size / 2, size / 2, size / 2);
  for (const [at, color] of colors) gradient.addColorStop(at, color);
  pen.fillStyle = gradient;
  pen.fillRect(0, 0, size, size);
}

const drawGlow: Draw = (pen, size) =>
  drawHalo(pen, size, [[0, '#ffb85c90'], [0.4, '#ff9d4a38'], [1, '#ff9d4a00']]); // prettier-ignore

const drawBlueGlow: Draw = (pen, size) =>
  drawHalo(pen, size, [[0, '#7cc4ff90'], [0.4, '#4a9dff38'], [1, '#4a9dff00']]); // prettier-ignore

/** Returns a function that draws the lantern with these colors, from the middle of its light to the edge. */
const drawLantern =
  (middle: string, between: string, edge: string): Draw =>
  (pen) => {
    pen.strokeStyle = '#7a3b2c';
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(20, 7, 5, Math.PI, 0);
    pen.stroke();
    pen.fillStyle = '#f0763f';
    pen.beginPath();
    pen.roundRect(5, 8, 30, 38, 13);
    pen.fill();
    const light = pen.createRadialGradient(20, 30, 2, 20, 28, 20);
    light.addColorStop(0, middle);
    light.addColorStop(0.55, between);
    light.addColorStop(1, edge);
    pen.fillStyle = light;
    pen.beginPath();
    pen.roundRect(10, 11, 20, 32, 9);
    pen.fill();
    pen.fillStyle = '#7a3b2c';
    pen.fillRect(12, 7, 16, 4);
    pen.fillRect(12, 43, 16, 4);
  };

const drawSpark: Draw = (pen, size) => {
  drawHalo(pen, size, [[0, '#fff3b0c0'], [0.35, '#ffdf7060'], [1, '#ffdf7000']]); // prettier-ignore
  drawDisc(pen, size / 2, size / 2, 5, '#ffe58a');
  drawDisc(pen, size / 2 - 1.2, size / 2 - 1.2, 2.2, '#fffdf0');
};

const drawEmber =
  (color: string): Draw =>
  (pen, size) =>
    drawDisc(pen, size / 2, size / 2, size / 2, color);

const drawReed: Draw = (pen, width, height) => {
  pen.fillStyle = palette.ink;
  pen.fillRect(width / 2 - 4, 34, 8, height);
  pen.beginPath();
  pen.roundRect(width / 2 - 9, 0, 18, 64, 9);
  pen.fill();
  pen.fillStyle = '#8a4f5d';
  pen.beginPath();
  pen.roundRect(width / 2 - 6, 3, 5, 54, 3);
  pen.fill();
  pen.fillStyle = palette.ink;
  for (const side of [-1, 1]) {
    pen.beginPath();
    pen.moveTo(width / 2, height * 0.75);
    pen.quadraticCurveTo(width / 2 + side * 8, 180, width / 2 + side * 20, 104 + side * 16);
    pen.quadraticCurveTo(width / 2 + side * 16, 210, width / 2 + side * 2, height);
    pen.fill();
  }
};

const drawBranch: Draw = (pen, width, height) => {
  pen.strokeStyle = palette.ink;
  pen.lineCap = 'round';
  pen.fillStyle = palette.ink;
  for (const [strand, length] of [
    [0, 0.97],
    [-13, 0.86],
    [14, 0.9],
    [-23, 0.68],
    [24, 0.72],
  ] as const) {
    // prettier-ignore
    const end = height * length;
    pen.lineWidth = 3;
    pen.beginPath();
    pen.moveTo(width / 2 + strand * 0.5, 0);
    pen.quadraticCurveTo(width / 2 + strand * 1.2, end * 0.5, width / 2 + strand, end);
    pen.stroke();
    for (let y = 24; y < end; y += 17) {
      const x = width / 2 + strand * (0.6 + (0.4 * y) / end);
      pen.beginPath();
      pen.ellipse(x + (y % 2 ? 4 : -4), y, 2.6, 8, y % 2 ? -0.6 : 0.6, 0, Math.PI * 2);
      pen.fill();
    }
  }
};

const drawWater: Draw = (pen, width, height) => {
  const depth = pen.createLinearGradient(0, 0, 0, height);
  depth.addColorStop(0, '#4d3f86');
  depth.addColorStop(0.3, palette.water);
  pen.fillStyle = depth;
  pen.fillRect(0, 0, width, height);
  for (let glint = 0; glint < 16; glint += 1) {
    const x = ((glint * 0.618_034) % 1) * width;
    pen.fillStyle = glint % 3 === 0 ? '#ffc86190' : '#8f80d060';
    pen.fillRect(x, 3 + ((glint * 5) % 17), 14 + ((glint * 7) % 22), 1.5);
  }
};

/** Returns a function that draws hills. The image tiles horizontally. */
function drawHills(color: string, waves: number, height: number, phase: number): Draw {
  return (pen, width, bottom) => {
    const turn = (Math.PI * 2) / width;
    pen.fillStyle = color;
    pen.beginPath();
    pen.moveTo(0, bottom);
    for (let x = 0; x <= width; x += 8) {
      const wave = Math.sin(x * turn * waves + phase) + 0.4 * Math.sin(x * turn * (waves * 2 + 1));
      pen.lineTo(x, bottom * 0.5 - (height * wave) / 1.4);
    }
    pen.lineTo(width, bottom);
    pen.fill();
  };
}

/** Draws the sky for a stage of this size, in physical pixels. */
export const drawSky: Draw = (pen, width, height) => {
  const sky = pen.createLinearGradient(0, 0, 0, height);
  sky.addColorStop(0, palette.skyTop);
  sky.addColorStop(0.62, palette.skyLow);
  sky.addColorStop(0.85, palette.glow);
  pen.fillStyle = sky;
  pen.fillRect(0, 0, width, height);
  for (let star = 0; star < 70; star += 1) {
    const x = ((star * 0.618_034) % 1) * width;
    const y = ((star * 0.754_878) % 1) * height * 0.6;
    drawDisc(
      pen,
      x,
      y,
      ((star % 4) / 4 + 0.5) * (height / 700),
      `rgba(255,244,214,${0.25 + (star % 5) / 8})`,
    );
  }
  const radius = Math.min(width, height) * 0.085;
  drawDisc(pen, width * 0.74, height * 0.24, radius * 1.7, '#fbeec218');
  drawDisc(pen, width * 0.74, height * 0.24, radius * 1.3, '#fbeec222');
  drawDisc(pen, width * 0.74, height * 0.24, radius, palette.moon);
  drawDisc(
    pen,
    width * 0.74 - radius * 0.3,
    height * 0.24 - radius * 0.2,
    radius * 0.18,
    '#efdcaa',
  );
  drawDisc(
    pen,
    width * 0.74 + radius * 0.25,
    height * 0.24 + radius * 0.3,
    radius * 0.13,
    '#efdcaa',
  );
};
