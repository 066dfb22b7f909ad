/**
 * A moment in the life of the page.
 *
 * - `visible`, `hidden`: the player came to it, or went elsewhere.
 * - `leaving`: it is being unloaded or put into the back/forward cache; it may never run again.
 * - `frozen`: the browser stops it; it may be killed without another word.
 * - `returned`: it runs again after `leaving` or `frozen`.
 */
export type PageMoment = 'visible' | 'hidden' | 'leaving' | 'frozen' | 'returned';

/** The life of the page, as a port. */
export interface PageLifecycle {
  isVisible(): boolean;
  /** Tells every moment. The function that it returns ends this. */
  onMoment(listener: (moment: PageMoment) => void): () => void;
}

/** The life of this page, by the browser's own events. */
export const browserPageLifecycle: PageLifecycle = {
  isVisible: () => document.visibilityState === 'visible',
  onMoment(listener) {
    const ended = new AbortController();
    const on = (target: EventTarget, event: string, moment: (event: Event) => PageMoment | null) =>
      target.addEventListener(
        event,
        (happened) => {
          const now = moment(happened);
          if (now !== null) listener(now);
        },
        { signal: ended.signal },
      );
    on(document, 'visibilitychange', () =>
      document.visibilityState === 'visible' ? 'visible' : 'hidden',
    );
    on(document, 'freeze', () => 'frozen');
    on(document, 'resume', () => 'returned');
    on(window, 'pagehide', () => 'leaving');
    // The first `pageshow` of a page is its beginning, not a return.
    on(window, 'pageshow', (event) =>
      (event as PageTransitionEvent).persisted ? 'returned' : null,
    );
    return () => ended.abort();
  },
};

/** What the browser believes about the network: a hint to try now, never a reason not to try. */
export interface Connectivity {
  /** False only when the browser is sure that there is no network. */
  isOnline(): boolean;
  /** Calls back when a network came back. The function that it returns ends this. */
  onOnline(listener: () => void): () => void;
}

/** The browser's own hints. */
export const browserConnectivity: Connectivity = {
  isOnline: () => navigator.onLine !== false,
  onOnline(listener) {
    addEventListener('online', listener);
    return () => removeEventListener('online', listener);
  },
};

/** Calls back when the network is lost. Returns a function that stops this. */
export function onOffline(listener: () => void): () => void {
  addEventListener('offline', listener);
  return () => removeEventListener('offline', listener);
}
