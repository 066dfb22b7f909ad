import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { buildParts } from '../../../scripts/lib/build-parts.mjs';
import { root } from '../../../scripts/lib/run.mjs';
import { runSteps } from '../../../scripts/lib/run-steps.mjs';

// A machine's NODE_ENV is often set for other programs.

test.each(['development', 'test'])(
  'all parts are built for production if NODE_ENV is %s',
  async (value) => {
    vi.stubEnv('NODE_ENV', value);
    const check = `process.exit(process.env.NODE_ENV === 'production' ? 0 : 1)`;
    const parts = buildParts.map((part) => ({
      ...part,
      commands: [[process.execPath, '-e', check]],
    }));
    expect(await runSteps(parts, { concurrency: 4 })).toEqual({ passed: parts.length, failed: 0 });
  },
);

test.each([{ NODE_ENV: 'production' }, { npm_config_omit: 'dev' }])(
  'development packages are installed with %o',
  (variables) => {
    const folder = mkdtempSync(join(tmpdir(), 'trueward-install-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'scripts/lib'), { recursive: true });
    for (const name of ['ensure-install.mjs', 'run.mjs'])
      copyFileSync(join(root, 'scripts/lib', name), join(folder, 'scripts/lib', name));
    const writeJson = (path: string, content: object): void =>
      writeFileSync(join(folder, path), JSON.stringify(content));
    const tool = { name: 'tool', version: '1.0.0' };
    const game = { name: 'game', version: '1.0.0', devDependencies: { tool: 'file:tool' } };
    mkdirSync(join(folder, 'tool'));
    writeJson('tool/package.json', tool);
    writeJson('package.json', game);
    writeJson('package-lock.json', {
      name: game.name,
      lockfileVersion: 3,
      packages: {
        '': game,
        tool: { ...tool, dev: true },
        'node_modules/tool': { resolved: 'tool', link: true },
      },
    });
    const program = `import { ensureInstall } from './scripts/lib/ensure-install.mjs'; await ensureInstall();`;
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      env: { ...process.env, ...variables },
    });
    expect(existsSync(join(folder, 'node_modules/tool'))).toBe(true);
  },
);
