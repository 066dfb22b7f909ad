/** Fails if a link between the project's pages, including the generated ones, is broken. */
import { join } from 'node:path';
import { findDeadLinks } from './dead-links.ts';

const brokenLinks = findDeadLinks(join(import.meta.dirname, '..', '..'));
if (brokenLinks.length > 0) {
  console.error(
    `These links are broken, because the page or heading does not exist:\n  ${brokenLinks.join('\n  ')}`,
  );
  process.exitCode = 1;
}
