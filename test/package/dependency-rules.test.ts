import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

/** Files with an import that ARCHITECTURE.md does not allow. */
const forbiddenImports: [file: string, line: string][] = [
  ['src/platform/x.ts', `export { a } from '../outcome.ts';`],
  ['src/platform/x.ts', `export { readFile } from 'node:fs';`],
  ['src/outcome.ts', `export { a } from './platform/y.ts';`],
  ['src/options.ts', `export { a } from './creative/y.ts';`],
  ['src/transport/x.ts', `export { a } from '../outbox/y.ts';`],
  ['src/transport/x.ts', `export { a } from '../../protocol/wire.ts';`],
  ['src/decision/x.ts', `export { a } from '../creative/y.ts';`],
  ['src/outbox/x.ts', `export { a } from '../reward/y.ts';`],
  ['src/outbox/deep/x.ts', `export { a } from '../../reward/y.ts';`],
  ['src/reward/x.ts', `export { a } from '../ad-break/y.ts';`],
  ['src/reward/x.ts', `export const a = import('../ad-break/y.ts');`],
  ['src/engine/x.ts', `export type { a } from '../ads.ts';`],
  ['src/creative/x.ts', `export { a } from '../create-ads.ts';`],
  ['src/creative/x.ts', `export type { Scene } from 'phaser';`],
  ['src/ad-break/x.ts', `export { a } from '../ads.ts';`],
  ['src/ads.ts', `export { a } from './phaser/index.ts';`],
  ['src/phaser/x.ts', `export { Scene } from 'phaser';`],
  ['src/script-tag/x.ts', `export { a } from '../server/index.ts';`],
  ['src/server/x.ts', `export { set } from 'idb-keyval';`],
  ['src/server/x.ts', `export { a } from '../platform/y.ts';`],
  ['src/server/x.ts', `export { subtle } from 'node:crypto';`],
  ['src/index.ts', `export { a } from '../service/src/y.ts';`],
  ['service/src/decision/x.ts', `export { a } from '../http/y.ts';`],
  ['service/src/store/x.ts', `export { a } from '../decision/y.ts';`],
  ['service/src/store/x.ts', `export type { a } from '../trace/y.ts';`],
  ['service/src/platform/x.ts', `export type { a } from '../store/y.ts';`],
  ['service/src/trace/x.ts', `export type { a } from '../reward/y.ts';`],
  ['service/src/media/x.ts', `export type { a } from '../program/config/y.ts';`],
  ['service/src/program/config/x.ts', `export { a } from '../../media/y.ts';`],
  ['service/src/program/config/x.ts', `export { a } from '../cli/y.ts';`],
  ['service/src/program/assemble.ts', `export { a } from './cli/y.ts';`],
  ['service/src/access/x.ts', `export type { a } from '../resource/y.ts';`],
  ['service/src/store/x.ts', `export type { a } from '../access/y.ts';`],
  ['service/src/store/x.ts', `export type { a } from '../program/config/y.ts';`],
  ['service/src/resource/x.ts', `export type { a } from '../webhook/y.ts';`],
  ['service/src/resource/x.ts', `export type { a } from '../decision/y.ts';`],
  ['service/src/access/x.ts', `export { a } from '../decision/y.ts';`],
  ['service/src/decision/x.ts', `export { a } from '../demand/offer.ts';`],
  ['service/src/demand/x.ts', `export type { a } from '../decision/y.ts';`],
  ['service/src/demand/vast/x.ts', `export type { a } from '../tracker/y.ts';`],
  ['service/src/history/x.ts', `export type { a } from '../demand/index.ts';`],
  ['service/src/http/x.ts', `export type { a } from '../program/cli/y.ts';`],
  ['service/src/decision/x.ts', `export type { a } from '../reward/y.ts';`],
  ['service/src/reward/x.ts', `export type { a } from '../webhook/y.ts';`],
  ['service/src/http/problem.ts', `export { a } from './openapi.ts';`],
  ['service/src/http/limits/x.ts', `export type { a } from '../authentication/y.ts';`],
  ['service/src/http/limits/x.ts', `export { a } from '../files.ts';`],
  ['service/src/http/operations.ts', `export { a } from './routes/y.ts';`],
  ['service/src/http/routes/x.ts', `export { a } from '../../program/assemble.ts';`],
  ['service/src/http/panel/x.ts', `export { a } from '../app.ts';`],
  ['service/src/http/x.ts', `export { a } from '../../../src/outbox/y.ts';`],
  ['service/src/webhook/x.ts', `export { a } from 'trueward';`],
  ['service/panel/src/api/x.ts', `export { a } from '../../../src/history/y.ts';`],
  ['service/panel/src/api/x.ts', `export { a } from '../../../../src/creative/y.ts';`],
  ['service/panel/src/api/x.ts', `export { a } from '@trueward/protocol';`],
  ['service/panel/src/preview/show-preview.ts', `export { a } from '../../../../src/ads.ts';`],
  ['protocol/x.ts', `export { a } from '../service/src/y.ts';`],
];
/** Similar imports that are allowed. */
const allowedImports: [file: string, line: string][] = [
  ['src/transport/x.ts', `export { a } from '../platform/y.ts';`],
  ['src/transport/x.ts', `export type { a } from '../../protocol/wire.ts';`],
  ['src/decision/x.ts', `export type { a } from '../creative/y.ts';`],
  ['src/decision/x.ts', `export { a } from './options.ts';`],
  ['src/ad-break/x.ts', `export { a } from '../creative/y.ts';`],
  ['src/phaser/x.ts', `export type { Scene } from 'phaser';`],
  ['src/phaser/x.ts', `export { a } from '../create-ads.ts';`],
  ['service/src/http/x.ts', `export { a } from '../decision/y.ts';`],
  ['service/src/decision/x.ts', `export { a } from '../demand/index.ts';`],
  ['service/src/demand/exchange/x.ts', `export { a } from '../vast/y.ts';`],
  ['service/src/http/routes/x.ts', `export { a } from '../authentication/y.ts';`],
  ['service/src/http/limits/x.ts', `export { a } from './y.ts';`],
  ['service/src/access/x.ts', `export { a } from '../store/y.ts';`],
  ['service/src/webhook/x.ts', `export { a } from 'trueward/server';`],
  ['service/src/decision/x.ts', `export { a } from '../resource/y.ts';`],
  [
    'service/panel/src/preview/show-preview.ts',
    `export { a } from '../../../../src/creative/y.ts';`,
  ],
];

const root = join(import.meta.dirname, '..', '..');
const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'trueward-rules-'));
  for (const file of ['oxlint.config.mjs', 'scripts/lib/lint-rules.mjs'])
    cpSync(join(root, file), join(copy, file));
});
afterEach(() => {
  for (const folder of ['src', 'service', 'protocol'])
    rmSync(join(copy, folder), { recursive: true, force: true });
});
afterAll(() => rmSync(copy, { recursive: true }));

function writeSource(file: string, text: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), text);
}

/** Writes each import to a separate file and returns the cases that the rule rejects. */
function findRejected(cases: [file: string, line: string][], rule: string) {
  const files = cases.map(([file], index) => file.replace(/\bx\.ts$/, `x${index}.ts`));
  files.forEach((file, index) => writeSource(file, cases[index]?.[1] ?? ''));
  const rejectedFiles = lint().flatMap(({ code, filename }) =>
    code.includes(rule) ? [filename] : [],
  );
  return cases.filter((_, index) => rejectedFiles.includes(files[index] ?? ''));
}

function lint(): { filename: string; code: string }[] {
  const command = [oxlint, '-c', 'oxlint.config.mjs', '--format', 'json', '.'];
  const { stdout } = spawnSync(process.execPath, command, { cwd: copy, encoding: 'utf8' });
  return JSON.parse(stdout).diagnostics;
}

test('rejects every forbidden import', () => {
  expect(findRejected(forbiddenImports, 'no-restricted-imports')).toEqual(forbiddenImports);
});

test('accepts every allowed import', () => {
  expect(findRejected(allowedImports, 'no-restricted-imports')).toEqual([]);
});

test('rejects circular imports', () => {
  writeSource('src/reward/first.ts', `import { b } from './second.ts';\nexport const a = () => b;`);
  writeSource('src/reward/second.ts', `import { a } from './first.ts';\nexport const b = () => a;`);
  const circularFiles = lint().filter(({ code }) => code.includes('no-cycle'));
  expect(circularFiles.map(({ filename }) => filename).sort()).toEqual([
    'src/reward/first.ts',
    'src/reward/second.ts',
  ]);
});

test('rejects every clock but the service’s own', () => {
  const lines = {
    'wall.ts': 'export const now = () => Date.now();',
    'date.ts': 'export const now = () => new Date();',
    'text.ts': 'export const now = () => Date();',
    'timer.ts': 'export const now = () => performance.now();',
    'machine.ts': `import { systemClock } from '../platform/time.ts';\nexport const { nowMs } = systemClock;`,
    'sql.ts': "export const sql = 'UPDATE leases SET until = NOW()';",
    'template.ts': 'export const sql = (id: string) => `SELECT ${id}, clock_timestamp() AS at`;',
    'today.ts': 'export const sql = `SELECT current_date`;',
    'literal.ts': `export const sql = "SELECT 'now'::timestamptz";`,
  };
  for (const [name, line] of Object.entries(lines)) writeSource(`service/src/reward/${name}`, line);
  writeSource(
    'service/src/reward/allowed.ts',
    'const now = () => new Date(0);\nexport const sql = (at: number) => `SELECT ${now()}, ${new Date(at)}`;',
  );
  const problems = lint().filter(({ code }) => code.includes('one-clock'));
  expect([...new Set(problems.map(({ filename }) => filename))].sort()).toEqual(
    Object.keys(lines)
      .map((name) => `service/src/reward/${name}`)
      .sort(),
  );
});

test('rejects what works differently on Windows, outside its helpers', () => {
  const lines = {
    'flush.ts': `import { fsyncSync } from 'node:fs';\nexport const flush = fsyncSync;`,
    'sync.ts': `export const flush = (file: { datasync(): void }) => file.datasync();`,
    'option.ts': `export const options = { flush: true };`,
    'rename.ts': `import { rename } from 'node:fs/promises';\nexport const move = rename;`,
    'copy.ts': `import { cpSync } from 'node:fs';\nexport const copy = cpSync;`,
    'signal.ts': `export const stop = () => process.kill(1, 'SIGTERM');`,
    'program.ts': `import { spawn } from 'node:child_process';\nexport const run = spawn;`,
    'shell.ts': `export const options = { shell: process.platform === 'win32' };`,
    'path.ts': `export const folder = new URL('.', import.meta.url).pathname;`,
  };
  for (const [name, line] of Object.entries(lines)) writeSource(`service/src/reward/${name}`, line);
  writeSource('service/src/platform/stop-requests.ts', lines['signal.ts']);
  writeSource('service/src/reward/url.ts', `export const path = new URL('http://a/b').pathname;`);
  const problems = lint().filter(({ code }) => code.includes('portable'));
  expect([...new Set(problems.map(({ filename }) => filename))].sort()).toEqual(
    Object.keys(lines)
      .map((name) => `service/src/reward/${name}`)
      .sort(),
  );
});

test('rejects what a page can change by changing the prototypes of all objects', () => {
  const lines = {
    'in.ts': `export const isBreak = (of: object) => 'type' in of;`,
    'add.ts': `export const add = () => document.addEventListener('click', () => {});`,
    'remove.ts': `export const remove = (of?: EventTarget) => of?.removeEventListener('click', null);`,
  };
  for (const [name, line] of Object.entries(lines)) writeSource(`src/reward/${name}`, line);
  writeSource('src/server/x.ts', lines['in.ts']);
  const problems = lint().filter(({ code }) => code.includes('own-properties'));
  expect(problems.map(({ filename }) => filename).sort()).toEqual(
    Object.keys(lines)
      .map((name) => `src/reward/${name}`)
      .sort(),
  );
});

test('rejects array spreads that Creator’s Loose option would break', () => {
  writeSource('src/reward/set.ts', `export const list = (of: Set<string>) => [...of];`);
  writeSource(
    'src/reward/map.ts',
    `export const list = (of: Map<string, string>) => [1, ...of.keys()];`,
  );
  writeSource(
    'src/reward/array.ts',
    `export const list = (of: string[]) => [...of.map((a) => a), 'b'];`,
  );
  const problems = lint().filter(({ code }) => code.includes('no-iterable-spread'));
  expect(problems.map(({ filename }) => filename).sort()).toEqual([
    'src/reward/map.ts',
    'src/reward/set.ts',
  ]);
});
