import type { AdsListeners } from '../ads.ts';

type EventName = keyof AdsListeners;
type Handler = AdsListeners[EventName];

/** `on`, `once` and `off` as Phaser's own emitters have them: with a context, and by the function. */
export interface Listeners {
  on<Name extends EventName>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void;
  once<Name extends EventName>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void;
  /** Without a handler, all of this event; without a context, the handler with whichever it has. */
  off<Name extends EventName>(event: Name, handler?: AdsListeners[Name], context?: unknown): void;
}

/** Makes them from a call that listens and returns what ends it. */
export function createListeners(
  listen: (event: EventName, handler: Handler) => () => void,
): Listeners {
  const all = new Set<{ event: EventName; handler: Handler; context: unknown; stop: () => void }>();

  function add(event: EventName, handler: Handler, context: unknown, isOnce: boolean): () => void {
    const entry = { event, handler, context, stop: remove };
    // A handler of rewards is waited for: what it returns has to be handed on.
    const called = (...values: never[]): unknown => {
      if (isOnce) remove();
      return Reflect.apply(handler, context, values);
    };
    const stop = listen(event, called as Handler);
    function remove(): void {
      all.delete(entry);
      stop();
    }
    all.add(entry);
    return remove;
  }

  return {
    on: (event, handler, context) => add(event, handler, context, false),
    once: (event, handler, context) => add(event, handler, context, true),
    off(event, handler, context) {
      for (const entry of all) {
        const same = handler === undefined || entry.handler === handler;
        const there = context === undefined || entry.context === context;
        if (entry.event === event && same && there) entry.stop();
      }
    },
  };
}
