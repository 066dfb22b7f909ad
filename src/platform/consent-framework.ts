import { attempt } from './guard.ts';

type Callback = (data: unknown, success?: unknown) => void;
type Call = (command: string, callback: Callback, listenerId?: number) => void;

declare global {
  interface Window {
    /** {@link https://github.com/InteractiveAdvertisingBureau/GDPR-Transparency-and-Consent-Framework | IAB TCF} */
    __tcfapi?: (command: string, version: number, callback: Callback, id?: number) => void;
    /** {@link https://github.com/InteractiveAdvertisingBureau/Global-Privacy-Platform | IAB GPP} */
    __gpp?: (command: string, callback: Callback, id?: number, version?: string) => void;
  }
}

/** A consent framework that may not have loaded yet. */
export interface ConsentFramework {
  /** Searches for the framework and subscribes to it; returns whether it was found. */
  look(): boolean;
  stop(): void;
}

const versions = { __tcfapi: 2, __gpp: '1.1' };

/**
 * Makes a {@link ConsentFramework}. It is called in this window, or else, as both standards have it, by messages to
 * the nearest window around this one that has a frame with the name of its locator. One that says that it failed is
 * looked for again.
 */
export function consentFramework(
  name: keyof typeof versions,
  hear: (data: object) => void,
): ConsentFramework {
  let listening: AbortController | undefined;

  function look(): boolean {
    if (listening) return true;
    const mine = new AbortController();
    const call = inThisWindow(name) ?? aroundThisWindow(name, mine.signal);
    if (!call) return false;
    listening = mine;
    const stop = (): void => {
      mine.abort();
      if (listening === mine) listening = undefined;
    };
    const heard: Callback = (data, success) => {
      if (mine.signal.aborted) return;
      if (success === false || typeof data !== 'object' || data === null) return stop();
      const { listenerId } = data as { listenerId?: number };
      if (listenerId !== undefined && remove === undefined) {
        remove = () => attempt(() => call('removeEventListener', () => undefined, listenerId));
        mine.signal.addEventListener('abort', remove);
      }
      hear(data);
    };
    let remove: (() => void) | undefined;
    try {
      call('addEventListener', heard);
    } catch {
      stop();
    }
    return true;
  }

  return { look, stop: () => listening?.abort() };
}

function inThisWindow(name: keyof typeof versions): Call | undefined {
  // An element with this id is no framework.
  if (typeof window[name] !== 'function') return undefined;
  if (name === '__gpp')
    return (command, callback, id) => window.__gpp?.(command, callback, id, versions.__gpp);
  return (command, callback, id) => window.__tcfapi?.(command, versions.__tcfapi, callback, id);
}

function aroundThisWindow(name: keyof typeof versions, signal: AbortSignal): Call | undefined {
  const target = locate(`${name}Locator`);
  if (!target) return undefined;
  const callbacks = new Map<string, Callback>();
  const hear = ({ data, source }: MessageEvent<unknown>): void => {
    if (source !== target) return;
    const message = attempt(() => (typeof data === 'string' ? JSON.parse(data) : data) as unknown);
    const answer = (message as Record<string, unknown> | null | undefined)?.[`${name}Return`] as
      { callId?: string; returnValue?: unknown; success?: unknown } | null | undefined;
    callbacks.get(answer?.callId ?? '')?.(answer?.returnValue, answer?.success);
  };
  window.addEventListener('message', hear, { signal });
  return (command, callback, parameter) => {
    const callId = `trueward-${command}-${Math.random()}`;
    callbacks.set(callId, callback);
    const message = { command, version: versions[name], callId, parameter };
    // The origin of the page around this one is unknown, and the message says nothing of the player.
    target.postMessage({ [`${name}Call`]: message }, '*');
  };
}

/** The nearest window around this one with a frame of that name; the name can be seen from another origin, too. */
function locate(locator: string): Window | undefined {
  let frame: Window = window;
  while (frame !== frame.parent) {
    frame = frame.parent;
    if (attempt(() => (frame.frames as unknown as Record<string, unknown>)[locator])) return frame;
  }
  return undefined;
}
