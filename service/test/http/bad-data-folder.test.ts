import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLocalDisk } from '../../src/program/cli/doctor-machine.ts';
import { copyMigratedDatabase } from '../empty-database.ts';
import { runInProcess } from './command-line.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueward-'));
  writeFileSync(join(folder, 'file'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['that is a file', () => join(folder, 'file')],
  ['in a file', () => join(folder, 'file', 'data')],
  ['with a name of 300 characters', () => join(folder, 'x'.repeat(300))],
  // Linux keeps everybody from making a folder there, also root.
  ...(process.platform === 'linux'
    ? [['where nobody may write', () => '/sys/trueward'] as const]
    : []),
] as const)('a data folder %s ends a command with what to do', async (_, choose) => {
  const dataFolder = choose();
  const { code, err } = await runInProcess(['migrate'], { TRUEWARD_DATA_DIR: dataFolder });
  expect(code).toBe(1);
  expect(err).toContain(join(dataFolder, 'database'));
  expect(err).toContain('set TRUEWARD_DATA_DIR to another folder');
});

test('a data folder with a path of more than 300 characters works', async () => {
  const dataFolder = join(folder, ...Array.from({ length: 6 }, () => 'ü'.repeat(50)));
  await copyMigratedDatabase(join(dataFolder, 'database'));
  const { code, err } = await runInProcess(['migrate'], { TRUEWARD_DATA_DIR: dataFolder });
  expect([code, err]).toEqual([0, expect.not.stringContaining('could not')]);
});

test.each([
  ['NFS', 0x6969, '/srv/data'],
  ['SMB', 0x517b, '/srv/data'],
  ['SMB', 0xfe534d42, '/srv/data'],
  ['CIFS', 0xff534d42, '/srv/data'],
  ['network', 0, '\\\\server\\share'],
])('doctor warns about a data folder on a drive of the kind %s', (kind, type, dataDirectory) => {
  const [finding, ...others] = checkLocalDisk({ dataDirectory }, () => type);
  expect(others).toEqual([]);
  expect(finding?.state).toBe('warn');
  expect(finding?.text).toContain(`on a ${kind} drive`);
  expect(finding?.text).toContain('set TRUEWARD_DATA_DIR to a folder on a local disk');
});

test('doctor doesn’t warn about a local drive, or where the database is elsewhere', () => {
  const ext4 = 0xef53;
  expect(checkLocalDisk({ dataDirectory: '/srv' }, () => ext4)).toEqual([]);
  const databaseUrl = 'postgres://127.0.0.1/trueward';
  expect(checkLocalDisk({ dataDirectory: '/srv', databaseUrl }, () => 0x6969)).toEqual([]);
});
