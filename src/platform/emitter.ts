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

/** A handler that was added. The same handler may be added several times. */
interface Listener {
  handler: Handler;
  context: unknown;
  once: boolean;
}

/**
 * Creates an {@link Emitter}. A handler that throws does not prevent the remaining handlers from being called. Handlers
 * that are added or removed during an event receive, or miss, only later events.
 */
export function createEmitter<Events extends Record<keyof Events, Handler>>(): Emitter<Events> {
  const lists = new Map<string, Listener[]>();
  const get = (name: string): Listener[] => lists.get(name) ?? [];
  const remove = (name: string, isRemoved: (listener: Listener) => boolean): void =>
    void lists.set(
      name,
      get(name).filter((listener) => !isRemoved(listener)),
    );

  const adder =
    (once: boolean): Emitter<Events>['on'] =>
    (name, handler, context) => {
      if (typeof handler !== 'function')
        throw new TypeError(`trueward: the listener must be a function; got ${typeof handler}.`);
      const listener: Listener = { handler, context, once };
      lists.set(name, get(name).concat(listener));
      return () => remove(name, (other) => other === listener);
    };

  const callAll = (name: string, details: never[]): Promise<unknown>[] =>
    get(name).map(async (listener) => {
      const { context, handler, once } = listener;
      if (once) {
        // Another handler may have emitted the event again.
        if (!get(name).includes(listener)) return undefined;
        remove(name, (other) => other === listener);
      }
      return Reflect.apply(handler, context, details);
    });

  return {
    emit(name, ...details) {
      for (const call of callAll(name, details)) call.catch(reportUncaught);
    },
    call: (name, ...details) => Promise.all(callAll(name, details)),
    on: adder(false),
    once: adder(true),
    off: (name, handler, context) =>
      remove(
        name,
        (listener) =>
          !handler || (listener.handler === handler && (!context || listener.context === context)),
      ),
    hasListeners: (name) => get(name).length > 0,
  };
}
