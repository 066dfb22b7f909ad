import { attempt } from './guard.ts';
import { onVisibilityChange } from './front-door.ts';
import { listen, native } from './native.ts';

/**
 * A change in the page's lifecycle.
 *
 * - `visible`, `hidden`: the player switched to the page, or away from it.
 * - `leaving`: the page is being unloaded or enters the back/forward cache. It may never run again.
 * - `frozen`: the browser is suspending the page and may discard it without another event.
 * - `returned`: the page runs again after `leaving` or `frozen`.
 */
export type PageTransition = 'visible' | 'hidden' | 'leaving' | 'frozen' | 'returned';

/** The page's lifecycle. */
export interface PageLifecycle {
  isVisible(): boolean;
  /** Subscribes to every {@link PageTransition}. Returns a function that unsubscribes. */
  onTransition(listener: (transition: PageTransition) => void): () => void;
}

/** This page's lifecycle, as reported by browser events. */
export const browserPageLifecycle: PageLifecycle = {
  isVisible: () => !native.isHidden(),
  onTransition(listener) {
    const on = (target: EventTarget, event: string, transition: PageTransition) =>
      listen(target, event, () => listener(transition));
    const stops = [
      onVisibilityChange(() => listener(native.isHidden() ? 'hidden' : 'visible')),
      on(document, 'freeze', 'frozen'),
      on(document, 'resume', 'returned'),
      on(window, 'pagehide', 'leaving'),
      // The first `pageshow` is the page load, not a return from the back/forward cache.
      listen(window, 'pageshow', ({ persisted }: PageTransitionEvent) => {
        if (persisted) listener('returned');
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  },
};

/**
 * The network state reported by the browser. When the network comes back, a retry may succeed. Requests are attempted
 * even if the browser reports that it is offline.
 */
export interface Connectivity {
  /** False only if the browser is certain that it is offline. */
  isOnline(): boolean;
  /** Calls `listener` when the network is available again. Returns a function that unsubscribes. */
  onOnline(listener: () => void): () => void;
}

/** Connectivity, as this browser reports it. */
export const browserConnectivity: Connectivity = {
  isOnline: () => navigator.onLine !== false,
  onOnline(listener) {
    return listen(window, 'online', listener);
  },
};

/** Calls `listener` when the network connection is lost. Returns a function that unsubscribes. */
export function onOffline(listener: () => void): () => void {
  return listen(window, 'offline', listener);
}

/** A channel between tabs with the same origin. A tab does not receive its own messages. */
export interface TabChannel<Message> {
  send(message: Message): void;
  /**
   * Subscribes until `close()`. Any field of a message may be missing, because another release may have sent the
   * message.
   */
  onMessage(listener: (message: Partial<Message>) => void): void;
  close(): void;
}

/** Opens the channel with this name. */
export type OpenTabChannel = <Message>(name: string) => TabChannel<Message>;

/**
 * Opens a BroadcastChannel. If that is not possible (Firefox with cookies blocked), tabs receive no messages. They see
 * each other's changes when they next read the shared databases.
 */
export const browserTabChannel: OpenTabChannel = <Message>(name: string) => {
  const channel = attempt(() => new BroadcastChannel(name));
  return {
    send: (message: Message) => attempt(() => channel?.postMessage(message)),
    onMessage(listener: (message: Partial<Message>) => void) {
      if (!channel) return;
      listen(channel, 'message', ({ data }: MessageEvent<Partial<Message> | null>) => {
        if (data !== null) listener(data);
      });
    },
    close: () => channel?.close(),
  };
};
