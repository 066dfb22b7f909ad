import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkFolder, findNameProblem } from '../../../create-trueward/lib/check-folder.js';
import { toPackageName } from '../../../create-trueward/lib/make-project.js';
import { forbiddenNames, unusualNames } from '../../../service/test/forbidden-names.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueward-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ...forbiddenNames,
  ['the parent folder', '..'] as const,
  ['a name that is too long', 'a'.repeat(256)] as const,
  ['a name that is too long in bytes', 'ü'.repeat(128)] as const,
  ['half a character', 'a\ud800'] as const,
])('a game’s folder can’t be called %s: %j', (_, name) => {
  expect(findNameProblem(name)).toMatch(/^(is|contains|ends) /);
});

test.each(unusualNames)('a game’s folder can be called %s: %j', (_, name) => {
  expect(findNameProblem(name)).toBeUndefined();
});

test.each(['aux', join('nul', 'my-game'), join('my:games', 'my-game'), 'game.'])(
  'creating a game in %j ends with what to choose',
  (path) => {
    expect(() => checkFolder(join(folder, path))).toThrow(
      /^The folder’s name .*Choose a name that works on every system: npm create trueward my-game$/,
    );
  },
);

test('a game is created in a new folder, or in an empty one of any name', () => {
  mkdirSync(join(folder, 'empty:'));
  mkdirSync(join(folder, 'full', 'inner'), { recursive: true });
  writeFileSync(join(folder, 'file'), '');
  for (const path of ['new', join('empty:', 'new'), 'empty:'])
    expect(() => checkFolder(join(folder, path))).not.toThrow();
  for (const path of ['full', 'file'])
    expect(() => checkFolder(join(folder, path))).toThrow('is not an empty folder');
});

test.each([
  ['My Game', 'my-game'],
  ['Zo\u00ebs game', 'zoes-game'],
  ['Zoe\u0308s game', 'zoes-game'],
  ['ＭＹ　ＧＡＭＥ', 'my-game'],
  ['.game', 'game'],
  ['ゲーム', 'trueward-game'],
  ['node_modules', 'trueward-game'],
  ['a'.repeat(255), 'a'.repeat(214)],
])('the package of a game in %j is called %j', (name, expected) => {
  expect(toPackageName(name)).toBe(expected);
});
