import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

test.each([
  ['that is a file', ['file']],
  ['in a file', ['file', 'data']],
  ['with a name of 300 characters', ['x'.repeat(300)]],
])('npm start ends at once with a data folder %s', (_, path) => {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file'), '');
  const dataFolder = join(folder, ...path);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/start.mjs'], {
    cwd: root,
    env: { ...process.env, TRUEWARD_DATA_DIR: dataFolder },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toContain(`The data folder ${dataFolder} can't be used`);
  expect(stderr).toContain('Set TRUEWARD_DATA_DIR');
});
