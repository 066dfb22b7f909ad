import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { webExportDriver } from '../../../src/web-export/index.ts';
import { eventually } from '../../support/eventually.ts';
import { frames as waitFrames } from '../phaser/phaser-games.ts';
import { allowSound, playsSound } from './exact.ts';

// The editors can't run here, so these are stand-ins: they have what the driver uses of an export, and behave as the
// exports that we read do. They say nothing about deltas.

beforeAll(allowSound);

afterEach(() => {
  document.head.querySelectorAll('script[src^="blob:"]').forEach((script) => script.remove());
  for (const name of ['gdjs', 'createUnityInstance', 'c3_runtimeInterface', 'standIn'])
    Reflect.deleteProperty(globalThis, name);
});

interface StandIn {
  frames(): number | Promise<number>;
}

/** Runs a script of the page, and resolves when it has run. */
function runScript(code: string): Promise<void> {
  const script = document.createElement('script');
  script.src = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  return new Promise((resolve) => {
    script.onload = () => resolve();
    document.head.append(script);
  });
}

const loop = `(isPaused) => {
  let count = 0;
  requestAnimationFrame(function frame() {
    requestAnimationFrame(frame);
    if (!isPaused()) count += 1;
  });
  window.standIn = { frames: () => count };
}`;

/** The listener in the page's part of Construct's runtime, which tells the part with the game, also in a worker. */
const construct = (readHidden: string, post: string) => `
  window.c3_runtimeInterface = {};
  let wasHidden = ${readHidden};
  document.addEventListener('visibilitychange', () => {
    const hidden = ${readHidden};
    ${readHidden.includes('State') ? 'if (hidden === wasHidden) return;' : ''}
    wasHidden = hidden;
    ${post}
  });`;

const inPage = `suspendCount = Math.max(0, suspendCount + (hidden ? 1 : -1));`;
const inWorker = `worker.postMessage({ hidden });`;
const worker = `
  let suspendCount = 0, count = 0;
  setInterval(() => { if (suspendCount === 0) count += 1; }, 4);
  onmessage = ({ data: { hidden } }) => {
    if (hidden === undefined) return postMessage(count);
    suspendCount = Math.max(0, suspendCount + (hidden ? 1 : -1));
  };`;
const startWorker = `
  const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(worker)}])));
  window.standIn = {
    frames: () => new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage({});
    }),
  };`;

/** The scripts of each export, in the order in which its page loads them. */
const pages: [name: string, scripts: string[]][] = [
  [
    'GDevelop',
    [
      `var gdjs = {
        RuntimeGame: class {
          paused = false;
          pause(paused) { this.paused = paused; }
          startGameLoop() { (${loop})(() => this.paused); }
        },
      };`,
      `new gdjs.RuntimeGame().startGameLoop();`,
    ],
  ],
  [
    'Unity',
    [
      `function createUnityInstance() {
        let paused = false;
        (${loop})(() => paused);
        const Module = {
          pauseMainLoop: () => (paused = true),
          resumeMainLoop: () => (paused = false),
        };
        return Promise.resolve({ Module });
      }`,
      `createUnityInstance(document.querySelector('canvas'), {});`,
    ],
  ],
  [
    'Construct 3',
    [
      `{ let suspendCount = 0;
        ${construct(`document.visibilityState === 'hidden'`, inPage)}
        (${loop})(() => suspendCount > 0); }`,
    ],
  ],
  [
    'Construct 3 before 2025',
    [
      `{ let suspendCount = 0;
        ${construct('document.hidden', inPage)}
        (${loop})(() => suspendCount > 0); }`,
    ],
  ],
  [
    'Construct 3 in a worker',
    [`{ ${startWorker} ${construct(`document.visibilityState === 'hidden'`, inWorker)} }`],
  ],
];

/** What a browser does when the player looks at another tab. */
function switchTab(hidden: boolean): void {
  vi.spyOn(Document.prototype, 'hidden', 'get').mockReturnValue(hidden);
  const state = hidden ? 'hidden' : 'visible';
  vi.spyOn(Document.prototype, 'visibilityState', 'get').mockReturnValue(state);
  document.dispatchEvent(new Event('visibilitychange'));
}

describe.each(pages)('a stand-in for %s', (_, scripts) => {
  let driver: EngineDriver;

  async function start(): Promise<StandIn> {
    driver = webExportDriver();
    for (const script of scripts) await runScript(script);
    const { standIn } = globalThis as unknown as { standIn: StandIn };
    await expectRunning(standIn);
    return standIn;
  }
  async function expectRunning({ frames }: StandIn): Promise<void> {
    const before = await frames();
    await eventually(async () => expect(await frames()).toBeGreaterThan(before));
  }
  async function expectHeld({ frames }: StandIn): Promise<void> {
    const before = await frames();
    await waitFrames(4);
    expect(await frames()).toBe(before);
  }

  it('is held during an ad, also if the player looks at another tab', async () => {
    const game = await start();
    const release = driver.hold();
    await expectHeld(game);
    switchTab(true);
    switchTab(false);
    expect(document.hidden).toBe(false);
    await expectHeld(game);
    release();
    release();
    await expectRunning(game);
    const releaseAgain = driver.hold();
    await expectHeld(game);
    releaseAgain();
    await expectRunning(game);
    expect(document.visibilityState).toBe('visible');
  });
});

describe.each(pages.filter(([name]) => name.startsWith('Construct')))(
  'a stand-in for %s',
  (_, scripts) => {
    it('stays suspended if the ad ends on a hidden page, until the page is shown', async () => {
      const driver = webExportDriver();
      for (const script of scripts) await runScript(script);
      const { frames } = (globalThis as unknown as { standIn: StandIn }).standIn;
      const release = driver.hold();
      switchTab(true);
      release();
      const before = await frames();
      await waitFrames(4);
      expect(await frames()).toBe(before);
      switchTab(false);
      await eventually(async () => expect(await frames()).toBeGreaterThan(before));
    });
  },
);

it.runIf(playsSound)('audio elements outside the page are silent during an ad', async () => {
  const driver = webExportDriver();
  const music = new Audio(new URL('../../media/clip.webm', import.meta.url).href);
  const pausedByGame = new Audio(music.src);
  music.loop = true;
  await music.play();
  const release = driver.hold();
  expect(music.paused).toBe(true);
  await music.play();
  expect(music.paused).toBe(true);
  release();
  await eventually(() => expect(music.paused).toBe(false));
  expect(pausedByGame.paused).toBe(true);
  music.pause();
});

it.runIf(playsSound)('audio contexts that an export creates are silent during an ad', async () => {
  const driver = webExportDriver();
  const context = new AudioContext();
  expect(context).toBeInstanceOf(AudioContext);
  await context.resume();
  const release = driver.hold();
  await eventually(() => expect(context.state).toBe('suspended'));
  await context.resume();
  expect(context.state).toBe('suspended');
  release();
  await eventually(() => expect(context.state).toBe('running'));
  await context.close();
  driver.hold()();
});

it('Unity builds that can’t be both paused and resumed are a warning, and go on', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const called = vi.fn();
  const driver = webExportDriver();
  await runScript(`createUnityInstance = async (Module) => ({ Module });`);
  const { createUnityInstance } = globalThis as unknown as {
    createUnityInstance(module: object): Promise<unknown>;
  };
  for (const module of [{}, { pauseMainLoop: called }, { resumeMainLoop: called }])
    await createUnityInstance(module);
  driver.hold()();
  expect(warn.mock.calls.join()).toContain('Module.pauseMainLoop');
  expect(called).not.toHaveBeenCalled();
});
