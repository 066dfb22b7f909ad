import { EventEmitter } from 'eventemitter3';
import { surface } from './guard.ts';

type Handler = (...details: never[]) => unknown;

/** Handlers by the name of the event that they listen to. */
export interface Emitter<Events extends Record<keyof Events, Handler>> {
  /** Calls every handler; an error of one is reported as an uncaught error. */
  emit<Name extends keyof Events & string>(name: Name, ...details: Parameters<Events[Name]>): void;
  /** Calls every handler; resolves when all of them have finished, rejects when one failed. */
  call<Name extends keyof Events & string>(
    name: Name,
    ...details: Parameters<Events[Name]>
  ): Promise<unknown>;
  /** The function that it returns removes the handler. */
  on(name: keyof Events & string, handler: Handler, context?: unknown): () => void;
  /** Like `on`, but only for the next event. */
  once(name: keyof Events & string, handler: Handler, context?: unknown): () => void;
  /**
   * Removes a handler, whatever its context unless one is given; without a handler, removes all handlers of the
   * event.
   */
  off(name: keyof Events & string, handler?: Handler, context?: unknown): void;
  hasListeners(name: keyof Events & string): boolean;
}

/** What eventemitter3 calls: it starts a handler and adds the promise of its end to `calls`. */
type Guarded = (this: unknown, calls: Promise<unknown>[], details: never[]) => void;

/** Creates an {@link Emitter}: eventemitter3, but a handler that throws does not keep the next from being called. */
export function createEmitter<Events extends Record<keyof Events, Handler>>(): Emitter<Events> {
  const emitter = new EventEmitter<string>();
  /** One for each handler, by which `off()` finds it. */
  const allGuarded = new WeakMap<Handler, Guarded>();

  function guard(handler: Handler): Guarded {
    // eventemitter3 refuses it.
    if (typeof handler !== 'function') return handler;
    const known = allGuarded.get(handler);
    if (known) return known;
    const guarded: Guarded = function (calls, details) {
      const call = async (): Promise<unknown> => Reflect.apply(handler, this, details);
      calls.push(call());
    };
    allGuarded.set(handler, guarded);
    return guarded;
  }

  function add(
    method: 'on' | 'once',
    name: string,
    handler: Handler,
    // One of its own, so that the function below removes this registration and no other.
    context: unknown = {},
  ): () => void {
    const guarded = guard(handler);
    emitter[method](name, guarded, context);
    return () => emitter.off(name, guarded, context);
  }

  function start(name: string, details: never[]): Promise<unknown>[] {
    const calls: Promise<unknown>[] = [];
    emitter.emit(name, calls, details);
    return calls;
  }

  return {
    emit(name, ...details) {
      for (const call of start(name, details)) call.catch(surface);
    },
    call: (name, ...details) => Promise.all(start(name, details)),
    on: (name, handler, context) => add('on', name, handler, context),
    once: (name, handler, context) => add('once', name, handler, context),
    off: (name, handler, context) => void emitter.off(name, handler && guard(handler), context),
    hasListeners: (name) => emitter.listenerCount(name) > 0,
  };
}
