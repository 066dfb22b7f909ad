import type { GameObjects, Scene } from 'phaser';

const gravity = 620;
const lift = -900;
const maxSpeed = 330;
const emberCount = 22;

/** The player's lantern, with its glow and a trail of embers. */
export interface Lantern {
  readonly y: number;
  readonly x: number;
  /** Radius of the hit area, in world units. */
  readonly radius: number;
  place(x: number, y: number): void;
  /** Hovers in place before a run. */
  hover(time: number): void;
  fly(seconds: number, rising: boolean, top: number): void;
  setLit(lit: boolean): void;
  paintBlue(): void;
}

export function createLantern(scene: Scene): Lantern {
  const glow = scene.add.image(0, 0, 'glow').setDepth(6);
  const body = scene.add.image(0, 0, 'lantern').setScale(0.5).setDepth(7);
  const embers = Array.from({ length: emberCount }, () =>
    scene.add.image(-99, -99, 'ember').setDepth(5),
  );
  let speed = 0;
  let age = 0;
  let nextEmber = 0;
  let base = 0;

  const follow = () => {
    glow
      .setPosition(body.x, body.y)
      .setScale(0.5 + 0.03 * Math.sin(age * 9) + 0.02 * Math.sin(age * 23));
  };
  return {
    radius: 13,
    get x() {
      return body.x;
    },
    get y() {
      return body.y;
    },
    place(x, y) {
      base = y;
      speed = 0;
      body.setPosition(x, y).setAngle(0);
      follow();
    },
    hover(time) {
      age = time;
      body.y = base + 9 * Math.sin(time * 1.8);
      body.setAngle(3 * Math.sin(time * 1.3));
      follow();
    },
    fly(seconds, rising, top) {
      age += seconds;
      speed += (rising ? lift : gravity) * seconds;
      speed = Math.max(-maxSpeed, Math.min(maxSpeed, speed));
      body.y += speed * seconds;
      if (body.y < top) {
        body.y = top;
        speed = Math.max(0, speed);
      }
      body.setAngle(speed / 16);
      follow();
      if (rising) nextEmber = shedEmber(embers, nextEmber, body);
      for (const ember of embers) fadeEmber(ember, seconds);
    },
    setLit(lit) {
      glow.setVisible(lit);
      body.setAlpha(lit ? 1 : 0.55);
    },
    paintBlue() {
      body.setTexture('blue-lantern');
      glow.setTexture('blue-glow');
      for (const ember of embers) ember.setTexture('blue-ember');
    },
  };
}

function shedEmber(embers: GameObjects.Image[], next: number, source: GameObjects.Image): number {
  const ember = embers[next];
  ember
    ?.setPosition(source.x - 4 + (next % 5) * 2, source.y + 20)
    .setAlpha(0.9)
    .setScale(0.45);
  return (next + 1) % embers.length;
}

function fadeEmber(ember: GameObjects.Image, seconds: number): void {
  if (ember.alpha <= 0) return;
  ember.setPosition(ember.x - 150 * seconds, ember.y + 60 * seconds);
  ember
    .setAlpha(Math.max(0, ember.alpha - 1.7 * seconds))
    .setScale(ember.scale * (1 - 1.2 * seconds));
}
