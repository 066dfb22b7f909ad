import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

interface Job {
  strategy: { matrix: { node: string[] } };
  steps: { uses?: string; run?: string }[];
}
const { jobs } = parse(read('.github/workflows/ci.yml')) as { jobs: Record<string, Job> };
const job = (command: string) =>
  Object.values(jobs).find(({ steps }) => steps.some(({ run }) => run === command));

test.each(['npm test', 'npm run test:full'])(
  'the workflow runs `%s` on the oldest supported Node and the container image’s Node',
  (command) => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const [, image] = /^FROM \S*\bnode:(\d+)/m.exec(read('deploy/Containerfile')) ?? [];
    const testedVersions = job(command)?.strategy.matrix.node;
    expect(testedVersions).toContain(engines.node.replace('>=', ''));
    expect(testedVersions).toContain(image);
  },
);

test('the workflow pins every action to a commit', () => {
  const actions = Object.values(jobs).flatMap(({ steps }) =>
    steps.flatMap(({ uses = [] }) => uses),
  );
  expect(actions.length).toBeGreaterThan(0);
  expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
});
