/**
 * The browser functions that the SDK depends on, as they were when the SDK was loaded. Some games pause by replacing
 * these globals with functions that do nothing. Their ads must still end.
 *
 * `AbortController` is replaced by old polyfills, whose signals nobody else accepts. `Date` is the constructor; `now` is
 * its `Date.now`, which a game may replace separately. `isHidden` is the getter of `document.hidden`, which games replace
 * to run in the background, or to make their engine pause.
 */
export const native = {
  setTimeout: bindGlobal('setTimeout'),
  clearTimeout: bindGlobal('clearTimeout'),
  setInterval: bindGlobal('setInterval'),
  clearInterval: bindGlobal('clearInterval'),
  requestAnimationFrame: bindGlobal('requestAnimationFrame'),
  cancelAnimationFrame: bindGlobal('cancelAnimationFrame'),
  queueMicrotask: bindGlobal('queueMicrotask'),
  fetch: bindGlobal('fetch'),
  AbortController: globalThis.AbortController,
  Date: globalThis.Date,
  now: globalThis.Date.now,
  monotonic: globalThis.performance?.now.bind(globalThis.performance),
  addEventListener: EventTarget.prototype.addEventListener,
  removeEventListener: EventTarget.prototype.removeEventListener,
  isHidden: findGetter('hidden') as () => boolean,
  ...findMedia(),
};

type GlobalName =
  | `${'set' | 'clear'}${'Timeout' | 'Interval'}`
  | `${'request' | 'cancel'}AnimationFrame`
  | 'queueMicrotask'
  | 'fetch';

/** Outside a browser, some of these functions don't exist. Code that may run there calls them through `attempt()`. */
function bindGlobal<Name extends GlobalName>(name: Name): (typeof globalThis)[Name] {
  const bound: unknown = (globalThis[name] as (() => void) | undefined)?.bind(globalThis);
  return bound as (typeof globalThis)[Name];
}

/** Returns how media is started and paused. A game that holds its own media may hold all media. */
function findMedia(): Pick<HTMLMediaElement, 'play' | 'pause'> {
  const { pause, play } =
    (globalThis.HTMLMediaElement as typeof HTMLMediaElement | undefined)?.prototype ?? {};
  return { pause, play } as HTMLMediaElement;
}

/** Adds an event listener with the browser's own `addEventListener`. Returns a function that removes it. */
export function listen<E extends Event = Event>(
  target: EventTarget,
  type: string,
  listener: (event: E) => void,
  options?: AddEventListenerOptions,
): () => void {
  // Without a prototype, so that properties that the page has added to every object are not taken for options.
  const ownOptions: unknown = Object.assign(Object.create(null), options);
  Reflect.apply(native.addEventListener, target, [type, listener, ownOptions]);
  return () => Reflect.apply(native.removeEventListener, target, [type, listener, ownOptions]);
}

/**
 * Returns the `<script>` that is running. A page element with the name `currentScript` hides the property of the same
 * name on `document`, but not the getter on its prototype.
 */
export function findCurrentScript(): Element | null {
  return (findGetter('currentScript')() as Element | null | undefined) ?? null;
}

/** Returns the browser's own getter of a property of `document`. */
function findGetter(name: string): () => unknown {
  const { Document, document } = globalThis as Partial<typeof globalThis>;
  const property = Document && Object.getOwnPropertyDescriptor(Document.prototype, name);
  return () => property?.get?.call(document);
}
