import { root, tool } from './run.mjs';
import { join } from 'node:path';

const node = (/** @type {string[]} */ ...args) => [process.execPath, ...args];
const tsc = (/** @type {string} */ project) => [...tool('typescript', 'tsc'), '-p', project];

/**
 * The slow ones first, because two run at once. `fullCommands` are what `npm run test:full` adds.
 *
 * @type {readonly (import('./run-steps.mjs').Step & { fullCommands?: string[][] })[]}
 */
const all = [
  {
    name: 'types',
    commands: [
      'tsconfig.json',
      'tsconfig.server.json',
      'tsconfig.node.json',
      'tsconfig.panel.json',
      'tsconfig.scripts.json',
      'demo/cocos/tsconfig.json',
    ].map(tsc),
  },
  {
    name: 'lint',
    commands: [[...tool('oxlint'), '-c', 'oxlint.config.mjs', '--type-aware', '--deny-warnings']],
  },
  {
    name: 'format',
    commands: [[...tool('prettier'), '--check', '--cache', '--log-level', 'warn', '.']],
  },
  {
    // The reference pages, then the site: a dead link fails it.
    name: 'docs',
    commands: [[...tool('tsx'), join(root, 'docs/generate/main.ts')]],
    fullCommands: [[...tool('vitepress'), 'build', 'docs']],
  },
  { name: 'unused', commands: [tool('knip')] },
  {
    name: 'generated',
    commands: [[...tool('tsx'), join(root, 'protocol/generate-wire.ts'), '--check']],
  },
  {
    name: 'package',
    commands: [[...tool('publint'), '--strict']],
    fullCommands: [
      [
        ...tool('@arethetypeswrong/cli', 'attw'),
        // Script tags are no modules, and what resolves only by CommonJS rules is not offered.
        '--pack',
        '.',
        '--profile',
        'esm-only',
        '--format',
        'ascii',
        '--exclude-entrypoints',
        'trueward.js',
        'trueward-cocos.js',
        'trueward-phaser.js',
      ],
    ],
  },
  { name: 'api', commands: [node('scripts/api-report.mjs', '--check')] },
  { name: 'script-tags', commands: [node('scripts/script-tags.mjs', '--check')] },
  { name: 'licences', commands: [node('scripts/licences.mjs', '--check')] },
  { name: 'size', commands: [node('scripts/check-size.mjs')] },
];

/** @param {{ full: boolean }} options */
export const checks = ({ full }) =>
  all.map(({ name, commands, fullCommands = [] }) => ({
    name,
    commands: full ? [...commands, ...fullCommands] : commands,
  }));
