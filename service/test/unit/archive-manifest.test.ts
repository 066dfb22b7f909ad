import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readManifest } from '../../src/history/archive-week.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueward-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(['../master.key', '/etc/passwd', 'C:\\data\\master.key', 'aux', 'decisions.jsonl.gz:x'])(
  'a manifest that names the file %j belongs to the archive file beside it',
  async (file) => {
    const path = join(folder, 'decisions_20260928.json');
    writeFileSync(path, JSON.stringify({ trueward_archive: 1, table: 'decisions', file }));
    expect(await readManifest(path)).toEqual({
      trueward_archive: 1,
      table: 'decisions',
      file: 'decisions_20260928.jsonl.gz',
    });
  },
);
