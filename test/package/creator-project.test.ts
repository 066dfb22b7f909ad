import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'vitest';
import { copyFolder } from '../../scripts/lib/copy-folder.mjs';
import { it } from './worker.ts';

const demo = join(import.meta.dirname, '..', '..', 'demo');
/** TypeScript 4.9.5. Newer versions do not support Creator's `moduleResolution`. */
const tsc = createRequire(join(demo, 'package.json')).resolve('typescript/lib/tsc.js');

it('the Cocos sample and the package compile in a Creator project', ({ installedPackage }) => {
  const folder = join(installedPackage.project, 'creator');
  copyFolder(join(demo, 'cocos', 'assets'), join(folder, 'assets'));
  const settings = JSON.parse(readFileSync(join(demo, 'cocos', 'tsconfig.json'), 'utf8')) as {
    compilerOptions: { strict: boolean };
    include: string[];
  };
  settings.include.push('*.ts');
  for (const strict of [false, true]) {
    settings.compilerOptions.strict = strict;
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect(stdout, `strict: ${strict}`).toBe('');
  }
});
