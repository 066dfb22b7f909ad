import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root, tool } from './run.mjs';

const vite = (/** @type {string[]} */ ...args) => [
  ...tool('vite'),
  'build',
  '--logLevel',
  'warn',
  ...args,
];

/**
 * With another value of NODE_ENV, Vite builds for development: the panel's pages would take several times as long.
 */
export const buildEnv = { NODE_ENV: 'production' };

/**
 * The parts of the build, with their sources and outputs.
 *
 * @type {readonly (import('./run-steps.mjs').Step & { sources: string[], outputs: string[] })[]}
 */
export const buildParts = [
  {
    name: 'SDK',
    sources: [
      'src',
      'protocol',
      'vite.config.ts',
      'scripts/tsconfig.base.json',
      'package-lock.json',
      'scripts/roll-up-types.mjs',
    ],
    outputs: [
      'dist/index.js',
      'dist/cocos-slim.js',
      'dist/trueward.js',
      'dist/trueward-ad-placement.js',
      'dist/trueward-cocos.js',
      'dist/trueward-phaser.js',
      'dist/trueward-portals.js',
      'dist/trueward-web-export.js',
      'dist/types/index.d.ts',
      '.cache/api-reports/index.api.md',
    ],
    commands: [
      vite(),
      vite('--mode', 'cocos-slim'),
      // Other script tags contain the hash of this one.
      vite('--mode', 'trueward-portals'),
      vite('--mode', 'trueward'),
      vite('--mode', 'trueward-ad-placement'),
      vite('--mode', 'trueward-cocos'),
      vite('--mode', 'trueward-phaser'),
      vite('--mode', 'trueward-web-export'),
      [...tool('typescript', 'tsc'), '--build', 'src', 'src/server'],
      [process.execPath, 'scripts/roll-up-types.mjs'],
    ],
  },
  {
    name: 'service',
    sources: [
      'service/src',
      'service/vite.config.ts',
      'service/panel',
      'protocol',
      'src/creative',
      'src/server',
      'package-lock.json',
    ],
    outputs: ['service/dist/main.js', 'service/dist/panel/index.html'],
    // The order matters: the first build empties the folder that the second one writes to.
    commands: [vite('service'), vite('service/panel')],
  },
  {
    name: 'demo game',
    sources: [
      'demo/src',
      'demo/examples',
      'demo/index.html',
      'demo/vite.config.ts',
      'src',
      'package-lock.json',
    ],
    outputs: ['demo/dist/game/index.html', 'demo/dist/game/examples/canvas.html'],
    commands: [vite('demo')],
  },
  {
    name: 'demo game server',
    sources: ['demo/game-server', 'src/server', 'package-lock.json'],
    outputs: ['demo/dist/server/main.js'],
    commands: [vite('demo/game-server')],
  },
].map((part) => ({ ...part, env: buildEnv }));

/**
 * Returns whether any of the part's outputs is missing or older than one of its sources.
 *
 * @param {{ sources: readonly string[], outputs: readonly string[] }} part
 */
export function isStale({ sources, outputs }) {
  const paths = outputs.map((path) => join(root, path));
  if (!paths.every((path) => existsSync(path))) return true;
  const oldestOutput = Math.min(...paths.map((path) => statSync(path).mtimeMs));
  return sources.some((path) => readModifiedTime(join(root, path)) > oldestOutput);
}

/**
 * Returns the modification time of a file, or of the newest file in a folder. Returns 0 if there is none.
 *
 * @param {string} path
 * @returns {number}
 */
function readModifiedTime(path) {
  if (!existsSync(path)) return 0;
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const names = readdirSync(path).filter((name) => !/^(dist|dist-.*|node_modules)$/.test(name));
  return Math.max(0, ...names.map((name) => readModifiedTime(join(path, name))));
}
