/**
 * Holds a game made with Construct 3. Its runtime has no function for this, and may run in a worker, but it suspends
 * itself when the page is hidden. So for Construct, and only for it, the page says that it is hidden during the ad. The
 * SDK asks the browser instead (`native.isHidden`). `document.hidden` differs only while the event is dispatched.
 */
export function holdConstruct(): () => void {
  if (!Object.hasOwn(globalThis, 'c3_runtimeInterface')) return () => {};
  const restoreState = override('visibilityState', 'hidden');
  dispatch(true);
  return () => {
    restoreState();
    // If the page is really hidden, the runtime stays suspended: it reads the state, or counts what it is told.
    dispatch(false);
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
