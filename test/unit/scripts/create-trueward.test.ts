import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

test('in a clone, create-trueward prints how to install the clone’s package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-starter-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const game = join(folder, 'my-game');
  const output = execFileSync(process.execPath, [join(root, 'create-trueward/index.js'), game], {
    encoding: 'utf8',
    cwd: folder,
  });
  expect(output).toContain(`\n  npm install ${relative(game, root)}\n`);
});
