import type { Clock } from './clock.ts';
import { consentFramework } from './consent-framework.ts';
import { browserPageLifecycle, type PageLifecycle } from './page-lifecycle.ts';

/** The player’s choice, from a consent dialog of the page or a browser setting. */
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

/** Delay after the first search for a framework, in milliseconds; each further delay is 1.5 times as long. */
const firstPauseMs = 250;
const longestPauseMs = 60_000;
/** How long to wait for GPP after TCF said that the GDPR does not apply, in milliseconds. */
const otherMs = 2_000;
/** If no framework appears within this time, Global Privacy Control alone decides; in milliseconds. */
const aloneMs = 5_000;

/**
 * Follows the consent frameworks (IAB TCF and GPP) of this page or of the pages around it, and reports the
 * player’s choice, initially and on every change. Reports nothing while a dialog is open, or if there is neither
 * a framework nor Global Privacy Control. Searches for frameworks at growing intervals until one has answered,
 * and whenever the player returns to the page.
 */
export function followPageConsent(
  clock: Clock,
  tell: (consent: PageConsent) => void,
  { onMoment }: Pick<PageLifecycle, 'onMoment'> = browserPageLifecycle,
): () => void {
  let tcf: Answer | undefined;
  let gpp: Answer | undefined;
  let told: string | undefined;
  let pauseMs = firstPauseMs;
  let cancelLook: (() => void) | undefined;
  let cancelWait: (() => void) | undefined;

  const tcfFramework = consentFramework('__tcfapi', (data) => {
    tcf = readTcf(data) ?? tcf;
    conclude();
  });
  const gppFramework = consentFramework('__gpp', (data) => {
    gpp = readGpp(data) ?? gpp;
    conclude();
  });

  function conclude(isLate = false): void {
    const status = statusOf(isLate);
    if (status === undefined) return;
    const consent = {
      status,
      ...(tcf?.text && { tcfString: tcf.text }),
      ...(gpp?.text && { gppString: gpp.text }),
    };
    const text = JSON.stringify(consent);
    if (text === told) return;
    told = text;
    tell(consent);
  }

  function statusOf(isLate: boolean): PageConsent['status'] | undefined {
    // What the player agreed to here is more specific than a setting for all sites, and the GDPR asks for it.
    if (tcf?.decides) return tcf.status;
    if (gpp?.decides) return gpp.status;
    if (!tcf && !gpp && !isLate) return undefined;
    if (navigator.globalPrivacyControl === true) return 'denied';
    if (gpp || isLate) return tcf?.status ?? gpp?.status;
    // An opt-out by the law of a state may be on its way.
    if (!gppFramework.look()) return tcf?.status;
    cancelWait ??= clock.after(otherMs, () => conclude(true));
    return undefined;
  }

  function look(): void {
    cancelLook?.();
    const found = [tcfFramework.look(), gppFramework.look()];
    if (tcf || gpp || !found.includes(false)) return;
    cancelLook = clock.after(pauseMs, look);
    pauseMs = Math.min(pauseMs * 1.5, longestPauseMs);
  }

  look();
  const cancelAlone = clock.after(aloneMs, () => {
    if (!tcfFramework.look() && !gppFramework.look()) conclude(true);
  });
  const offMoments = onMoment((moment) => {
    if (moment === 'visible' || moment === 'returned') look();
  });
  return () => {
    offMoments();
    cancelAlone();
    cancelLook?.();
    cancelWait?.();
    tcfFramework.stop();
    gppFramework.stop();
  };
}

/** What one framework says. */
interface Answer {
  status: PageConsent['status'];
  /** Whether no other says more: the GDPR applies, or the player opted out. */
  decides: boolean;
  text: string | undefined;
}

/** The service takes no longer strings. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= 4_096 ? value : undefined;

/** Undefined while the player has not chosen. */
function readTcf({ eventStatus, gdprApplies, purpose, tcString }: TcfData): Answer | undefined {
  if (eventStatus !== 'tcloaded' && eventStatus !== 'useractioncomplete') return undefined;
  const decides = gdprApplies !== false;
  // 1: keep something on the device; 2: choose ads by limited data; 7: measure ads.
  const agreed = [1, 2, 7].every((number) => purpose?.consents?.[number] === true);
  return { status: agreed || !decides ? 'granted' : 'denied', decides, text: textOf(tcString) };
}

/** Fields of the sections for US states that say that the player opted out, by the value 1. */
const optOuts = ['SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut'];

/** Undefined while the framework is at work. */
function readGpp({ pingData }: GppData): Answer | undefined {
  if (pingData?.signalStatus !== 'ready') return undefined;
  // A section is an object, or a list of objects by sub-section.
  const parts = Object.values(pingData.parsedSections ?? {}).flat() as (Section | null)[];
  const decides = parts.some(
    (part) => part?.['Gpc'] === true || optOuts.some((field) => part?.[field] === 1),
  );
  // No opt-out is not an agreement: the service reads the string for what it allows.
  return { status: decides ? 'denied' : 'unknown', decides, text: textOf(pingData.gppString) };
}

type Section = Record<string, unknown>;
