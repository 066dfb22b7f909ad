import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './code-blocks.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Reads the members of a string union type from the source code. */
function readMembers(file: string, type: string): string[] {
  const [, union = ''] = new RegExp(`type ${type} =([^;]+);`).exec(read(file)) ?? [];
  return [...union.matchAll(/'([a-z_0-9]+)'/g)].map(([, member = '']) => member);
}

describe('the outcomes and errors page', () => {
  const page = read('docs/errors.md');
  test.each([
    ['src/outcome.ts', 'Outcome', 20],
    ['src/outcome.ts', 'OptionErrorCode', 5],
    ['src/server/webhook-signature.ts', 'WebhookErrorCode', 9],
    ['src/server/receipt-keys.ts', 'ReceiptErrorCode', 11],
  ])('explains every member of %s: %s', (file, type, count) => {
    const members = readMembers(file, type);
    expect(members).toHaveLength(count);
    expect(members.filter((member) => !page.includes(`| \`${member}\` `))).toEqual([]);
  });
});

test('the quick start shows the example’s script tags', () => {
  const readLines = (text: string): string[] => text.split('\n').map((line) => line.trim());
  const [, section = ''] = read('docs/quick-start.md').split(/^## With a script tag$/m);
  const [guide = ''] = section.split(/^## /m);
  const shownLines = [...guide.matchAll(/```html\n(.*?)```/gs)].flatMap(([, code = '']) =>
    readLines(code),
  );
  const example = new Set(readLines(read('demo/examples/script-tag.html')));
  expect(shownLines.length).toBeGreaterThan(25);
  expect(shownLines.filter((line) => !example.has(line) && line !== '')).toEqual([]);
});
