/**
 * What the sample project uses of the module `cc`, over the stand-in of the engine: the editor makes
 * nodes and components of a scene, which nothing outside it can. Frames come from the page.
 */
import type { CocosModule } from '../../../../src/cocos/cocos-module.ts';
import { createCocosEngine } from '../../../fakes/cocos-engine.ts';

const engine = createCocosEngine(document.querySelector('canvas'));
export const { Game, Director } = engine;
export const game: CocosModule['game'] = engine.game;
export const director: CocosModule['director'] = engine.director;

const scheduled: (() => void)[] = [];
/** Whether the engine updates the game now, which is when a game expects its state to change. */
export let updating = false;
engine.onUpdate = () => {
  updating = true;
  for (const callback of scheduled.splice(0)) callback();
  updating = false;
};

let last = performance.now();
const frame = (now: number): void => {
  engine.tick(now - last);
  last = now;
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);

const nodes = new Map<string, Node>();
export const find = (name: string): Node | undefined => nodes.get(name);

/** A node of a scene, with the parts of it that the sample’s scripts touch. */
export class Node {
  readonly #components: Component[] = [];
  readonly #events = new EventTarget();

  constructor(name: string) {
    nodes.set(name, this);
  }

  /** As the engine makes one of a scene: properties first, then its life begins. */
  addComponent<C extends Component>(type: new () => C, properties: Partial<C>): C {
    const component = Object.assign(new type(), properties, { node: this });
    this.#components.push(component);
    component.onLoad?.();
    component.onEnable?.();
    return component;
  }

  getComponent<C extends Component>(type: new () => C): C | undefined {
    return this.#components.find((each): each is C => each instanceof type);
  }

  on(type: string, callback: () => void, target: object): void {
    this.#events.addEventListener(type, () => callback.call(target));
  }

  emit(type: string): void {
    this.#events.dispatchEvent(new Event(type));
  }
}

export class Component {
  declare node: Node;
  readonly isValid = true;
  onLoad?(): void;
  onEnable?(): void;

  scheduleOnce(callback: () => void): void {
    scheduled.push(callback);
  }
}

export class Button extends Component {
  static readonly EventType = { CLICK: 'click' };
}

/** What the editor lets one choose; here whatever the page wants to hear. */
export class EventHandler {
  emit: () => void = () => {};
}

export const sys = { localStorage };

const decorate = (): void => {};
export const _decorator = {
  ccclass: () => decorate,
  requireComponent: () => decorate,
  property: (...given: unknown[]) => (given.length > 1 ? undefined : decorate),
};
