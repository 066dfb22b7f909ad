import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type InlineConfig, type Plugin, preview } from 'vite';
import { compileForCreator } from '../../support/compile-for-creator.ts';
import { readCodeBlocks, root } from '../../unit/docs/code-blocks.ts';
import type { Stack } from '../stack.ts';

const quickStart = 'docs/quick-start.md';

/** The project of a reader who follows the quick start. The package is installed from the clone. */
export interface Reader {
  folder: string;
  /** Builds and serves the page from the section “With npm”. Resolves to its URL. */
  startPage(): Promise<string>;
  /** Builds and serves a small game around the first examples of `README.md`. Resolves to its URL. */
  startReadme(): Promise<string>;
  /** Builds and serves the page of the guide “No backend”. Resolves to its URL. */
  startPageWithoutServer(): Promise<string>;
  /** Builds and serves the Cocos sample's scripts with a fake engine. Resolves to the URL. */
  startCocosSample(options: { isLoose: boolean }): Promise<string>;
  cleanUp(): Promise<void>;
}

const compileForCreatorPlugin: Plugin = {
  name: 'compile-for-creator',
  enforce: 'post',
  transform: (code, id) => (/\.[jt]s$/.test(id) ? compileForCreator(code) : null),
};

export function createReader(stack: Stack): Reader {
  // The folder is inside the repository, so that the package's own dependencies resolve.
  const parent = join(root, 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'trueward-reader-'));
  // Does the same as `npm install ../trueward`.
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'trueward'), 'junction');
  const write = (name: string, code: string): void =>
    writeFileSync(join(folder, name), fillInKeys(code, stack));
  write('index.html', findBlock('html', 'main.ts'));
  write('main.ts', findBlock('ts', 'createAds'));
  write('server.mjs', findBlock('js', 'createServer'));
  const closeServers: (() => Promise<void>)[] = [];
  const serve = async (options: InlineConfig): Promise<string> => {
    const viteConfig: InlineConfig = { ...options, configFile: false, logLevel: 'error' };
    await build(viteConfig);
    const server = await preview({ ...viteConfig, preview: { host: '127.0.0.1', port: 0 } });
    closeServers.push(() => server.close());
    return server.resolvedUrls?.local[0] ?? '';
  };
  return {
    folder,
    startPage: () => serve({ root: folder }),
    startReadme() {
      const pageFolder = join(folder, 'readme');
      mkdirSync(pageFolder);
      const [first, second] = readCodeBlocks('README.md').filter(
        ({ language }) => language === 'ts',
      );
      const code = [first?.code, second?.code].join('\n');
      writeFileSync(join(pageFolder, 'index.html'), readmeGame(stack.serviceUrl));
      writeFileSync(join(pageFolder, 'main.ts'), fillInKeys(code, stack));
      return serve({ root: pageFolder });
    },
    startPageWithoutServer() {
      const pageFolder = join(folder, 'no-backend');
      mkdirSync(pageFolder);
      const blocks = readCodeBlocks('docs/no-backend.md').filter(
        ({ code, mark }) => mark === 'continues' || /<button|createAds/.test(code),
      );
      for (const [name, kind] of [
        ['index.html', 'html'],
        ['main.ts', 'ts'],
      ] as const) {
        const code = blocks.filter(({ language }) => language === kind).map((block) => block.code);
        writeFileSync(join(pageFolder, name), fillInKeys(code.join('\n'), stack));
      }
      return serve({ root: pageFolder });
    },
    async startCocosSample({ isLoose }) {
      const alias = {
        cc: join(import.meta.dirname, 'cocos/cc.ts'),
        // Builds for old devices consist of one file, for which the slim entry point is made.
        'trueward/cocos': join(root, isLoose ? 'dist/cocos-slim.js' : 'dist/cocos.js'),
      };
      const url = await serve({
        root: join(import.meta.dirname, 'cocos'),
        resolve: { alias },
        plugins: isLoose ? [compileForCreatorPlugin] : [],
        build: { outDir: join(folder, 'cocos'), target: 'es2022' },
      });
      const { keys, serviceUrl } = stack;
      return `${url}?${new URLSearchParams({ key: keys.sandbox.publishable, service: serviceUrl })}`;
    },
    async cleanUp() {
      await Promise.all(closeServers.map((close) => close()));
      rmSync(folder, { recursive: true });
    },
  };
}

/** What the examples of `README.md` expect of a game. The page shows what has been called. */
const readmeGame = (serviceUrl: string): string => `<!doctype html>
<button id="revive">Revive</button>
<p id="calls"></p>
<p id="coins"></p>
<script>
  const find = (id) => document.getElementById(id);
  const note = (name) => () => find('calls').append(name + ' ');
  const reviveButton = find('revive');
  const revivePlayer = note('revived');
  const game = { pause: note('paused'), resume: note('resumed') };
  const credited = {};
  const saveGame = {
    addOnce(decisionId, amount) {
      credited[decisionId] = amount;
      find('coins').textContent = Object.values(credited).join();
    },
  };
  const serviceUrl = '${serviceUrl}';
</script>
<script type="module" src="main.ts"></script>`;

/** Finds the quick start's first block in this language that contains `expectedText`. */
function findBlock(language: string, expectedText: string): string {
  const block = readCodeBlocks(quickStart).find(
    (block) => block.language === language && block.code.includes(expectedText),
  );
  if (!block)
    throw new Error(`${quickStart} has no ${language} block that contains ${expectedText}.`);
  return block.code;
}

/** Fills in the running service's key and URL, as a reader would. */
const fillInKeys = (code: string, { keys, serviceUrl }: Stack): string =>
  code
    .replace('pk_sandbox_…', keys.sandbox.publishable)
    .replace('http://127.0.0.1:8787', serviceUrl);
