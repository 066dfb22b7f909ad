import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = join(import.meta.dirname, '..', '..');

/** The files that take longest, although they are not the largest. */
const longest = [
  'test/e2e/panel/pages.test.ts',
  'test/e2e/start.test.ts',
  'test/e2e/quick-start/quick-start.test.ts',
];

/**
 * Starts these files before the others of their project, so that none of them runs alone at the end. Vitest starts the files
 * that took longest in an earlier run, but after a fresh checkout, it starts the largest ones.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    for (const file of longest)
      if (!existsSync(join(root, file)))
        throw new Error(`${file} is missing: update the list in test/support/longest-first.ts.`);
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification) =>
      longest.some((file) => moduleId.endsWith(`/${file}`));
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) => {
      const ofProject = sorted.filter((file) => file.project === project);
      return [...ofProject.filter(isLongest), ...ofProject.filter((file) => !isLongest(file))];
    });
  }
}
