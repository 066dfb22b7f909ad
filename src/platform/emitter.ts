import { EventEmitter } from 'eventemitter3';
import { reportUncaught } from './guard.ts';

type Handler = (...details: never[]) => unknown;

/** Event handlers, by event name. */
export interface Emitter<Events extends Record<keyof Events, Handler>> {
  /** Calls every handler. Errors in handlers are reported as uncaught errors. */
  emit<Name extends keyof Events & string>(name: Name, ...details: Parameters<Events[Name]>): void;
  /** Calls every handler. Resolves when all handlers have finished. Rejects if a handler fails. */
  call<Name extends keyof Events & string>(
    name: Name,
    ...details: Parameters<Events[Name]>
  ): Promise<unknown>;
  /** Adds a handler. Returns a function that removes it. */
  on(name: keyof Events & string, handler: Handler, context?: unknown): () => void;
  /** Like `on`, but for the next event only. */
  once(name: keyof Events & string, handler: Handler, context?: unknown): () => void;
  /**
   * Removes a handler. With `context`, removes it only if it was added with that context. Without a handler, removes
   * all handlers for the event.
   */
  off(name: keyof Events & string, handler?: Handler, context?: unknown): void;
  hasListeners(name: keyof Events & string): boolean;
}

/** The listener registered with eventemitter3. It calls a handler and adds the handler's promise to `calls`. */
type GuardedListener = (this: unknown, calls: Promise<unknown>[], details: never[]) => void;

/**
 * Creates an {@link Emitter}. Unlike in eventemitter3, a handler that throws does not prevent the remaining handlers
 * from being called.
 */
export function createEmitter<Events extends Record<keyof Events, Handler>>(): Emitter<Events> {
  const emitter = new EventEmitter<string>();
  /** Maps each handler to its listener, so that `off()` can find the listener. */
  const listenersByHandler = new WeakMap<Handler, GuardedListener>();

  function guard(handler: Handler): GuardedListener {
    // eventemitter3 throws a TypeError for anything other than a function.
    if (typeof handler !== 'function') return handler;
    const existingListener = listenersByHandler.get(handler);
    if (existingListener) return existingListener;
    const listener: GuardedListener = function (calls, details) {
      const call = async (): Promise<unknown> => Reflect.apply(handler, this, details);
      calls.push(call());
    };
    listenersByHandler.set(handler, listener);
    return listener;
  }

  function add(
    method: 'on' | 'once',
    name: string,
    handler: Handler,
    // The default context is unique, so that the returned function removes only the handler added by this call.
    context: unknown = {},
  ): () => void {
    const listener = guard(handler);
    emitter[method](name, listener, context);
    return () => emitter.off(name, listener, context);
  }

  function callAll(name: string, details: never[]): Promise<unknown>[] {
    const calls: Promise<unknown>[] = [];
    emitter.emit(name, calls, details);
    return calls;
  }

  return {
    emit(name, ...details) {
      for (const call of callAll(name, details)) call.catch(reportUncaught);
    },
    call: (name, ...details) => Promise.all(callAll(name, details)),
    on: (name, handler, context) => add('on', name, handler, context),
    once: (name, handler, context) => add('once', name, handler, context),
    off: (name, handler, context) => void emitter.off(name, handler && guard(handler), context),
    hasListeners: (name) => emitter.listenerCount(name) > 0,
  };
}
