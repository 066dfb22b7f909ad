/**
 * The engines' own declarations are left out: together, they would double the time of every type check. The tests run
 * the engines, and `test/package/engine-types.test.ts` compiles the drivers with the engines' types.
 */
declare module '@babylonjs/core/*';
declare module '@pixi/sound';
declare module 'excalibur';
declare module 'gsap';
declare module 'howler';
declare module 'kaplay';
declare module 'littlejsengine';
declare module 'melonjs';
declare module 'pixi.js';
declare module 'playcanvas';
declare module 'three';
declare module 'tone';
