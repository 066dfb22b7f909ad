/** Fails when a link between the pages of the project, the generated ones included, is dead. */
import { join } from 'node:path';
import { deadLinks } from './dead-links.ts';

const dead = deadLinks(join(import.meta.dirname, '..', '..'));
if (dead.length > 0) {
  console.error(`These links lead to no page or no heading:\n  ${dead.join('\n  ')}`);
  process.exitCode = 1;
}
