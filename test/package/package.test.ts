import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createPublishableKey } from '../support/stub-service.ts';
import type { InstalledPackage } from './installed-package.ts';
import { it as test } from './worker.ts';

const root = join(import.meta.dirname, '..', '..');
let installedPackage: InstalledPackage;

test.beforeAll(({ installedPackage: sharedPackage }) => {
  installedPackage = sharedPackage;
});

test('the package contains only the build output and documentation', () => {
  const otherFiles = installedPackage.files.filter((path) => !path.startsWith('dist/'));
  expect(otherFiles.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
  const unexpectedFiles = installedPackage.files.filter(
    (path) =>
      path.startsWith('dist/') && !/^dist\/([\w-]+\.js(\.map)?|types\/.+\.d\.ts)$/.test(path),
  );
  expect(unexpectedFiles).toEqual([]);
});

test('each entry point has one declaration file and an API report', () => {
  const reports = readdirSync(join(root, 'test', 'types', 'api'));
  const declarations = installedPackage.files.filter((path) => path.startsWith('dist/types/'));
  expect(declarations.sort()).toEqual(
    reports.map((name) => `dist/types/${name.replace('.api.md', '.d.ts')}`).sort(),
  );
});

test('each path in the exports map is in the package', () => {
  const paths = Object.values(installedPackage.manifest.exports).flatMap((entry) =>
    typeof entry === 'string' ? [entry] : Object.values(entry),
  );
  expect(paths.length).toBeGreaterThan(0);
  const missing = paths.filter(
    (path) => !existsSync(join(installedPackage.project, 'node_modules', 'trueward', path)),
  );
  expect(missing).toEqual([]);
});

test('each entry point has types', () => {
  const { exports } = installedPackage.manifest;
  const entries = Object.keys(exports).filter((name) => !/\.js(on)?$/.test(name));
  expect(entries).toContain('./phaser');
  for (const name of entries)
    expect(exports[name], name).toEqual({
      types: expect.stringMatching(/^\.\/dist\/types\/.*\.d\.ts$/) as string,
      default: expect.stringMatching(/^\.\/dist\/.*\.js$/) as string,
    });
});

test('each entry point can be imported in Node', () => {
  const entries = [
    '',
    '/ad-placement',
    '/babylon',
    '/cocos',
    '/cocos-slim',
    '/phaser',
    '/pixi',
    '/server',
    '/web-export',
  ];
  const output = installedPackage.runModule(`
    const names = {};
    for (const entry of ${JSON.stringify(entries)})
      names[entry] = Object.keys(await import('trueward' + entry));
    console.log(JSON.stringify(names));
  `);
  const names = JSON.parse(output) as Record<string, string[]>;
  expect(names['']).toContain('createAds');
  expect(names['/ad-placement']).toContain('startAdPlacement');
  expect(names['/babylon']).toEqual(['babylonDriver']);
  expect(names['/cocos']).toContain('createCocosAds');
  expect(names['/cocos-slim']).toEqual(names['/cocos']);
  expect(names['/phaser']).toContain('TruewardPlugin');
  expect(names['/pixi']).toEqual(['pixiDriver']);
  expect(names['/web-export']).toEqual(['webExportDriver']);
  expect(names['/server']).toEqual(
    expect.arrayContaining(['signWebhook', 'verifyWebhook', 'WebhookError']),
  );
});

test('in Node, calls return results and have no side effects', () => {
  const output = installedPackage.runModule(`
    import { createAds } from 'trueward';
    globalThis.fetch = () => { throw new Error('something was requested'); };
    const ads = createAds({
      publishableKey: '${createPublishableKey()}',
      serviceUrl: 'https://ads.test',
      consent: 'page',
      debug: true,
    });
    ads.on('change', () => console.log('changed'));
    const { outcome, reason } = await ads.showRewarded('revive');
    console.log(JSON.stringify([ads.canShow('revive'), outcome, reason]));
  `);
  expect(JSON.parse(output)).toEqual([false, 'error', 'no_dom']);
});

test('the package verifies a webhook that it signed', () => {
  const output = installedPackage.runModule(`
    import { signWebhook, verifyWebhook } from 'trueward/server';
    const body = '{"id":"evt_1","type":"decision.served","data":{}}';
    const headers = await signWebhook(body, 'whsec_1', Math.floor(Date.now() / 1000));
    console.log((await verifyWebhook(body, headers, 'whsec_1')).id);
  `);
  expect(output.trim()).toBe('evt_1');
});

test.each([
  { module: 'esnext', moduleResolution: 'bundler' },
  { module: 'node16', moduleResolution: 'node16' },
])('the package’s types resolve with moduleResolution $moduleResolution', (resolution) => {
  expect(compile(game, resolution)).toBe('');
});

test('the package’s Phaser types add the plugin to each scene', () => {
  const resolution = { module: 'esnext', moduleResolution: 'bundler' };
  // Phaser’s own types have errors.
  expect(compile(scene, { ...resolution, skipLibCheck: true })).toBe('');
});

function compile(code: string, options: object): string {
  const { project } = installedPackage;
  writeFileSync(join(project, 'game.ts'), code);
  const lib = ['es2023', 'dom', 'dom.iterable'];
  const compilerOptions = { ...options, lib, types: [], strict: true, noEmit: true };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['game.ts'] }),
  );
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' }).stdout;
}

const game = `
import { createAds, type ShowResult } from 'trueward';
import { type AdPlacementOptions, createAdPlacement } from 'trueward/ad-placement';
import { createCocosAds, type CocosModule } from 'trueward/cocos';
import { verifyWebhook, WebhookError, type WebhookEvent } from 'trueward/server';

const options = { publishableKey: 'pk_sandbox_1', serviceUrl: 'https://play.example.com' };
const ads = createAds(options);
declare const cc: CocosModule;
declare const placements: AdPlacementOptions;
createAdPlacement(ads, placements);
createAdPlacement(createCocosAds(cc, options), placements);
const result: ShowResult = await ads.showRewarded('revive');
if (result.outcome === 'rewarded') console.log(result.reward?.amount);

const event: WebhookEvent = await verifyWebhook('{}', new Headers(), 'whsec_1');
if (event.type === 'decision.rewarded') console.log(event.data.user_ref, event.data.reward.amount);
console.log(new WebhookError('mismatch', '').code satisfies string);

// @ts-expect-error: proves that the types are resolved.
const wrong: number = result.outcome;
console.log(wrong);
`;

const scene = `
import { Scene } from 'phaser';
import type { ShowResult } from 'trueward';
import 'trueward/phaser';

export class Level extends Scene {
  revive(): Promise<ShowResult> {
    return this.ads.showRewarded('revive');
  }
  reviveInScene(): Promise<ShowResult> {
    return this.ads.showRewarded('revive');
  }
}
`;
