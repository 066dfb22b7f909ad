import type { PauseFunction } from '../engine/create-engine-driver.ts';
import { listen } from '../platform/native.ts';
import { warnOnce } from '../platform/warn.ts';

/** A GDevelop game. Older versions have no `isPaused()`. */
interface GDevelopGame {
  isPaused?(): boolean;
  pause(paused: boolean): void;
}

/** What a Unity page's `createUnityInstance()` resolves with. */
interface UnityInstance {
  Module?: { pauseMainLoop?(): void; resumeMainLoop?(): void };
}

/** The globals that the engines define. */
interface Page {
  gdjs?: { RuntimeGame?: { prototype: { startGameLoop(): void } } };
  createUnityInstance?(...args: unknown[]): Promise<UnityInstance>;
}

/**
 * Returns a list to which every game is added that starts from now on. The engines hand their game only to the page's own
 * script, so the functions that create or start it are wrapped as soon as the engine's script has loaded.
 */
export function watchForGames(): PauseFunction[] {
  const games: PauseFunction[] = [];
  const page = globalThis as Page;
  const wrapped = new WeakSet<object>();
  function wrap(): void {
    const { createUnityInstance } = page;
    if (typeof createUnityInstance === 'function' && !wrapped.has(createUnityInstance)) {
      page.createUnityInstance = async (...args) => {
        const instance = await createUnityInstance(...args);
        games.push((postpone) => holdUnity(instance, postpone));
        return instance;
      };
      wrapped.add(page.createUnityInstance);
    }
    const game = page.gdjs?.RuntimeGame?.prototype;
    if (game && !wrapped.has(game)) {
      wrapped.add(game);
      const { startGameLoop } = game;
      game.startGameLoop = function (this: GDevelopGame & typeof game) {
        games.push((postpone) => holdGDevelop(this, postpone));
        startGameLoop.call(this);
      };
    }
  }
  // Runs before the page's own listener and before the next script. The event has no other target below the document.
  if (globalThis.document) listen(document, 'load', wrap, { capture: true });
  wrap();
  return games;
}

function holdGDevelop(game: GDevelopGame, postpone: Parameters<PauseFunction>[0]): () => void {
  const wasRunning = game.isPaused?.() !== true;
  if (wasRunning) game.pause(true);
  postpone(game, ['pause']);
  return () => {
    if (wasRunning) game.pause(false);
  };
}

function holdUnity({ Module }: UnityInstance, postpone: Parameters<PauseFunction>[0]): () => void {
  if (!Module?.pauseMainLoop || !Module.resumeMainLoop) {
    warnOnce(
      'this Unity build has no `Module.pauseMainLoop`, so the game runs behind its ads. Pause it with `SendMessage` in ' +
        '`ads.on("open", …)` and `ads.on("close", …)`.',
    );
    return () => {};
  }
  Module.pauseMainLoop();
  postpone(Module, ['pauseMainLoop', 'resumeMainLoop']);
  return () => Module.resumeMainLoop?.();
}
