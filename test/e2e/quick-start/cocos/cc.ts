/**
 * Implements the parts of the `cc` module that the sample project uses, on top of the fake engine. The page creates the
 * scene's nodes and components, because there is no Cocos Creator editor to do so. The page's animation frames drive
 * the engine.
 */
import type { CocosModule } from '../../../../src/cocos/cocos-module.ts';
import { createCocosEngine } from '../../../fakes/cocos-engine.ts';

const engine = createCocosEngine(document.querySelector('canvas'));
export const { Game, Director } = engine;
export const game: CocosModule['game'] = engine.game;
export const director: CocosModule['director'] = engine.director;

const scheduledCallbacks: (() => void)[] = [];
/** Whether the engine is running an update. A game expects its state to change only during an update. */
export let isUpdating = false;
engine.onUpdate = () => {
  isUpdating = true;
  for (const callback of scheduledCallbacks.splice(0)) callback();
  isUpdating = false;
};

let lastFrameAtMs = performance.now();
const runFrame = (nowMs: number): void => {
  engine.tick(nowMs - lastFrameAtMs);
  lastFrameAtMs = nowMs;
  requestAnimationFrame(runFrame);
};
requestAnimationFrame(runFrame);

const nodes = new Map<string, Node>();
export const find = (name: string): Node | undefined => nodes.get(name);

/** A scene node with the members that the sample's scripts use. */
export class Node {
  readonly #components: Component[] = [];
  readonly #events = new EventTarget();

  constructor(name: string) {
    nodes.set(name, this);
  }

  /** Sets the properties and then calls the lifecycle methods, as the engine does when it loads a scene. */
  addComponent<C extends Component>(type: new () => C, properties: Partial<C>): C {
    const component = Object.assign(new type(), properties, { node: this });
    this.#components.push(component);
    component.onLoad?.();
    component.onEnable?.();
    return component;
  }

  getComponent<C extends Component>(type: new () => C): C | undefined {
    return this.#components.find((component): component is C => component instanceof type);
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

  /** Returns another component of the same node. */
  getComponent<C extends Component>(type: new () => C): C | undefined {
    return this.node.getComponent(type);
  }

  scheduleOnce(callback: () => void): void {
    scheduledCallbacks.push(callback);
  }
}

export class Button extends Component {
  static readonly EventType = { CLICK: 'click' };
  interactable = true;
}

/** In a real project, handlers are set in the editor. Here, the page sets `emit`. */
export class EventHandler {
  emit: () => void = () => {};
}

export const sys = { localStorage };

const decorate = (): void => {};
export const _decorator = {
  ccclass: () => decorate,
  requireComponent: () => decorate,
  property: (...values: unknown[]) => (values.length > 1 ? undefined : decorate),
};
