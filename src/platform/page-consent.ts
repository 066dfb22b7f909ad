import type { Clock } from './clock.ts';
import { attempt } from './guard.ts';
import { listen, native } from './native.ts';
import type { PageLifecycle } from './page.ts';

/** The player’s choice, from the page’s consent dialog or a browser setting. */
export interface PageConsent {
  status: 'granted' | 'denied' | 'unknown';
  tcfString?: string;
  gppString?: string;
}

interface TcfData {
  eventStatus?: string;
  gdprApplies?: boolean;
  tcString?: unknown;
  purpose?: { consents?: Record<string, boolean> | null } | null;
}

interface GppData {
  pingData?: {
    signalStatus?: string;
    gppString?: unknown;
    parsedSections?: Record<string, unknown> | null;
  } | null;
}

declare global {
  interface Navigator {
    /** {@link https://www.w3.org/TR/gpc/ | Global Privacy Control} */
    globalPrivacyControl?: boolean;
  }
}

/** Delay before the second search for a framework, in milliseconds. Each later delay is 1.5 times the previous one. */
const initialDelayMs = 250;
const maxDelayMs = 60_000;
/** How long to wait for GPP if TCF reports that the GDPR does not apply, in milliseconds. */
const gppTimeoutMs = 2_000;
/** How long to wait for a framework, in milliseconds. After that, only Global Privacy Control is considered. */
const frameworkTimeoutMs = 5_000;

/**
 * Monitors the consent frameworks (IAB TCF and GPP) in this window and its ancestors. Reports the player’s choice once
 * it is known and after every change. Reports nothing while a consent dialog is open, or if there is neither a
 * framework nor Global Privacy Control. Searches for frameworks at increasing intervals until one responds, and
 * whenever the player returns to the page.
 */
export function followPageConsent(
  clock: Clock,
  report: (consent: PageConsent) => void,
  { onTransition }: Pick<PageLifecycle, 'onTransition'>,
): () => void {
  let tcf: FrameworkChoice | undefined;
  let gpp: FrameworkChoice | undefined;
  let reportedText: string | undefined;
  let delayMs = initialDelayMs;
  let cancelSearch: (() => void) | undefined;
  let cancelWait: (() => void) | undefined;

  const tcfFramework = consentFramework('__tcfapi', (data) => {
    tcf = readTcfChoice(data) ?? tcf;
    reportIfDecided();
  });
  const gppFramework = consentFramework('__gpp', (data) => {
    gpp = readGppChoice(data) ?? gpp;
    reportIfDecided();
  });

  function reportIfDecided(isLate = false): void {
    const status = decideStatus(isLate);
    if (status === undefined) return;
    const consent = {
      status,
      ...(tcf?.text && { tcfString: tcf.text }),
      ...(gpp?.text && { gppString: gpp.text }),
    };
    const text = JSON.stringify(consent);
    if (text === reportedText) return;
    reportedText = text;
    report(consent);
  }

  function decideStatus(isLate: boolean): PageConsent['status'] | undefined {
    // Consent for this site takes precedence over a browser-wide setting, because it is more specific.
    if (tcf?.decides) return tcf.status;
    if (gpp?.decides) return gpp.status;
    if (!tcf && !gpp && !isLate) return undefined;
    if (navigator.globalPrivacyControl === true) return 'denied';
    if (gpp || isLate) return tcf?.status ?? gpp?.status;
    // GPP may later report an opt-out under a US state law.
    if (!gppFramework.search()) return tcf?.status;
    cancelWait ??= clock.after(gppTimeoutMs, () => reportIfDecided(true));
    return undefined;
  }

  function search(): void {
    cancelSearch?.();
    const searchResults = [tcfFramework.search(), gppFramework.search()];
    if (tcf || gpp || !searchResults.includes(false)) return;
    cancelSearch = clock.after(delayMs, search);
    delayMs = Math.min(delayMs * 1.5, maxDelayMs);
  }

  search();
  const cancelTimeout = clock.after(frameworkTimeoutMs, () => {
    if (!tcfFramework.search() && !gppFramework.search()) reportIfDecided(true);
  });
  const stopListening = onTransition((pageTransition) => {
    if (pageTransition === 'visible' || pageTransition === 'returned') search();
  });
  return () => {
    stopListening();
    cancelTimeout();
    cancelSearch?.();
    cancelWait?.();
    tcfFramework.stop();
    gppFramework.stop();
  };
}

/** The player's choice, as read from one framework. */
interface FrameworkChoice {
  status: PageConsent['status'];
  /** Whether this choice overrides other signals, because the GDPR applies or the player opted out. */
  decides: boolean;
  text: string | undefined;
}

/** Returns the consent string, or undefined if it is too long for the service. */
const dropIfTooLong = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= 4_096 ? value : undefined;

/** Reads the player's choice. Returns undefined until the player has made one. */
function readTcfChoice({
  eventStatus,
  gdprApplies,
  purpose,
  tcString,
}: TcfData): FrameworkChoice | undefined {
  if (eventStatus !== 'tcloaded' && eventStatus !== 'useractioncomplete') return undefined;
  const decides = gdprApplies !== false;
  // TCF purposes: 1 is storing information on the device, 2 is selecting ads based on limited data, 7 is measuring ads.
  const hasAgreed = [1, 2, 7].every((number) => purpose?.consents?.[number] === true);
  return {
    status: hasAgreed || !decides ? 'granted' : 'denied',
    decides,
    text: dropIfTooLong(tcString),
  };
}

/** Fields in the US state sections. The value 1, or true, means that the player has opted out. */
const optOuts = ['Gpc', 'SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut'];

/** Reads the player's choice. Returns undefined until the framework is ready. */
function readGppChoice({ pingData }: GppData): FrameworkChoice | undefined {
  if (pingData?.signalStatus !== 'ready') return undefined;
  // A section is an object, or a list of its subsections.
  const sections = Object.values(pingData.parsedSections ?? {}).flat() as (
    Section | string | null
  )[];
  const decides = sections.some((section) =>
    // The older US Privacy string has letters. Some frameworks report it as it is.
    typeof section === 'string'
      ? /^1.y/i.test(section)
      : section?.['OptOutSale'] === 'Y' || optOuts.some((field) => Number(section?.[field]) === 1),
  );
  // The absence of an opt-out is not consent, so the service evaluates the consent string.
  return {
    status: decides ? 'denied' : 'unknown',
    decides,
    text: dropIfTooLong(pingData.gppString),
  };
}

type Section = Record<string, unknown>;

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
  /** Searches for the framework and subscribes to it. Returns whether it was found. */
  search(): boolean;
  stop(): void;
}

const versions = { __tcfapi: 2, __gpp: '1.1' };

/**
 * Creates a {@link ConsentFramework}. As both standards specify, the framework is called directly if it is in this
 * window. Otherwise, messages are posted to the nearest ancestor window that contains its locator frame. If a framework
 * reports a failure, the search starts again.
 */
export function consentFramework(
  name: keyof typeof versions,
  onData: (data: object) => void,
): ConsentFramework {
  let activeSubscription: AbortController | undefined;

  function search(): boolean {
    if (activeSubscription) return true;
    const subscription = new native.AbortController();
    const call = findLocalCall(name) ?? findAncestorCall(name, subscription.signal);
    if (!call) return false;
    activeSubscription = subscription;
    const stop = (): void => {
      subscription.abort();
      if (activeSubscription === subscription) activeSubscription = undefined;
    };
    const onReply: Callback = (data, success) => {
      if (subscription.signal.aborted) return;
      if (success === false || typeof data !== 'object' || data === null) return stop();
      const { listenerId } = data as { listenerId?: number };
      if (listenerId !== undefined && remove === undefined) {
        remove = () => attempt(() => call('removeEventListener', () => undefined, listenerId));
        listen(subscription.signal, 'abort', remove);
      }
      onData(data);
    };
    let remove: (() => void) | undefined;
    try {
      call('addEventListener', onReply);
    } catch {
      stop();
    }
    return true;
  }

  return { search, stop: () => activeSubscription?.abort() };
}

function findLocalCall(name: keyof typeof versions): Call | undefined {
  // `window[name]` could also be an element with this id.
  if (typeof window[name] !== 'function') return undefined;
  if (name === '__gpp')
    return (command, callback, id) => window.__gpp?.(command, callback, id, versions.__gpp);
  return (command, callback, id) => window.__tcfapi?.(command, versions.__tcfapi, callback, id);
}

function findAncestorCall(name: keyof typeof versions, signal: AbortSignal): Call | undefined {
  const target = findAncestorWithFrame(`${name}Locator`);
  if (!target) return undefined;
  const callbacks = new Map<string, Callback>();
  const onData = ({ data, source }: MessageEvent<unknown>): void => {
    if (source !== target) return;
    const message = attempt(() => (typeof data === 'string' ? JSON.parse(data) : data) as unknown);
    const response = (message as Record<string, unknown> | null | undefined)?.[`${name}Return`] as
      { callId?: string; returnValue?: unknown; success?: unknown } | null | undefined;
    callbacks.get(response?.callId ?? '')?.(response?.returnValue, response?.success);
  };
  listen(window, 'message', onData, { signal });
  return (command, callback, parameter) => {
    const callId = `trueward-${command}-${Math.random()}`;
    callbacks.set(callId, callback);
    const message = { command, version: versions[name], callId, parameter };
    // The ancestor's origin is unknown, so the target origin is `*`. The message contains no personal data.
    target.postMessage({ [`${name}Call`]: message }, '*');
  };
}

/** Finds the nearest ancestor window that has a frame with this name. Frame names are visible across origins. */
function findAncestorWithFrame(locator: string): Window | undefined {
  let frame: Window = window;
  while (frame !== frame.parent) {
    frame = frame.parent;
    if (attempt(() => (frame.frames as unknown as Record<string, unknown>)[locator])) return frame;
  }
  return undefined;
}
