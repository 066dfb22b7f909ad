import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { slugify } from '../../../docs/.vitepress/slugify.ts';
import { root } from './code-blocks.ts';

const skipped = new Set(['node_modules', 'dist', 'reference', 'fixtures', '.vitepress']);
/** Every Markdown file of the project that people read, by its path. */
function markdownFiles(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return skipped.has(entry.name) || entry.name.startsWith('.') ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [relative(root, path)] : [];
  });
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const anchorsOf = (file: string): string[] =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    slugify(heading.replaceAll(/\[|\]\([^)]*\)/g, '')),
  );

test.each(markdownFiles())('every link in %s leads somewhere', (file) => {
  const text = read(file)
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]*`/g, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const dead = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : relative(root, join(root, dirname(file), path));
    // What the code makes of itself is there when the site is built, which looks at those links.
    if (target.startsWith(join('docs', 'reference'))) return false;
    if (path.startsWith('/')) return !existsSync(join(root, 'docs', `${path}.md`));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && statSync(join(root, target)).isFile()
      ? !anchorsOf(target).includes(anchor)
      : false;
  });
  expect(dead).toEqual([]);
});

/** The members of a union of words in the sources. */
function wordsOf(file: string, type: string): string[] {
  const [, union = ''] = new RegExp(`type ${type} =([^;]+);`).exec(read(file)) ?? [];
  return [...union.matchAll(/'([a-z_0-9]+)'/g)].map(([, word = '']) => word);
}

describe('the page of outcomes and errors', () => {
  const page = read('docs/errors.md');
  test.each([
    ['src/outcome.ts', 'Outcome', 19],
    ['src/options.ts', 'OptionErrorCode', 5],
    ['src/server/webhook-error.ts', 'WebhookErrorCode', 8],
    ['src/server/receipt-error.ts', 'ReceiptErrorCode', 10],
  ])('explains each word of %s, %s', (file, type, count) => {
    const words = wordsOf(file, type);
    expect(words).toHaveLength(count);
    expect(words.filter((word) => !page.includes(`| \`${word}\` `))).toEqual([]);
  });
});

test('the example of the script tag is the one in the quick start', () => {
  const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim());
  const [, section = ''] = read('docs/quick-start.md').split(/^## With a script tag$/m);
  const [guide = ''] = section.split(/^## /m);
  const shown = [...guide.matchAll(/```html\n(.*?)```/gs)].flatMap(([, code = '']) =>
    linesOf(code),
  );
  const example = new Set(linesOf(read('demo/examples/script-tag.html')));
  expect(shown.length).toBeGreaterThan(25);
  expect(shown.filter((line) => !example.has(line) && line !== '')).toEqual([]);
});
