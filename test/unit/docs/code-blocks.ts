import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..', '..');

/** One fenced block of code in a page. */
export interface CodeBlock {
  page: string;
  /** Of its first line of code, counted from 1. */
  line: number;
  language: string;
  /** What a comment before it says, as `tested` or `runs: php`; empty where there is none. */
  mark: string;
  code: string;
}

/** Every fenced block of a page, in order. */
export function codeBlocks(page: string): CodeBlock[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/(?:<!-- ([^\n]*) -->\n\n)?^```(\w+)\n(.*?)^```$/gms)].map((match) => {
    const [whole, mark = '', language = '', code = ''] = match;
    const before = text.slice(0, match.index + whole.lastIndexOf(code));
    return { page, line: before.split('\n').length, language, mark, code };
  });
}

/** The block of a page that says what it runs as. */
export function blockThatRuns(page: string, name: string): string {
  const block = codeBlocks(page).find(({ mark }) => mark === `runs: ${name}`);
  if (!block) throw new Error(`${page} has no block with the mark “runs: ${name}”.`);
  return block.code;
}
