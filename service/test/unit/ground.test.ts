import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/read-settings.ts';
import { findUnstorableText } from '../../src/http/requests/json-body.ts';
import { createSecretBox } from '../../src/key/secret-box.ts';
import { createIds } from '../../src/platform/ids.ts';
import { DirectoryInUseError, acquireDirectoryLock } from '../../src/store/directory-lock.ts';

test('ids are well-formed and sort by time', () => {
  let nowMs = Date.parse('2026-06-01T12:00:00.000Z');
  const makeId = createIds({ nowMs: () => nowMs }, (size) => new Uint8Array(size).fill(255));
  const ids = [0, 1, 1_000, 86_400_000, 1e12].map((later) => {
    nowMs += later;
    return makeId('decision');
  });
  for (const id of ids) expect(id).toMatch(/^dec_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a secret decrypts only with its master key and only if unmodified', () => {
  const box = createSecretBox([new Uint8Array(32)]);
  const sealed = box.seal('whsec_x');
  expect(box.open(sealed)).toBe('whsec_x');
  expect(sealed).not.toContain('whsec');
  const other = new Uint8Array(32).fill(1);
  expect(() => createSecretBox([other]).open(sealed)).toThrow('The master key does not decrypt');
  expect(createSecretBox([other, new Uint8Array(32)]).open(sealed)).toBe(box.open(sealed));
  expect(() => box.open(sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA'))).toThrow();
});

test.each([
  [{ a: 'fine', b: ['😀'] }, undefined],
  [{ a: { 'b/c': ['x', 'y\0'] } }, '/a/b~1c/1'],
  [{ a: '\ud800' }, '/a'],
  [{ '\0': 1 }, '/\0'],
])('text that cannot be stored in %j', (value, expected) => {
  expect(findUnstorableText(value)).toBe(expected);
});

test('a configuration has defaults, and its errors list every problem without secrets', () => {
  expect(readConfig({})).toMatchObject({ host: '127.0.0.1', port: 8_700, development: false });
  const wrong = {
    PORT: '-1',
    DATABASE_URL: 'mysql://root:hunter2@db',
    TRUEWARD_DEVELOPMENT: 'yes',
  };
  expect(() => readConfig(wrong)).toThrow(ConfigError);
  for (const name of Object.keys(wrong)) expect(() => readConfig(wrong)).toThrow(name);
  expect(() => readConfig(wrong)).not.toThrow(/hunter2/);
});

function lockFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'database.lock');
}

test('a directory lock is held until released and leaves no files behind', () => {
  const file = lockFile();
  const lock = acquireDirectoryLock(file);
  expect(() => acquireDirectoryLock(file)).toThrow(DirectoryInUseError);
  lock.release();
  acquireDirectoryLock(file).release();
  expect(readdirSync(join(file, '..'))).toEqual([]);
});

test.each([
  ['a process that is gone', { pid: 2 ** 22 + 1, start: 'x' }],
  ['an earlier process with our id', { pid: process.pid, start: 'before the last boot' }],
])('the lock of %s is taken over', (_name, owner) => {
  const file = lockFile();
  writeFileSync(file, JSON.stringify(owner));
  const lock = acquireDirectoryLock(file);
  expect(readFileSync(file, 'utf8')).not.toBe(JSON.stringify(owner));
  lock.release();
});

test('a lock file truncated by a power cut is taken over', () => {
  const file = lockFile();
  writeFileSync(file, '{"pid":');
  acquireDirectoryLock(file).release();
});
