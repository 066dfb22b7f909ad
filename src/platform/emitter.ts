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

/** A handler, as it was added. */
interface Listener {
  name: string;
  handler: Handler;
  context: unknown;
  once: boolean;
}

/** Creates an {@link Emitter}. A handler that throws does not prevent the remaining handlers from being called. */
export function createEmitter<Events extends Record<keyof Events, Handler>>(): Emitter<Events> {
  let listeners: Listener[] = [];
  const find = (name: string): Listener[] => listeners.filter((listener) => listener.name === name);
  const removeIf = (isRemoved: (listener: Listener) => boolean): void => {
    listeners = listeners.filter((listener) => !isRemoved(listener));
  };

  const add =
    (once: boolean) =>
    (name: string, handler: Handler, context?: unknown): (() => void) => {
      if (typeof handler !== 'function')
        throw new TypeError(`The handler must be a function; got ${typeof handler}.`);
      const listener = { name, handler, context, once };
      listeners = listeners.concat(listener);
      return () => removeIf((other) => other === listener);
    };

  const callAll = (name: string, details: never[]): Promise<unknown>[] =>
    find(name).map(async (listener) => {
      if (listener.once) removeIf((other) => other === listener);
      return Reflect.apply(listener.handler, listener.context, details);
    });

  return {
    emit(name, ...details) {
      for (const call of callAll(name, details)) call.catch(reportUncaught);
    },
    call: (name, ...details) => Promise.all(callAll(name, details)),
    on: add(false),
    once: add(true),
    off(name, handler, context) {
      removeIf(
        (listener) =>
          listener.name === name &&
          (handler === undefined || listener.handler === handler) &&
          (context === undefined || listener.context === context),
      );
    },
    hasListeners: (name) => find(name).length > 0,
  };
}
