import type { Clock } from './clock.ts';

/** What a consent dialogue of the page says. */
export interface PageConsent {
  status: 'granted' | 'denied' | 'unknown';
  tcfString?: string;
  gppString?: string;
}

interface TcfData {
  eventStatus?: string;
  gdprApplies?: boolean;
  tcString?: string;
  listenerId?: number;
  purpose?: { consents?: Record<string, boolean> };
}

interface GppData {
  listenerId?: number;
  pingData?: {
    signalStatus?: string;
    gppString?: string;
    parsedSections?: Record<string, unknown>;
  };
}

type Framework<Arguments extends unknown[]> = (...args: Arguments) => void;

declare global {
  interface Window {
    /** {@link https://github.com/InteractiveAdvertisingBureau/GDPR-Transparency-and-Consent-Framework | IAB TCF} */
    __tcfapi?: Framework<
      [command: string, version: number, callback: (data: TcfData) => void, id?: number]
    >;
    /** {@link https://github.com/InteractiveAdvertisingBureau/Global-Privacy-Platform | IAB GPP} */
    __gpp?: Framework<[command: string, callback: (data: GppData) => void, id?: number]>;
  }
}

/** How often a framework that has not loaded yet is looked for, in milliseconds. */
const lookMs = 250;

/**
 * Follows the consent framework of the page, TCF before GPP, and tells what the player chose, now and
 * at each change. Says nothing while the dialogue is open, or while there is none.
 */
export function followPageConsent(
  clock: Pick<Clock, 'after'>,
  tell: (consent: PageConsent) => void,
): () => void {
  let stop: () => void = () => {};

  function look(): void {
    if (window.__tcfapi) stop = followTcf(window.__tcfapi, tell);
    else if (window.__gpp) stop = followGpp(window.__gpp, tell);
    else stop = clock.after(lookMs, look);
  }

  look();
  return () => stop();
}

function followTcf(
  tcf: NonNullable<Window['__tcfapi']>,
  tell: (consent: PageConsent) => void,
): () => void {
  let id: number | undefined;
  let over = false;
  tcf('addEventListener', 2, (data) => {
    id = data.listenerId;
    const chosen = data.eventStatus === 'tcloaded' || data.eventStatus === 'useractioncomplete';
    if (!chosen || over) return;
    // 1: keep something on the device; 2: choose ads by limited data; 7: measure ads.
    const granted = [1, 2, 7].every((purpose) => data.purpose?.consents?.[purpose] === true);
    const status = granted || data.gdprApplies === false ? 'granted' : 'denied';
    tell({ status, ...(data.tcString ? { tcfString: data.tcString } : {}) });
  });
  return () => {
    over = true;
    if (id !== undefined) tcf('removeEventListener', 2, () => {}, id);
  };
}

/** Fields of the sections for US states that say that the player opted out, by the value 1. */
const optOuts = ['SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut'];

function followGpp(
  gpp: NonNullable<Window['__gpp']>,
  tell: (consent: PageConsent) => void,
): () => void {
  let id: number | undefined;
  let over = false;
  gpp('addEventListener', ({ listenerId, pingData }) => {
    id = listenerId;
    if (over || pingData?.signalStatus !== 'ready') return;
    // A section is an object, or a list of objects by sub-section.
    const parts = Object.values(pingData.parsedSections ?? {}).flat() as Record<string, unknown>[];
    const optedOut = parts.some((part) => optOuts.some((field) => part[field] === 1));
    const { gppString } = pingData;
    // No opt-out is not an agreement: the service reads the string for what it allows.
    tell({ status: optedOut ? 'denied' : 'unknown', ...(gppString ? { gppString } : {}) });
  });
  return () => {
    over = true;
    if (id !== undefined) gpp('removeEventListener', () => {}, id);
  };
}
