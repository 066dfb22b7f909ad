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
