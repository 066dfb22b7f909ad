import { join } from 'node:path';
import { isStale } from './build-parts.mjs';
import { root, tool } from './run.mjs';

/** The folder in which the tools cache their results for unchanged files. */
const cache = join(root, 'node_modules', '.cache', 'checks');

const node = (/** @type {string[]} */ ...args) => [process.execPath, ...args];

/** The reference pages, which are generated from the code. `outputs` contains the page that is written last. */
const reference = {
  sources: [
    'src',
    'service/src',
    'protocol',
    'docs/generate',
    'docs/typedoc.json',
    'package-lock.json',
  ],
  outputs: ['docs/reference/cli.md'],
};

/**
 * All checks, slowest first: two checks run at a time, and a slow check that starts last would run alone. `fullCommands`
 * run only with `--full`.
 *
 * @type {readonly (import('./run-steps.mjs').Step & { fullCommands?: string[][] })[]}
 */
const allChecks = [
  {
    name: 'types',
    commands: [[...tool('typescript', 'tsc'), '--build']],
  },
  {
    name: 'lint',
    commands: [[...tool('oxlint'), '-c', 'oxlint.config.mjs', '--type-aware', '--deny-warnings']],
  },
  {
    name: 'format',
    commands: [
      [
        ...tool('prettier'),
        '--check',
        '--log-level',
        'warn',
        '--cache',
        '--cache-location',
        join(cache, 'prettier'),
        // Detects changed files by content, because a checkout changes modification times.
        '--cache-strategy',
        'content',
        '.',
      ],
    ],
  },
  {
    name: 'docs',
    commands: [
      ...(isStale(reference) ? [[...tool('tsx'), 'docs/generate/main.ts']] : []),
      [...tool('tsx'), 'docs/generate/check-links.ts'],
    ],
    fullCommands: [[...tool('vitepress'), 'build', 'docs']],
  },
  {
    name: 'unused',
    commands: [
      [
        ...tool('knip'),
        '--config',
        'scripts/knip.json',
        '--cache',
        '--cache-location',
        join(cache, 'knip'),
      ],
    ],
  },
  {
    name: 'generated',
    commands: [[...tool('tsx'), 'scripts/generate-wire.ts', '--check']],
  },
  {
    name: 'package',
    commands: [[...tool('publint'), '--strict']],
    fullCommands: [
      [
        ...tool('@arethetypeswrong/cli', 'attw'),
        // Skips the script-tag bundles, which aren't modules, and CommonJS, which isn't supported.
        '--pack',
        '.',
        '--profile',
        'esm-only',
        '--format',
        'ascii',
        '--exclude-entrypoints',
        'trueward.js',
        'trueward-ad-placement.js',
        'trueward-cocos.js',
        'trueward-phaser.js',
        'trueward-portals.js',
        'trueward-web-export.js',
      ],
    ],
  },
  { name: 'api', commands: [node('scripts/api-report.mjs', '--check')] },
  { name: 'licenses', commands: [node('scripts/licenses.mjs', '--check')] },
  { name: 'size', commands: [node('scripts/sizes.mjs', '--check')] },
];

/** @param {{ full: boolean }} options */
export const checks = ({ full }) =>
  allChecks.map(({ name, commands, fullCommands = [] }) => ({
    name,
    commands: full ? [...commands, ...fullCommands] : commands,
  }));
