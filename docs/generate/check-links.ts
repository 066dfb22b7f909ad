/** Fails if a link between the project's pages, including the generated ones, is broken. */
import { join } from 'node:path';
import { deadLinks } from './dead-links.ts';

const dead = deadLinks(join(import.meta.dirname, '..', '..'));
if (dead.length > 0) {
  console.error(`Dead links, whose page or heading does not exist:\n  ${dead.join('\n  ')}`);
  process.exitCode = 1;
}
