import type { GameObjects, Scene } from 'phaser';
import type { Stretch } from './course.ts';

interface PlacedImage {
  image: GameObjects.Image;
  x: number;
}
interface Barrier extends PlacedImage {
  from: number;
  to: number;
}

/** The obstacles and sparks. They are created just ahead of the visible area and removed behind it. */
export interface River {
  /** Scrolls everything to match the lantern's `distance` from the start. */
  scroll(distance: number, time: number): void;
  /** Whether a circle at this position touches an obstacle. */
  hits(x: number, y: number, radius: number): boolean;
  /** Collects the sparks that a circle at this position touches, and returns their positions. */
  collect(x: number, y: number, radius: number): { x: number; y: number }[];
  /** Removes the obstacles up to `x`, so that a revived player does not hit them immediately. */
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
  const sparks: PlacedImage[] = [];
  let createdUntil = 0;

  function addStretch({ obstacle, sparks: path }: Stretch): void {
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

  const removeWhere = (images: PlacedImage[], shouldRemove: (item: PlacedImage) => boolean) => {
    for (let index = images.length - 1; index >= 0; index -= 1) {
      const item = images[index];
      if (!item || !shouldRemove(item)) continue;
      item.image.destroy();
      images.splice(index, 1);
    }
  };

  return {
    scroll(distance, time) {
      while (createdUntil < distance + size.width + 400) addStretch(nextStretch());
      removeWhere(barriers, (item) => item.x < distance - 80);
      removeWhere(sparks, (item) => item.x < distance - 80);
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
      const isTouched = (item: PlacedImage) =>
        Math.hypot(item.image.x - x, item.image.y - y) < radius + 15;
      const touchedPositions = sparks
        .filter(isTouched)
        .map(({ image }) => ({ x: image.x, y: image.y }));
      if (touchedPositions.length > 0) removeWhere(sparks, isTouched);
      return touchedPositions;
    },
    clearAhead(x) {
      removeWhere(barriers, (item) => item.image.x < x);
    },
    destroy() {
      removeWhere(barriers, () => true);
      removeWhere(sparks, () => true);
    },
  };
}
