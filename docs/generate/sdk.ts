import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const docs = join(import.meta.dirname, '..');

/**
 * Writes the SDK pages with TypeDoc. It runs in a separate process, because it uses its own version of TypeScript.
 *
 * @throws if TypeDoc reports a problem, such as a broken link in a comment.
 */
export async function writeSdkPages(): Promise<void> {
  const typedoc = dirname(createRequire(import.meta.url).resolve('typedoc/package.json'));
  const child = spawn(process.execPath, [join(typedoc, 'bin/typedoc'), '--logLevel', 'Warn'], {
    cwd: docs,
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error('TypeDoc failed. See its output above.');
}
