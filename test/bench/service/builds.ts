import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A build of the service in a benchmark. */
export interface BuildUnderTest {
  name: 'this build' | 'older build';
  /** Its `main.js`. Default: that of this checkout. */
  main?: string;
}

/**
 * This build and, with `against`, the one of another checkout, with dependencies installed and everything built.
 *
 * @throws Error when the checkout has no built service.
 */
export function findBuilds(against: string | undefined): BuildUnderTest[] {
  const builds: BuildUnderTest[] = [{ name: 'this build' }];
  if (against === undefined) return builds;
  const main = join(resolve(against), 'service/dist/main.js');
  if (!existsSync(main))
    throw new Error(
      `${main} is missing. Give --against a checkout, in which you ran npm ci and npm run build.`,
    );
  return [...builds, { name: 'older build', main }];
}

/** The commit of a checkout, which may also have uncommitted changes. */
export const commitOf = (folder: string): string =>
  execFileSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

/** The order of a round: reversed in every second round, so that none is always first. */
export const inTurns = <T>(items: readonly T[], round: number): readonly T[] =>
  round % 2 === 0 ? items : items.toReversed();
