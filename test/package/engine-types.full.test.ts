import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** What a TypeScript game writes. The drivers declare only the parts of an engine that they use. */
const game = `
import { Engine } from '@babylonjs/core/Engines/engine.js';
import { sound, type webaudio } from '@pixi/sound';
import { Application } from 'pixi.js';
import { createAds, createEngineDriver, type AdsOptions } from 'trueward';
import { babylonDriver } from 'trueward/babylon';
import { pixiDriver } from 'trueward/pixi';
import { webExportDriver } from 'trueward/web-export';

declare const options: AdsOptions;
const app = new Application();
const context = () => (sound.context as webaudio.WebAudioContext).audioContext;
createAds({ ...options, engine: pixiDriver(app, { audio: context }) });
const engine = new Engine(null);
createAds({ ...options, engine: babylonDriver(engine, { audio: () => new AudioContext() }) });
createAds({ ...options, engine: webExportDriver() });
createEngineDriver({
  canvas: () => app.canvas,
  audio: context,
  onFrame: () => () => {},
  pause(postpone) {
    postpone(app.ticker, ['start', 'stop']);
    // @ts-expect-error: a ticker has no such method.
    postpone(app.ticker, ['sleep']);
    return () => {};
  },
});
// @ts-expect-error: proves that the engines' types are resolved.
pixiDriver(engine);
`;

test('the drivers accept the engines as their own types declare them', () => {
  const parent = join(root, 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'trueward-engine-types-'));
  writeFileSync(join(folder, 'game.ts'), game);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../../scripts/tsconfig.base.json',
      compilerOptions: {
        composite: false,
        emitDeclarationOnly: false,
        noEmit: true,
        lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      },
      files: ['game.ts'],
    }),
  );
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
    cwd: folder,
  });
  rmSync(folder, { recursive: true });
  expect(stdout).toBe('');
});
