/** An obstacle: a reed that grows up from the water, or a willow branch that hangs down. */
export interface Obstacle {
  kind: 'reed' | 'branch';
  /** Distance from the start, in world units. */
  x: number;
  /** Fraction of the height that the obstacle covers, from 0 to 1. */
  length: number;
}

export interface Spark {
  x: number;
  /** Distance from the top, as a fraction of the height. */
  y: number;
}

/** A section of the course: an obstacle and the sparks around it. */
export interface Stretch {
  obstacle: Obstacle;
  sparks: Spark[];
}

const firstObstacleX = 620;

/** Creates an endless course. The obstacles get closer together and larger, but always leave a gap to fly through. */
export function createCourse(random: () => number): () => Stretch {
  let x = firstObstacleX;
  let count = 0;
  let previous: Obstacle['kind'] = 'branch';
  return () => {
    const difficulty = Math.min(1, count / 40);
    // Two obstacles in a row on the same side are easy, so the course usually switches sides.
    const switchesSides = random() < 0.72;
    const kind = switchesSides ? (previous === 'reed' ? 'branch' : 'reed') : previous;
    const obstacle: Obstacle = { kind, x, length: 0.26 + 0.16 * difficulty + 0.14 * random() };
    const gap = 330 - 90 * difficulty + 60 * random();
    const sparks = createSparkArc(obstacle, gap, random);
    previous = kind;
    count += 1;
    x += gap;
    return { obstacle, sparks };
  };
}

/** Creates an arc of sparks that leads through the gap next to the obstacle. */
function createSparkArc(obstacle: Obstacle, gap: number, random: () => number): Spark[] {
  const freeShare = 1 - obstacle.length;
  const passage = obstacle.kind === 'reed' ? freeShare * 0.55 : obstacle.length + freeShare * 0.45;
  const sparkCount = 3 + Math.floor(random() * 3);
  return Array.from({ length: sparkCount }, (_, index) => {
    const along = sparkCount === 1 ? 0 : index / (sparkCount - 1) - 0.5;
    return { x: obstacle.x + along * gap * 0.5, y: passage + 0.05 * Math.cos(along * Math.PI * 2) };
  });
}
