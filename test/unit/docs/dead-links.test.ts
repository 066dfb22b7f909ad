import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findDeadLinks } from '../../../docs/generate/dead-links.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'trueward-links-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

test('reports links to missing pages, headings and site paths', () => {
  write('README.md', '[page](docs/gone.md) [heading](docs/guide.md#gone) [here](#gone)');
  write('docs/guide.md', '# A guide\n[address](/gone) [up](../GONE.md)');
  expect(findDeadLinks(folder).sort()).toEqual([
    'README.md: #gone',
    'README.md: docs/gone.md',
    'README.md: docs/guide.md#gone',
    'docs/guide.md: ../GONE.md',
    'docs/guide.md: /gone',
  ]);
});

test('reports links from the site to pages that it does not have', () => {
  write('CONTRIBUTING.md', '[changes](.changeset/README.md) [game](template/README.md)');
  write('.changeset/README.md', '# Changes');
  write('template/README.md', '# A game\n[guide](../docs/guide.md)');
  write('docs/guide.md', '# A guide');
  expect(findDeadLinks(folder)).toEqual([
    'CONTRIBUTING.md: .changeset/README.md',
    'CONTRIBUTING.md: template/README.md',
  ]);
});

test('reports an anchor that two headings of a page have', () => {
  write(
    'a.md',
    '### One {#spend}\n### Two {#spend}\n```md\n## Three {#three}\n```\n## Four {#three}',
  );
  write('b.md', '### One {#spend}');
  expect(findDeadLinks(folder)).toEqual(['a.md: {#spend}']);
});

test('accepts valid links and ignores code', () => {
  write(
    'README.md',
    '[a](docs/guide.md#what-it-does) [b](docs) [c](#top) [d](https://example.com/x) `[e](gone.md)`\n' +
      '# Top\n```md\n[f](gone.md)\n```\n',
  );
  write(
    'docs/guide.md',
    '# A guide\n## What it *does*\n### create() {#made}\n[g](/guide) [h](#made) [j](#row)\n| <a id="row"></a> row |',
  );
  write('node_modules/package/README.md', '[i](gone.md)');
  expect(findDeadLinks(folder)).toEqual([]);
});
