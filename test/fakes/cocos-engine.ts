import type { CocosAudioSource, CocosModule } from '../../src/cocos/cocos-module.ts';

/**
 * A fake of the Cocos Creator 3.8 engine. It has the parts that the adapter uses: frames, two ways to pause, page
 * visibility and web input. The order of events, the pause flags and the delta times were measured on 3.8.5 in
 * Chromium, and `test/unit/cocos/cocos-engine.test.ts` verifies them. Time passes only through `tick()` and `wait()`.
 */
export interface CocosEngine extends CocosModule {
  /** Advances time by `ms` milliseconds and runs one animation frame, unless the engine is paused or hidden. */
  tick(ms?: number): void;
  /** Advances time without running an animation frame. */
  wait(ms: number): void;
  /** The last delta time passed to `director.tick`, in seconds. */
  readonly dt: number;
  /** Called each frame when the engine runs the components’ `update()`. */
  onUpdate: () => void;
  /** Called during drawing. */
  onDraw: () => void;
  /** Hides the page, or shows it again. */
  hide(): void;
  show(): void;
  /** Adds a playing sound to the scene. The sound pauses with the game. */
  playSound(): CocosSound;
  /** Adds a sound to the scene, without playing it. */
  addSound(): CocosSound;
  /** Replaces the scene by one with a sound that begins with it. The old scene's sounds are destroyed. */
  loadScene(): void;
  /** Every sound so far, also those that were destroyed. */
  listSounds(): readonly CocosSound[];
  /** Number of listeners on game and director, excluding the engine's own. */
  listenerCount(): number;
  /** Input events received by the game, such as `KEY_DOWN KeyW`. */
  readonly input: string[];
  readonly director: CocosModule['director'] & {
    pause(): void;
    resume(): void;
    addPersistRootNode(node: object): void;
  };
  readonly Component: new () => { node: object };
  /** Persistent nodes, which survive scene changes. */
  readonly persistent: object[];
  /** Removes the engine’s listeners from the page. */
  destroy(): void;
}

export interface CocosSound {
  readonly state: 'playing' | 'paused' | 'interrupted' | 'stopped';
  readonly oneShots: readonly string[];
  /** Whether the node still exists. */
  isValid: boolean;
  volume: number;
  play(): void;
  pause(): void;
  stop(): void;
  playOneShot(clip: string): void;
}

const frameSeconds = 1 / 60;

/** @param canvas - Receives the key events. Without a canvas, there is no input. */
export function createCocosEngine(canvas: HTMLCanvasElement | null = null): CocosEngine {
  const gameEvents = createCocosEvents();
  const directorEvents = createCocosEvents();
  const Game = {
    EVENT_RESUME: 'game_on_resume',
    EVENT_SHOW: 'game_on_show',
    DEBUG_DT_THRESHOLD: 1,
  };
  const Director = {
    EVENT_AFTER_UPDATE: 'director_after_update',
    EVENT_BEGIN_FRAME: 'director_begin_frame',
  };
  const page = { now: 0, hidden: false };
  const state = { paused: false, pausedByEngine: false, directorPaused: false, start: 0, dt: 0 };
  const input: string[] = [];
  const persistent: object[] = [];
  const AudioSource = createAudioSource(gameEvents, Game.EVENT_RESUME);
  const sounds: InstanceType<typeof AudioSource>[] = [];
  const destroyedSounds: CocosSound[] = [];
  const stopInput = canvas === null ? () => {} : listenForInput(canvas, input);

  const game: CocosModule['game'] = {
    ...gameEvents,
    canvas,
    isPaused: () => state.paused,
    pause() {
      if (state.paused) return;
      state.paused = true;
      gameEvents.emit('game_on_pause');
    },
    resume() {
      if (!state.paused) return;
      state.paused = false;
      gameEvents.emit(Game.EVENT_RESUME);
    },
  };

  function nextDelta(): number {
    const seconds = page.now > state.start ? (page.now - state.start) / 1000 : 0;
    state.start = page.now;
    return seconds > Game.DEBUG_DT_THRESHOLD ? frameSeconds : seconds;
  }

  function frame(): void {
    const { emit } = directorEvents;
    state.dt = nextDelta();
    emit(Director.EVENT_BEGIN_FRAME);
    if (!state.directorPaused) {
      emit('director_before_update');
      engine.onUpdate();
      emit(Director.EVENT_AFTER_UPDATE);
    }
    emit('director_before_draw');
    engine.onDraw();
    emit('director_after_draw');
    emit('director_end_frame');
  }

  const engine: CocosEngine = {
    game,
    Game,
    director: {
      ...directorEvents,
      isPaused: () => state.directorPaused,
      pause: () => (state.directorPaused = true),
      resume: () => (state.directorPaused = false),
      addPersistRootNode: (node) => persistent.push(node),
      getScene: () => ({ getComponentsInChildren: () => sounds }),
    },
    Director,
    Component: class {
      node = {};
    },
    persistent,
    input,
    onUpdate: () => {},
    onDraw: () => {},
    get dt() {
      return state.dt;
    },
    wait: (ms) => (page.now += ms),
    tick(ms = 1000 * frameSeconds) {
      page.now += ms;
      if (!state.paused && !page.hidden) frame();
    },
    hide() {
      page.hidden = true;
      gameEvents.emit('game_on_hide');
      // If the game is already paused, the engine does not record the pause as its own, so the game stays paused when
      // the page is shown.
      if (state.paused) return;
      state.pausedByEngine = true;
      game.pause();
    },
    show() {
      page.hidden = false;
      gameEvents.emit(Game.EVENT_SHOW);
      if (!state.pausedByEngine) return;
      game.resume();
      state.pausedByEngine = false;
    },
    AudioSource,
    addSound() {
      const sound = new AudioSource();
      sounds.push(sound);
      return sound;
    },
    loadScene() {
      for (const sound of sounds) sound.destroy();
      destroyedSounds.push(...sounds.splice(0));
      engine.playSound();
    },
    listSounds: () => [...destroyedSounds, ...sounds],
    playSound() {
      const sound = engine.addSound();
      sound.play();
      return sound;
    },
    listenerCount: () => gameEvents.count() + directorEvents.count(),
    destroy: stopInput,
  };
  return engine;
}

interface Listener {
  type: string;
  callback: () => void;
  once: boolean;
  removed: boolean;
  /** Whether this is one of the engine’s own listeners, which are hidden from the game. */
  internal: boolean;
}

/**
 * Creates an event target like the engine's. Adding the same callback again has no effect. A callback that is added
 * while an event is being emitted is not called for that event.
 */
function createCocosEvents() {
  let listeners: Listener[] = [];

  function add(type: string, callback: () => void, once: boolean, internal = false): void {
    if (listeners.some((known) => known.type === type && known.callback === callback)) return;
    listeners.push({ type, callback, once, removed: false, internal });
  }

  function remove(listener: Listener): void {
    listener.removed = true;
    listeners = listeners.filter((other) => other !== listener);
  }

  return {
    on: (type: string, callback: () => void) => add(type, callback, false),
    once: (type: string, callback: () => void) => add(type, callback, true),
    off(type: string, callback: () => void) {
      const found = listeners.find((known) => known.type === type && known.callback === callback);
      if (found) remove(found);
    },
    addInternalListener: (type: string, callback: () => void) => add(type, callback, false, true),
    emit(type: string) {
      for (const listener of listeners.filter((known) => known.type === type)) {
        if (listener.removed) continue;
        if (listener.once) remove(listener);
        listener.callback();
      }
    },
    count: () => listeners.filter(({ internal }) => !internal).length,
  };
}

/** Creates the engine's class. Without a playing sound, pausing has no effect; an interrupted sound isn't playing. */
function createAudioSource(
  game: Pick<ReturnType<typeof createCocosEvents>, 'addInternalListener'>,
  resumeEvent: string,
) {
  return class AudioSource implements CocosSound, CocosAudioSource {
    isValid = true;
    volume = 1;
    state: CocosSound['state'] = 'stopped';
    oneShots: string[] = [];
    get playing(): boolean {
      return this.state === 'playing';
    }
    constructor() {
      game.addInternalListener('game_on_pause', () => {
        if (this.state === 'playing') this.state = 'interrupted';
      });
      game.addInternalListener(resumeEvent, () => {
        if (this.state === 'interrupted') this.state = 'playing';
      });
    }
    play(): void {
      if (this.isValid) this.state = 'playing';
    }
    pause(): void {
      if (this.state === 'playing') this.state = 'paused';
    }
    stop(): void {
      this.state = 'stopped';
    }
    destroy(): void {
      this.isValid = false;
      this.state = 'stopped';
    }
    playOneShot(clip: string): void {
      this.oneShots.push(clip);
    }
  };
}

/**
 * Records keys and touches on the canvas, and mouse events on the canvas and the window. Input is recorded
 * synchronously, even while the game is paused.
 */
function listenForInput(canvas: HTMLCanvasElement, input: string[]): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const key = (name: string) => (event: KeyboardEvent) => {
    event.stopPropagation();
    event.preventDefault();
    input.push(`${event.repeat ? 'KEY_PRESSING' : name} ${event.code}`);
  };
  const place = ({ clientX, clientY }: { clientX: number; clientY: number }) => {
    const { bottom, left, right, top } = canvas.getBoundingClientRect();
    const inside = clientX >= left && clientX < right && clientY >= top && clientY < bottom;
    return inside ? '' : ' outside';
  };
  const mouse = (name: string) => (event: MouseEvent) => {
    event.stopPropagation();
    input.push(`${name}${place(event)}`);
  };
  const touch = (name: string) => (event: TouchEvent) => {
    event.stopPropagation();
    // The engine handles touches. It ignores the mouse events that a browser synthesizes from them.
    if (event.cancelable) event.preventDefault();
    for (const changed of Array.from(event.changedTouches)) input.push(`${name}${place(changed)}`);
  };
  canvas.addEventListener('keydown', key('KEY_DOWN'), { signal });
  canvas.addEventListener('keyup', key('KEY_UP'), { signal });
  canvas.addEventListener('mousedown', mouse('MOUSE_DOWN'), { signal });
  canvas.addEventListener('mouseup', mouse('MOUSE_UP'), { signal });
  window.addEventListener('mouseup', mouse('MOUSE_UP'), { signal });
  canvas.addEventListener('touchstart', touch('TOUCH_START'), { signal });
  canvas.addEventListener('touchmove', touch('TOUCH_MOVE'), { signal });
  canvas.addEventListener('touchend', touch('TOUCH_END'), { signal });
  canvas.addEventListener('touchcancel', touch('TOUCH_CANCEL'), { signal });
  return () => stop.abort();
}
