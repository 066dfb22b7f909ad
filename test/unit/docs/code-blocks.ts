import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..', '..');

/** A fenced code block on a page. */
export interface CodeBlock {
  page: string;
  /** The 1-based line number of the block's first line of code. */
  line: number;
  language: string;
  /** The text in the comment before the block, such as `tested` or `runs: php`. Empty if there is no comment. */
  mark: string;
  code: string;
}

/** Reads all fenced code blocks on a page, in order. */
export function readCodeBlocks(page: string): CodeBlock[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/(?:<!-- ([^\n]*) -->\n\n)?^```(\w+)\n(.*?)^```$/gms)].map((match) => {
    const [whole, mark = '', language = '', code = ''] = match;
    const before = text.slice(0, match.index + whole.lastIndexOf(code));
    return { page, line: before.split('\n').length, language, mark, code };
  });
}

/** Finds the block that is marked `runs: <name>`. */
export function findRunnableBlock(page: string, name: string): string {
  const block = readCodeBlocks(page).find(({ mark }) => mark === `runs: ${name}`);
  if (!block) throw new Error(`${page} has no block marked “runs: ${name}”.`);
  return block.code;
}
