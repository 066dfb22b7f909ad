/**
 * Implements the parts of the module `cc` that the sample project uses, with the fake engine. Without Cocos Creator's
 * editor, nothing else creates the nodes and components of a scene. Frames come from the page.
 */
import type { CocosModule } from '../../../../src/cocos/cocos-module.ts';
import { createCocosEngine } from '../../../fakes/cocos-engine.ts';

const engine = createCocosEngine(document.querySelector('canvas'));
export const { Game, Director } = engine;
export const game: CocosModule['game'] = engine.game;
export const director: CocosModule['director'] = engine.director;

const scheduled: (() => void)[] = [];
/** Whether the engine is running an update. A game expects that its state changes only during an update. */
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

  scheduleOnce(callback: () => void): void {
    scheduled.push(callback);
  }
}

export class Button extends Component {
  static readonly EventType = { CLICK: 'click' };
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
