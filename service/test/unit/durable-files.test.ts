import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFile, publishFile, replaceFile } from '../../src/platform/durable-files.ts';

function makeFolder(name = 'Zoë Müller’s “games”'): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('replaces a file and leaves no draft', async () => {
  const folder = makeFolder();
  const file = join(folder, 'a.json');
  await replaceFile(file, 'old');
  await replaceFile(file, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['a.json']);
  await expect(replaceFile(join(folder, 'missing', 'a'), 'x')).rejects.toThrow('ENOENT');
});

test('creates a file only if it is missing', () => {
  const file = join(makeFolder(), 'key');
  createFile(file, 'first');
  expect(() => createFile(file, 'second')).toThrow('EEXIST');
  expect(readFileSync(file, 'utf8')).toBe('first');
});

test.each([
  ['win32', 'EPERM', true],
  ['win32', 'EBUSY', true],
  ['win32', 'ENOSPC', false],
  ['linux', 'EPERM', false],
] as const)(
  'on %s, a rename that fails with %s is tried again: %s',
  async (platform, code, again) => {
    const folder = makeFolder();
    await replaceFile(join(folder, 'draft'), 'text');
    let failures = 2;
    const move: typeof rename = async (from, to) => {
      failures -= 1;
      if (failures >= 0) throw Object.assign(new Error(code), { code });
      await rename(from, to);
    };
    const published = publishFile(join(folder, 'draft'), join(folder, 'file'), { platform, move });
    await (again ? published : expect(published).rejects.toThrow(code));
    expect(readdirSync(folder)).toEqual([again ? 'file' : 'draft']);
  },
);
