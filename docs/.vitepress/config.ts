import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { addPageLinks } from './page-links.ts';
import { getPagePath, sidebar } from './sidebar.ts';
import { slugify } from './slugify.ts';

/** The documentation site, built from the repository's Markdown files. Dead links fail the build. */
export default defineConfig({
  title: 'Trueward',
  description: 'Rewarded ads and house ads for web games, with server-confirmed rewards.',
  lang: 'en',
  srcDir: '..',
  // Includes pages outside of docs/: those in the project root, and the Cocos sample's pages.
  srcExclude: ['!(docs|demo)/**/*', 'demo/!(cocos)/**'],
  rewrites: getPagePath,
  markdown: {
    theme: { light: 'github-light', dark: 'github-dark' },
    anchor: { slugify },
    config: addPageLinks,
  },
  themeConfig: {
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'Reference', link: '/reference/sdk/trueward' },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
  // Pages link to these files, which VitePress does not copy.
  buildEnd({ outDir }) {
    cpSync(join(import.meta.dirname, '../images'), join(outDir, 'images'), { recursive: true });
    cpSync(join(import.meta.dirname, '../../LICENSE'), join(outDir, 'LICENSE.txt'));
  },
});
