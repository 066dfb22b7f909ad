import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acquireDirectoryLock, DirectoryInUseError } from '../../src/store/directory-lock.ts';

function createLockPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'database.lock');
}

test('a directory lock is exclusive until it is released', () => {
  const file = createLockPath();
  const lock = acquireDirectoryLock(file);
  expect(() => acquireDirectoryLock(file)).toThrow(DirectoryInUseError);
  lock.release();
  acquireDirectoryLock(file).release();
  expect(readdirSync(join(file, '..'))).toEqual([]);
});

test.each([
  ['a dead process', { pid: 2 ** 22 + 1, start: 'x' }],
  ['an earlier process with our PID', { pid: process.pid, start: 'before the last boot' }],
])('a lock left behind by %s is taken over', (_name, owner) => {
  const file = createLockPath();
  writeFileSync(file, JSON.stringify(owner));
  const lock = acquireDirectoryLock(file);
  expect(readFileSync(file, 'utf8')).not.toBe(JSON.stringify(owner));
  lock.release();
});

test('a lock file truncated by a power failure is taken over', () => {
  const file = createLockPath();
  writeFileSync(file, '{"pid":');
  acquireDirectoryLock(file).release();
});
