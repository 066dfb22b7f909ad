import { dirname, join, posix, relative, resolve } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { getPagePath } from './sidebar.ts';

const root = join(import.meta.dirname, '..', '..');

/** Turns links between the repository's Markdown files into links between pages on the site. */
export function addPageLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('page-links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const [, file, anchor] =
        /^(?![a-z]+:|\/)([^#]+\.md)(#.*)?$/.exec(token.attrGet('href') ?? '') ?? [];
      if (token.attrGet('href') === 'LICENSE') token.attrSet('href', '/LICENSE.txt');
      if (file === undefined) continue;
      const target = relative(root, resolve(dirname(env.realPath ?? env.path), file));
      token.attrSet('href', `/${getPagePath(target.replaceAll('\\', posix.sep))}${anchor ?? ''}`);
    }
  });
}
