import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const templates = ['with-server', 'without-server'].map(
  (name) => `create-trueward/templates/${name}/package.json`,
);
let project: string;

function write(file: string, content: string | object): void {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  writeFileSync(join(project, file), text);
}

const read = (file: string): string => readFileSync(join(project, file), 'utf8');

function run(program: string, ...args: string[]): { status: number | null; output: string } {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: project,
    env,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

const release = (...args: string[]) => run(process.execPath, 'scripts/release.mjs', ...args);

function commit(): void {
  run('git', 'add', '--all');
  run('git', '-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'Test');
}

/** Creates a repository with two packages at version 1.2.3, whose build and check scripts do nothing. */
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'trueward-release-'));
  for (const file of [
    'scripts/release.mjs',
    'scripts/lib/read-options.mjs',
    'scripts/lib/run.mjs',
    '.changeset/config.json',
  ])
    cpSync(join(root, file), join(project, file));
  // Links only these packages and not the whole node_modules, because npm would write to a linked folder.
  mkdirSync(join(project, 'node_modules', '@changesets'), { recursive: true });
  for (const name of ['@changesets/cli', 'commander'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  const commands = ['build', 'script-tags', 'format', 'check'];
  write('package.json', {
    name: 'trueward',
    version: '1.2.3',
    workspaces: ['.', 'create-trueward'],
    scripts: Object.fromEntries(commands.map((name) => [name, 'node --version'])),
  });
  write('package-lock.json', {
    lockfileVersion: 3,
    packages: {
      '': { name: 'trueward', version: '1.2.3', workspaces: ['.', 'create-trueward'] },
      'create-trueward': { version: '1.2.3' },
      'node_modules/create-trueward': { resolved: 'create-trueward', link: true },
      'node_modules/trueward': { resolved: '', link: true },
    },
  });
  write('create-trueward/package.json', { name: 'create-trueward', version: '1.2.3' });
  for (const template of templates) write(template, { dependencies: { trueward: '^1.2.3' } });
  write('demo/cocos/package.json', { dependencies: { trueward: '1.2.3' } });
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.3\n\nWritten by hand.\n');
  write('.gitignore', 'node_modules\n');
  run('git', 'init', '-q', '-b', 'main');
  commit();
});
afterEach(() => rmSync(project, { recursive: true }));

test('releases an unpublished version as is', () => {
  const { status, output } = release('--dry-run');
  expect(output).toContain('trueward and create-trueward: 1.2.3');
  expect(status).toBe(0);
});

test('rejects changesets before the first publication', () => {
  write('.changeset/early.md', "---\n'trueward': minor\n---\n\nAds in a circle.\n");
  commit();
  const { status, output } = release();
  expect(output).toContain('delete the changesets early.md');
  expect(status).toBe(1);
});

test('after the first publication, the changesets determine the new version and the changelog', () => {
  run('git', 'tag', 'trueward@1.2.3');
  write('.changeset/circle.md', "---\n'trueward': minor\n---\n\nAds in a circle.\n");
  commit();
  expect(release('--dry-run').output).toContain('trueward 1.3.0');

  const { status, output } = release();
  expect(output).toContain('npx changeset publish');
  expect(status).toBe(0);
  for (const folder of ['.', 'create-trueward'])
    expect(JSON.parse(read(join(folder, 'package.json')))).toMatchObject({ version: '1.3.0' });
  for (const template of templates) expect(read(template)).toContain('"^1.3.0"');
  expect(read('demo/cocos/package.json')).toContain('"1.3.0"');
  expect(read('package-lock.json')).not.toContain('1.2.3');
  expect(read('CHANGELOG.md')).toMatch(
    /^# Changelog\n.*1\.3\.0.*Ads in a circle.*1\.2\.3.*by hand/s,
  );
});
