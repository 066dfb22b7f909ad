import { existsSync, readFileSync } from 'node:fs';
import { playwright } from '@vitest/browser-playwright';
import type { Plugin } from 'vite';
import { configDefaults, defineConfig } from 'vitest/config';
import { sdkSources } from './demo/sdk-sources.ts';
import { mutantPlugin } from './scripts/lib/mutation/apply-mutant.mjs';
import { readWhole } from './scripts/lib/read-whole.mjs';
import { root } from './scripts/lib/run.mjs';
import { cocosEngineFolders, cocosEngineUrl } from './test/support/cocos-engine.ts';
import { listDestroyables } from './test/support/list-destroyables.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { readPageStyles } from './test/support/read-page-styles.ts';

const executablePath =
  process.env['HEADLESS_SHELL_PATH'] ??
  process.env['CHROMIUM_PATH'] ??
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) =>
    existsSync(path),
  );

/** Whether `npm run test:full` is running. It adds `*.full.test.ts` and the checks that depend on `inject('full')`. */
const full = process.env['TRUEWARD_TEST_FULL'] === '1';

/** Set by `npm run test:mutation` before it tests the first mutant. */
const recordFolder = process.env['TRUEWARD_RECORD_CALLS'];
const recordCalls = recordFolder === undefined ? [] : ['scripts/lib/mutation/record-test.mjs'];

/** Set by the process that tests one mutant after the other. */
const clearStorage =
  process.env['TRUEWARD_MUTANTS'] === undefined ? [] : ['scripts/lib/mutation/clear-storage.mjs'];

/** The engines that the browser tests run, and the parts of one that is too large to load as a whole. */
const engines = [
  '@pixi/sound',
  'excalibur',
  'gsap',
  'howler',
  'kaplay',
  'littlejsengine',
  'melonjs',
  'pixi.js',
  'playcanvas',
  'react',
  'react-dom/client',
  'three',
  'tone',
  ...[
    'Animations/animatable',
    'Animations/animation',
    'AudioV2/webAudio/webAudioEngine',
    'Cameras/freeCamera',
    'Engines/engine',
    'Maths/math.vector',
    'Meshes/transformNode',
    'scene',
  ].map((part) => `@babylonjs/core/${part}.js`),
];

/** Makes each recipe on a page a module: `docs/engines.md?recipe=three` is the block marked `runs: three`. */
const recipePlugin: Plugin = {
  name: 'recipes',
  enforce: 'pre',
  load(id) {
    const [, page = '', name] = /^(.*\.md)\?.*recipe=(\w+)/.exec(id) ?? [];
    if (name === undefined) return undefined;
    const text = readFileSync(page, 'utf8');
    return new RegExp(`<!-- runs: ${name} -->\n\n\`\`\`js\n(.*?)\`\`\``, 's').exec(text)?.[1];
  },
};

declare module 'vitest' {
  interface ProvidedContext {
    full: boolean;
    /** Where `npm run test:mutation` records calls, and the repository's root. */
    recordCalls: { folder: string; root: string };
    /** See {@link listDestroyables}. Only in the browser tests. */
    destroyables: string[];
    /** See {@link readPageStyles}. Only in the browser tests. */
    pageStyles: Record<string, string>;
    /** The URL of the folder COCOS_ENGINE, or an empty string. Only in the browser tests. */
    cocosEngine: string;
  }
}

export default defineConfig({
  plugins: mutantPlugin(),
  resolve: { tsconfigPaths: true },
  test: {
    restoreMocks: true,
    exclude: [...configDefaults.exclude, ...(full ? [] : ['**/*.full.test.ts'])],
    provide: { full, recordCalls: { folder: recordFolder ?? '', root } },
    setupFiles: ['test/measure-cpu.ts'],
    sequence: { sequencer: LongestFirst },
    // By default, Vitest reserves one core for itself, which is half of a two-core machine. Tests often wait.
    maxWorkers: readWhole('TRUEWARD_TEST_WORKERS', 4),
    // Without this option, V8 optimizes the embedded database's WebAssembly, which costs more CPU time than a test saves.
    execArgv: ['--liftoff-only'],
    // Generous, so that tests on a busy machine are slow but don't fail.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'service/test/unit/**/*.test.ts'],
          setupFiles: ['test/unit/unstub-globals.ts', ...recordCalls],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'service',
          include: ['service/test/http/**/*.test.ts'],
          globalSetup: 'service/test/global-setup.ts',
          setupFiles: ['service/test/check-neighbors.ts', ...recordCalls],
          // Loading the service and an embedded database takes seconds, so each worker does it only once.
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          setupFiles: ['service/test/check-neighbors.ts', ...recordCalls],
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          globalSetup: 'test/support/run-folder.ts',
          // Each worker installs the package only once; see test/package/worker.ts.
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/support/run-folder.ts',
          // Runs after the other projects, because these tests start whole browsers.
          sequence: { groupOrder: 2 },
          // Each worker starts its browser and its service only once; see test/e2e/worker.ts.
          isolate: false,
          // Most of the time, these tests wait for ads to be watched: each worker needs a third of a core.
          maxWorkers: 5,
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        // The example games in the guides import the SDK by package name, as a real game does.
        resolve: { alias: sdkSources },
        plugins: [recipePlugin],
        server: { fs: { allow: [root, ...cocosEngineFolders] } },
        optimizeDeps: {
          entries: ['test/browser/**/*.test.ts'],
          include: ['eventemitter3', 'idb-keyval', 'phaser', 'phaser3', 'phaser360', ...engines],
        },
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          setupFiles: [...clearStorage, 'test/browser/check-neighbor.ts', ...recordCalls],
          provide: {
            destroyables: listDestroyables(),
            pageStyles: readPageStyles(),
            cocosEngine: cocosEngineUrl,
          },
          // These tests show ads in real time, so they don't share the machine with tests that need none.
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            instances: [{ browser: 'chromium' }],
            provider: playwright({
              launchOptions: {
                ...(executablePath === undefined ? {} : { executablePath }),
                args: [
                  '--no-sandbox',
                  '--disable-quic',
                  '--no-first-run',
                  '--disable-background-networking',
                  '--disable-component-update',
                  '--disable-sync',
                ],
              },
            }),
          },
        },
      },
    ],
  },
});
