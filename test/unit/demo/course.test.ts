import { expect, it } from 'vitest';
import { createCourse, type Stretch } from '../../../demo/src/game/course.ts';
import { seededRandom } from '../../../demo/src/game/random.ts';

function createStretches(seed: number, count = 300): Stretch[] {
  const next = createCourse(seededRandom(seed));
  return Array.from({ length: count }, next);
}

it('generates the same course for the same seed', () => {
  expect(createStretches(7)).toEqual(createStretches(7));
  expect(createStretches(7)).not.toEqual(createStretches(8));
});

it('always leaves the player a way through', () => {
  const obstacles = createStretches(3).map(({ obstacle }) => obstacle);
  for (const [index, { x, length }] of obstacles.entries()) {
    expect(length).toBeLessThanOrEqual(0.56);
    const previous = obstacles[index - 1];
    if (previous) expect(x - previous.x).toBeGreaterThanOrEqual(240);
  }
});

it('never places a spark inside an obstacle', () => {
  for (const { obstacle, sparks } of createStretches(5)) {
    for (const { y } of sparks) {
      if (obstacle.kind === 'reed') expect(y).toBeLessThan(1 - obstacle.length);
      else expect(y).toBeGreaterThan(obstacle.length);
    }
  }
});
