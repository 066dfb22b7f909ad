import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A build of the service that a benchmark measures. */
export interface BuildUnderTest {
  name: 'this build' | 'older build';
  /** Path of its `main.js`. Default: the `main.js` of this checkout. */
  main?: string;
}

/**
 * Returns this build and, with `against`, the build from another checkout. That checkout must be built, and its
 * dependencies must be installed.
 *
 * @throws Error when the checkout has no built service.
 */
export function findBuilds(against: string | undefined): BuildUnderTest[] {
  const builds: BuildUnderTest[] = [{ name: 'this build' }];
  if (against === undefined) return builds;
  const main = join(resolve(against), 'service/dist/main.js');
  if (!existsSync(main))
    throw new Error(
      `${main} is missing. Run npm ci and npm run build in the checkout that --against names.`,
    );
  return [...builds, { name: 'older build', main }];
}

/** Returns a checkout's current commit. The checkout may also have uncommitted changes. */
export const readCommit = (folder: string): string =>
  execFileSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

/**
 * Returns the items in the order for this round. Every other round is in reverse order, so that no item is always
 * first.
 */
export const roundOrder = <T>(items: readonly T[], round: number): readonly T[] =>
  round % 2 === 0 ? items : items.toReversed();
