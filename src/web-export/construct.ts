import { listen } from '../platform/native.ts';

/**
 * Holds a game made with Construct 3. Its runtime has no function for this, and may run in a worker, but it suspends
 * itself when the page is hidden. So for Construct, and only for it, the page is hidden during the ad: the SDK reads
 * `document.hidden`, which differs only while the event is dispatched.
 */
export function holdConstruct(): () => void {
  if (!Object.hasOwn(globalThis, 'c3_runtimeInterface')) return () => {};
  const restoreState = override('visibilityState', 'hidden');
  dispatch(true);
  const show = (): void => {
    restoreState();
    dispatch(false);
  };
  return () => {
    if (!document.hidden) return show();
    // Sounds must not start on a hidden page.
    const stop = listen(document, 'visibilitychange', () => {
      if (document.hidden) return;
      stop();
      show();
    });
  };
}

function dispatch(hidden: boolean): void {
  const restore = override('hidden', hidden);
  document.dispatchEvent(new Event('visibilitychange'));
  restore();
}

/** Sets a property of the document. The returned function restores it. */
function override(name: 'hidden' | 'visibilityState', value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(document, name);
  Reflect.defineProperty(document, name, { configurable: true, value });
  return () => {
    if (own) Reflect.defineProperty(document, name, own);
    else Reflect.deleteProperty(document, name);
  };
}
