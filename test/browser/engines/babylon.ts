import { babylonDriver } from '../../../src/babylon/index.ts';
import { addCanvas, callOnce, type Engine, followKey } from './exact-game.ts';

export const babylon: Engine = {
  name: 'Babylon.js',
  async start() {
    const [{ Engine: BabylonEngine }, { Scene }, { FreeCamera }, { Vector3 }, { TransformNode }] =
      await Promise.all([
        import('@babylonjs/core/Engines/engine.js'),
        import('@babylonjs/core/scene.js'),
        import('@babylonjs/core/Cameras/freeCamera.js'),
        import('@babylonjs/core/Maths/math.vector.js'),
        import('@babylonjs/core/Meshes/transformNode.js'),
      ]);
    const { Animation } = await import('@babylonjs/core/Animations/animation.js');
    await import('@babylonjs/core/Animations/animatable.js');
    const { CreateAudioEngineAsync } =
      await import('@babylonjs/core/AudioV2/webAudio/webAudioEngine.js');
    const canvas = addCanvas();
    const engine = new BabylonEngine(canvas, false);
    const scene = new Scene(engine);
    scene.activeCamera = new FreeCamera('camera', Vector3.Zero(), scene);
    const audioContext = new AudioContext();
    // With `resumeOnPause`, Babylon.js has a timer that outlives its disposal.
    const audio = await CreateAudioEngineAsync({ audioContext, resumeOnPause: false });
    const node = new TransformNode('node', scene);
    // One unit per millisecond, for longer than any test.
    const animation = new Animation('move', 'position.x', 60, Animation.ANIMATIONTYPE_FLOAT);
    animation.setKeys([
      { frame: 0, value: 0 },
      { frame: 60_000, value: 1_000_000 },
    ]);
    scene.beginDirectAnimation(node, [animation], 0, 60_000, false);
    const key = followKey();
    const deltas: number[] = [];
    let stepped = 0;
    // The time that physics advances by.
    scene.onBeforeRenderObservable.add(() => {
      deltas.push(engine.getDeltaTime());
      stepped += engine.getDeltaTime();
    });
    const render = () => scene.render();
    engine.runRenderLoop(render);
    return {
      driver: babylonDriver(engine, { audio: () => audioContext }),
      canvas,
      deltas,
      audio: audioContext,
      clocks: () => ({ stepped, animation: node.position.x }),
      isKeyDown: key.isDown,
      pause: () => engine.stopRenderLoop(),
      resume: () => engine.runRenderLoop(render),
      destroy: callOnce(() => {
        key.stop();
        audio.dispose();
        engine.dispose();
      }),
    };
  },
};
