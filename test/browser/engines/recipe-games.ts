import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { addCanvas, callOnce, type Engine, followKey } from './exact-game.ts';
import { importRecipe } from './recipes.ts';

const three: Engine = {
  name: 'three.js',
  async start() {
    const library = await import('three');
    const { runLoop } = await importRecipe<{
      runLoop(renderer: unknown, update: (seconds: number) => void): EngineDriver;
    }>('three');
    const renderer = new library.WebGLRenderer({ canvas: addCanvas() });
    renderer.setSize(64, 48, false);
    const scene = new library.Scene();
    const camera = new library.PerspectiveCamera();
    const box = new library.Object3D();
    scene.add(box);
    const mixer = new library.AnimationMixer(box);
    // One unit per millisecond.
    const track = new library.NumberKeyframeTrack('.position[x]', [0, 1_000], [0, 1_000_000]);
    mixer.clipAction(new library.AnimationClip('move', 1_000, [track])).play();
    const key = followKey();
    const deltas: number[] = [];
    let isPaused = false;
    const driver = runLoop(renderer, (seconds) => {
      if (isPaused) return;
      deltas.push(seconds * 1_000);
      mixer.update(seconds);
      renderer.render(scene, camera);
    });
    return {
      driver,
      canvas: renderer.domElement,
      deltas,
      audio: library.AudioContext.getContext(),
      clocks: () => ({ animation: box.position.x }),
      isKeyDown: key.isDown,
      pause: () => (isPaused = true),
      resume: () => (isPaused = false),
      destroy: callOnce(() => {
        key.stop();
        renderer.setAnimationLoop(null);
        renderer.dispose();
      }),
    };
  },
};

const excalibur: Engine = {
  name: 'Excalibur',
  async start() {
    const library = await import('excalibur');
    const { excaliburDriver } = await importRecipe<{
      excaliburDriver(game: unknown): EngineDriver;
    }>('excalibur');
    const game = new library.Engine({
      canvasElement: addCanvas(),
      width: 64,
      height: 48,
      suppressPlayButton: true,
      suppressConsoleBootMessage: true,
      suppressMinimumBrowserFeatureDetection: true,
    });
    const actor = new library.Actor({ x: 0, y: 0, width: 1, height: 1 });
    actor.vel = new library.Vector(1_000, 0);
    const mover = new library.Actor({ x: 0, y: 0, width: 1, height: 1 });
    mover.actions.moveTo({ pos: new library.Vector(1_000_000, 0), duration: 1_000_000 });
    game.add(actor);
    game.add(mover);
    const key = followKey();
    const deltas: number[] = [];
    let timer = 0;
    game.on('postupdate', ({ elapsed }: { elapsed: number }) => {
      deltas.push(elapsed);
      timer += elapsed;
    });
    await game.start();
    return {
      driver: excaliburDriver(game),
      canvas: game.canvas,
      deltas,
      audio: library.AudioContextFactory.create(),
      clocks: () => ({ body: actor.pos.x, action: mover.pos.x, timer }),
      isKeyDown: key.isDown,
      pause: () => game.stop(),
      resume: () => void game.start(),
      destroy: callOnce(() => {
        key.stop();
        game.dispose();
      }),
    };
  },
};

const kaplay: Engine = {
  name: 'KAPLAY',
  async start() {
    const { default: startKaplay } = await import('kaplay');
    const { kaplayDriver } = await importRecipe<{ kaplayDriver(k: unknown): EngineDriver }>(
      'kaplay',
    );
    const canvas = addCanvas();
    const k = startKaplay({ canvas, width: 64, height: 48, global: false, loadingScreen: false });
    const body = k.add([k.pos(0, 0)]);
    const tweened = { x: 0 };
    k.tween(0, 1_000_000, 1_000, (x: number) => (tweened.x = x), k.easings.linear);
    const deltas: number[] = [];
    k.onUpdate(() => {
      deltas.push(k.dt() * 1_000);
      body.move(1_000, 0);
    });
    return {
      driver: kaplayDriver(k),
      canvas,
      deltas,
      audio: k.audioCtx,
      clocks: () => ({ body: body.pos.x, tween: tweened.x }),
      isKeyDown: () => k.isKeyDown('right'),
      pause: () => (k.getTreeRoot().paused = true),
      resume: () => (k.getTreeRoot().paused = false),
      destroy: callOnce(() => k.quit()),
    };
  },
};

const libraries: Engine = {
  name: 'Howler, Tone and GSAP',
  async start() {
    const { default: gsap } = await import('gsap');
    const { Howler } = await import('howler');
    const { getContext, getTransport, start } = await import('tone');
    const { librariesDriver } = await importRecipe<{
      librariesDriver(canvas: HTMLCanvasElement, updates: Set<() => void>): EngineDriver;
    }>('libraries');
    await start();
    // Creates its context.
    Howler.volume(1);
    // Otherwise it suspends its context after 30 s without a sound.
    Howler.autoSuspend = false;
    const canvas = addCanvas();
    const key = followKey();
    const deltas: number[] = [];
    const [tweened, timed] = [{ ms: 0 }, { ms: 0 }];
    gsap.to(tweened, { ms: 1_000_000, duration: 1_000, ease: 'none' });
    gsap.timeline().to(timed, { ms: 1_000_000, duration: 1_000, ease: 'none' });
    const updates = new Set<() => void>();
    const driver = librariesDriver(canvas, updates);
    let lastMs = 0;
    const tick = () => {
      const nowMs = tweened.ms;
      if (nowMs === lastMs) return;
      deltas.push(nowMs - lastMs);
      lastMs = nowMs;
      for (const update of updates) update();
    };
    gsap.ticker.add(tick);
    getTransport().start();
    return {
      driver,
      canvas,
      deltas,
      audio: getContext().rawContext as AudioContext,
      clocks: () => ({ tween: tweened.ms, timeline: timed.ms }),
      isKeyDown: key.isDown,
      pause: () => void gsap.globalTimeline.pause(),
      resume: () => void gsap.globalTimeline.resume(),
      destroy: callOnce(() => {
        key.stop();
        gsap.ticker.remove(tick);
        gsap.globalTimeline.clear();
      }),
    };
  },
};

/** One game per recipe. */
export const recipeGames = [three, excalibur, kaplay, libraries];
