import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './code-blocks.ts';

// Whoever copies a sample pays each reward once, because every handler in it knows the decision.

const sources = [
  'docs',
  'demo/src',
  'demo/examples',
  'demo/cocos/assets',
  'create-trueward/templates',
];
const files = sources
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  )
  .filter((path) => !/node_modules|\bdist\b|\.vitepress/.test(path))
  .filter((path) => /\.(?:md|ts|js|html)$/.test(path))
  .concat('README.md');

/** Handlers that take the reward: `on('reward', ({ decisionId, reward }) => …)` and `onReward({ … })`. */
const handler =
  /(?:\bon\w*\(\s*'reward',\s*(?:async\s*)?\(|\bonReward\()\s*(\{[^}]*\}|[a-z]\w*(?=\s*[:,)]))/g;

test('every sample’s reward handler takes the decision that it pays for', () => {
  const handlers = files.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(handler)].map(
      ([, parameter = '']) => [path, parameter] as const,
    ),
  );
  expect(handlers.length).toBeGreaterThan(10);
  expect(handlers.filter(([, parameter]) => !parameter.includes('decisionId'))).toEqual([]);
});
