import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { slugify } from '../.vitepress/slugify.ts';

const skippedFolders = new Set(['node_modules', 'dist', 'fixtures']);

/**
 * Checks the relative links in all Markdown files below `root`. Returns the links whose target file or heading does not
 * exist, or that lead from the site to a page that it doesn't have, each as `page: link`, and repeated anchors. The site build also rejects links to missing pages, but it is much slower and does not
 * check headings.
 */
export function findDeadLinks(root: string): string[] {
  return findMarkdownFiles(root).flatMap((file) =>
    [
      ...findLinks(file).filter((link) => isDead(root, file, link)),
      ...findRepeatedAnchors(file),
    ].map((link) => `${relative(root, file)}: ${link}`),
  );
}

/** Returns the anchors that a page gives to more than one heading. The site build rejects them too. */
function findRepeatedAnchors(file: string): string[] {
  const anchors = [...readProse(file).matchAll(/^#+ .* (\{#\S+\})$/gm)].map(
    ([, anchor = '']) => anchor,
  );
  return [...new Set(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index))];
}

/** Reads a page without its code. */
const readProse = (file: string): string =>
  readFileSync(file, 'utf8').replaceAll(/^```.*?^```$/gms, '');

function findMarkdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return skippedFolders.has(entry.name) || entry.name.startsWith('.')
        ? []
        : findMarkdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

function findLinks(file: string): string[] {
  const prose = readProse(file).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
}

function isDead(root: string, file: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return false;
  const [path = '', anchor] = link.split('#');
  // An absolute path refers to a page on the site.
  if (path.startsWith('/')) return !existsSync(join(root, 'docs', `${path}.md`));
  const target = path === '' ? file : join(dirname(file), path);
  if (!existsSync(target)) return true;
  if (isOnSite(root, file) && target.endsWith('.md') && !isOnSite(root, target)) return true;
  return anchor !== undefined && statSync(target).isFile() && !findAnchors(target).includes(anchor);
}

/** Whether the site has a page for a file: those in `docs/`, the Cocos sample's and those in the project's folder. */
const isOnSite = (root: string, file: string): boolean =>
  /^(?:docs\/.*|demo\/cocos\/.*|[^/]*)$/.test(relative(root, file).replaceAll('\\', '/'));

/** Returns the anchors in a file: its headings (`## Heading`, `## Heading {#anchor}`) and HTML elements with an id. */
function findAnchors(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const headings = [...text.matchAll(/^#+ (.*?)(?: \{#(\S+)\})?$/gm)].map(
    ([, heading = '', anchor]) => anchor ?? slugify(heading.replaceAll(/\[|\]\([^)]*\)/g, '')),
  );
  return [...headings, ...[...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)];
}
