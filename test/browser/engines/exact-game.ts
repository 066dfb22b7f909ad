import type { EngineDriver } from '../../../src/engine/engine-driver.ts';

/** A running game, made with any engine. */
export interface ExactGame {
  driver: EngineDriver;
  canvas: HTMLCanvasElement;
  /** The deltas of the game's frames so far, in milliseconds. */
  deltas: number[];
  /**
   * Everything in the game that moves with time, each as the milliseconds that it has advanced: bodies, tweens, timers,
   * animations. All of them move at the speed of the clock.
   */
  clocks(): Record<string, number>;
  /**
   * By how much the engine lets its clocks run ahead of real time after slow frames, in milliseconds. An ad takes this
   * back. Default: 0.
   */
  aheadMs?: number;
  /** The context that plays the game's sounds. Their positions follow its clock. */
  audio?: AudioContext | undefined;
  /** Whether the game takes the right arrow key for held. */
  isKeyDown(): boolean;
  /** The game's own pause, such as its menu's. */
  pause(): void;
  resume(): void;
  /** Ends the game, as a page does that leaves it. May be called again. */
  destroy(): void;
}

/** An engine, and how to start a small game with it that moves. */
export interface Engine {
  name: string;
  start(): Promise<ExactGame>;
}

/** Creates the game's canvas, focusable and small, because tests draw without a GPU. */
export function addCanvas(): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = 64;
  canvas.height = 48;
  canvas.tabIndex = 0;
  document.body.replaceChildren(canvas);
  return canvas;
}

/** Follows a key the way games do: by events on the window. */
export function followKey(): { isDown(): boolean; stop(): void } {
  const controller = new AbortController();
  let isDown = false;
  for (const type of ['keydown', 'keyup'] as const)
    window.addEventListener(
      type,
      ({ code }) => {
        if (code === 'ArrowRight') isDown = type === 'keydown';
      },
      { signal: controller.signal },
    );
  return { isDown: () => isDown, stop: () => controller.abort() };
}

/** A function that does nothing when it is called again. */
export function callOnce(callback: () => void): () => void {
  let wasCalled = false;
  return () => {
    if (!wasCalled) callback();
    wasCalled = true;
  };
}
