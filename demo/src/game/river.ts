import type { GameObjects, Scene } from 'phaser';
import type { Stretch } from './course.ts';

interface Thing {
  image: GameObjects.Image;
  x: number;
}
interface Barrier extends Thing {
  from: number;
  to: number;
}

/** The obstacles and sparks, created ahead of the view and removed behind it. */
export interface River {
  /** Moves everything to its position as seen from `distance`. */
  scroll(distance: number, time: number): void;
  /** Whether a circle there touches an obstacle. */
  hits(x: number, y: number, radius: number): boolean;
  /** Collects the sparks that a circle there touches, and returns their positions. */
  collect(x: number, y: number, radius: number): { x: number; y: number }[];
  /** Removes the obstacles ahead, after a revival. */
  clearAhead(x: number): void;
  destroy(): void;
}

const barrierHalfWidth = 12;

export function createRiver(
  scene: Scene,
  nextStretch: () => Stretch,
  size: { width: number; height: number },
): River {
  const barriers: Barrier[] = [];
  const sparks: Thing[] = [];
  let createdUntil = 0;

  function make({ obstacle, sparks: path }: Stretch): void {
    const length = obstacle.length * size.height;
    const fromTop = obstacle.kind === 'branch';
    const image = scene.add.image(0, fromTop ? length : size.height - length, obstacle.kind);
    image.setOrigin(0.5, fromTop ? 1 : 0).setDepth(4);
    image.setScale(0.5, Math.max(0.5, (length + 30) / (image.height * 0.98)));
    barriers.push({
      image,
      x: obstacle.x,
      from: fromTop ? -99 : size.height - length,
      to: fromTop ? length : size.height,
    });
    for (const { x, y } of path) {
      sparks.push({
        image: scene.add
          .image(0, y * size.height, 'spark')
          .setScale(0.5)
          .setDepth(5),
        x,
      });
    }
    createdUntil = obstacle.x;
  }

  const drop = (things: Thing[], gone: (thing: Thing) => boolean) => {
    for (let index = things.length - 1; index >= 0; index -= 1) {
      const thing = things[index];
      if (!thing || !gone(thing)) continue;
      thing.image.destroy();
      things.splice(index, 1);
    }
  };

  return {
    scroll(distance, time) {
      while (createdUntil < distance + size.width + 400) make(nextStretch());
      drop(barriers, (thing) => thing.x < distance - 80);
      drop(sparks, (thing) => thing.x < distance - 80);
      for (const { image, x } of barriers) image.x = x - distance;
      for (const { image, x } of sparks) {
        image.x = x - distance;
        image.setScale(0.5 + 0.05 * Math.sin(time * 5 + x));
      }
    },
    hits: (x, y, radius) =>
      barriers.some(
        ({ image, from, to }) =>
          Math.abs(image.x - x) < barrierHalfWidth + radius * 0.7 &&
          y + radius > from &&
          y - radius < to,
      ),
    collect(x, y, radius) {
      const reached = (thing: Thing) =>
        Math.hypot(thing.image.x - x, thing.image.y - y) < radius + 15;
      const found = sparks.filter(reached).map(({ image }) => ({ x: image.x, y: image.y }));
      if (found.length > 0) drop(sparks, reached);
      return found;
    },
    clearAhead(x) {
      drop(barriers, (thing) => thing.image.x < x);
    },
    destroy() {
      drop(barriers, () => true);
      drop(sparks, () => true);
    },
  };
}
