import { lastPressMs } from '../platform/front-door.ts';
import { attempt, copyOwn } from '../platform/guard.ts';
import { listen, native } from '../platform/native.ts';
import { closeFrame } from './closed-frame.ts';
import { startExposure, type Exposure } from './exposure.ts';
import { createHost } from './host.ts';
import { findLoadFailure } from './load-failure.ts';
import type { Renderer, RendererEvent } from './renderer.ts';

declare global {
  interface Window {
    /** Not in the DOM types yet ({@link https://w3c.github.io/trusted-types/dist/spec/ | Trusted Types}). */
    trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createHTML(markup: string): string },
      ): { createHTML(markup: string): string };
    };
  }
}

/** Maximum number of messages that one creative may send. A creative that sends more is disconnected. */
const maxMessages = 200;
/** Minimum time between two accepted clicks, in milliseconds. */
const minClickIntervalMs = 1_000;
/** How long a press counts as user activation in any browser, in milliseconds, and a little more. */
const activationMs = 5_100;

/** How long to wait for the frame, and for `ready` before checking whether the page was blocked, in milliseconds. */
const slowMs = 1_000;

let policy: { createHTML(markup: string): string } | undefined;

/**
 * Passes a sandboxed frame's markup through the `trueward` Trusted Types policy, for pages that require Trusted Types.
 * A frame with inline markup inherits the page's `script-src`, so pages with a strict CSP need a creative with its own
 * URL.
 */
function trustMarkup(markup: string): string {
  const rules = { createHTML: (text: string) => text };
  // In a browser without Trusted Types, `window.trustedTypes` could be an element with that id (DOM clobbering).
  policy ??= window.trustedTypes?.createPolicy?.('trueward', rules) ?? rules;
  return policy.createHTML(markup);
}

/**
 * Renders an HTML creative in an iframe that can run scripts but do nothing else: no access to this page, no navigation,
 * no pop-ups. The creative receives one `message` event with the data
 * `{trueward: 1, type: 'init', locale, reducedMotion}` and a `MessagePort`. It posts `{type}` messages to that port:
 * `ready`, `click` and `close`. The creative is not shown until it is `ready`; then it is shown for `minWatchMs` of
 * visible time. It receives `mute`, `viewable`, `pause` and `resume`, because only its own scripts can control its sound.
 */
export const renderHtml: Renderer = async (creative, { clock, locale, minWatchMs, signal }) => {
  const { media } = creative;
  if (media.format !== 'html') throw new Error('format_unknown');
  const { url, inline = '' } = media;
  const host = createHost();
  const frame = document.createElement('iframe');
  frame.allow = 'autoplay';
  frame.title = creative.alt;
  frame.style.setProperty('--trueward-ratio', String(media.width / media.height || 1));
  frame.style.setProperty('--trueward-width', `${media.width || 300}px`);

  let port: MessagePort | undefined;
  let exposure: Exposure | undefined;
  let listener: ((event: RendererEvent) => void) | undefined;
  let failure: 'message_flood' | 'creative_navigated' | undefined;
  /** The creative's own frame. It is in `frame`, unless the page has an opaque origin; then it is `frame` itself. */
  let inner = frame;
  let stopWatching: (() => void) | undefined;
  let connectedWindow: Window | null = null;
  let cancelOpen: (() => void) | undefined;
  let cancelCheck: (() => void) | undefined;
  let hasSound = true;
  let muted = false;
  let paused = false;
  let messageCount = 0;
  let clickedAt = -Infinity;
  let pendingClick: (() => void) | undefined;
  let ready: () => void;
  let fail: (reason: unknown) => void;
  const loaded = new Promise<void>((resolve, reject) => {
    ready = resolve;
    fail = reject;
  });

  /**
   * Reports a click only if the player has pressed something in the frame. The page receives no input from there, and a
   * press anywhere in the page also counts as user activation. Shortly after a press outside the frame, the click waits
   * until that press no longer explains the activation.
   */
  function click(): void {
    const now = clock.monotonic();
    if (pendingClick || now - clickedAt < minClickIntervalMs) return;
    const waitMs = lastPressMs() + activationMs - native.monotonic();
    if (waitMs > 0) {
      pendingClick = clock.after(waitMs, () => {
        pendingClick = undefined;
        click();
      });
      return;
    }
    // Without this API, the focus shows where the player pressed last.
    if (!(navigator.userActivation?.isActive ?? document.activeElement === frame)) return;
    clickedAt = now;
    listener?.({ type: 'clicked' });
  }

  function receive(message: unknown): void {
    messageCount += 1;
    if (messageCount > maxMessages) return end('message_flood');
    const { sound, type } = copyOwn(message);
    if (type === 'ready') {
      hasSound = sound !== false;
      ready();
      // The frame was moved within the page, which reloaded its document.
      if (listener) announce();
    } else if (type === 'click') click();
    else if (type === 'close') listener?.({ type: 'closeRequested' });
  }

  /** Disconnects the creative for good. */
  function end(reason: 'message_flood' | 'creative_navigated'): void {
    if (failure !== undefined) return;
    port?.close();
    port = undefined;
    failure = reason;
    fail(new Error(reason));
    listener?.({ type: 'failed', reason });
  }

  /** Opens the creative's page. If `frame` is moved within the page, its document is replaced, and it is empty again. */
  function open(): void {
    stopWatching?.();
    inner = document.createElement('iframe');
    prepare(inner);
    stopWatching = closeFrame(frame, inner, url, () => end('creative_navigated'));
    if (stopWatching) return;
    inner = frame;
    prepare(inner);
  }

  frame.onload = () => {
    cancelOpen?.();
    try {
      open();
    } catch (error) {
      // The page's policy forbids inline creatives.
      fail(error);
    }
  };

  function prepare(element: HTMLIFrameElement): void {
    element.setAttribute('sandbox', 'allow-scripts');
    element.allow = 'autoplay';
    element.referrerPolicy = 'no-referrer';
    // In a cross-origin isolated page, browsers without this attribute load only creatives with a
    // `Cross-Origin-Embedder-Policy` header.
    element.setAttribute('credentialless', '');
    element.title = creative.alt;
    element.onload = onLoad;
    if (url === undefined) element.srcdoc = trustMarkup(inline);
    else element.src = url;
  }

  function onLoad(): void {
    // Only the document that was reviewed may be shown. If the frame is moved within the page, the browser loads that
    // document again, in a new window.
    if (failure !== undefined) return;
    if (inner.contentWindow === connectedWindow) end('creative_navigated');
    else if (attempt(connect) === undefined) fail(new Error('no_message_channel'));
    cancelCheck ??= clock.after(slowMs, () => void checkFrame());
  }

  /** A frame also reports that it has loaded if its page is missing or blocked. */
  async function checkFrame(): Promise<void> {
    const timeline = attempt(() => frame.contentWindow?.performance);
    const code = await findLoadFailure(inner.src, 'slow', { clock, signal, timeline });
    if (code !== 'slow') fail(new Error(code));
  }

  function connect(): true {
    port?.close();
    connectedWindow = inner.contentWindow;
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = ({ data }) => receive(data);
    const reducedMotion =
      attempt(() => matchMedia('(prefers-reduced-motion: reduce)').matches) ?? false;
    // A sandboxed document has an opaque origin, so `*` is the only possible target origin.
    inner.contentWindow?.postMessage({ trueward: 1, type: 'init', locale, reducedMotion }, '*', [
      channel.port2,
    ]);
    return true;
  }

  const post = (message: object): void => port?.postMessage(message);

  /** Tells the creative that it is on the screen, and in which state. */
  function announce(): void {
    post({ type: 'mute', muted });
    post({ type: 'viewable', ratio: 1 });
    if (paused) post({ type: 'pause' });
  }

  function setPaused(value: boolean): void {
    if (paused === value) return;
    paused = value;
    if (listener) post({ type: paused ? 'pause' : 'resume' });
  }

  const reportSound = (): void => {
    if (hasSound) listener?.({ type: 'muted', muted });
  };

  function destroy(): void {
    listener = undefined;
    pendingClick?.();
    exposure?.destroy();
    stopWatching?.();
    port?.close();
    frame.onload = null;
    inner.onload = null;
    frame.remove();
    host.remove();
  }

  const abort = () => fail(signal.reason);
  const stopAbort = listen(signal, 'abort', abort);
  if (signal.aborted) abort();
  try {
    // A page can stop this event before it arrives.
    cancelOpen = clock.after(slowMs, frame.onload as () => void);
    host.append(frame);
    document.body.append(host);
    await loaded;
  } catch (error) {
    destroy();
    throw error;
  } finally {
    stopAbort();
    cancelOpen?.();
    cancelCheck?.();
    cancelCheck = () => undefined;
  }

  return {
    element: frame,
    durationMs: minWatchMs,
    start(onEvent) {
      listener = onEvent;
      passMouseThrough(frame);
      exposure = startExposure(clock, minWatchMs, onEvent);
      reportSound();
      announce();
      if (failure !== undefined) onEvent({ type: 'failed', reason: failure });
    },
    pause() {
      exposure?.pause();
      setPaused(true);
    },
    resume() {
      exposure?.resume();
      setPaused(false);
    },
    setMuted(value) {
      muted = value;
      if (listener) post({ type: 'mute', muted });
      reportSound();
    },
    destroy,
  };
};

/** A property that the overlay's styles read, because they reset all others. */
const pointerProperty = '--trueward-pointer';

/**
 * If a mouse button is down when the ad opens, the game must receive the release event. A frame would consume that
 * event, so the frame ignores the mouse until the button is released.
 */
function passMouseThrough(frame: HTMLElement): void {
  frame.onlostpointercapture = () => frame.style.removeProperty(pointerProperty);
  // A browser may reserve either id for the mouse: https://w3c.github.io/pointerevents/#dom-pointerevent-pointerid
  for (const id of [0, 1]) {
    try {
      // Capturing has no effect unless a button is down.
      frame.setPointerCapture(id);
      if (frame.hasPointerCapture(id)) frame.style.setProperty(pointerProperty, 'none');
    } catch {
      // No pointer has this id.
    }
  }
}
