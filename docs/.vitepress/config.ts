import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { addPageLinks } from './page-links.ts';
import { getPagePath, sidebar } from './sidebar.ts';
import { slugify } from './slugify.ts';

/** The repository's URL, once `package.json` has one: the site then links to the source. */
const { repository }: { repository?: { url: string } } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
);

/** The documentation site, built from the repository's Markdown files. Dead links fail the build. */
export default defineConfig({
  title: 'Trueward',
  description: 'Rewarded ads and house ads for web games, with server-confirmed rewards.',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/images/logo.svg' }]],
  srcDir: '..',
  // Includes pages outside of docs/: those in the project root, and the Cocos sample's pages.
  srcExclude: ['!(docs|demo)/**/*', 'demo/!(cocos)/**'],
  rewrites: getPagePath,
  // The source folder is the repository, whose own Vite configuration builds the SDK.
  vite: { configFile: false },
  markdown: {
    theme: { light: 'github-light', dark: 'github-dark' },
    anchor: { slugify },
    config: addPageLinks,
  },
  themeConfig: {
    logo: '/images/logo.svg',
    socialLinks: repository ? [{ icon: 'github', link: repository.url }] : [],
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
