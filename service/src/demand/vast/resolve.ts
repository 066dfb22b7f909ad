import type { Clock } from '../../platform/clock.ts';
import { combine, type ErrorReport, type VastAd } from './ad.ts';
import {
  type AdEntry,
  candidatesOf,
  type DocumentRules,
  isInPod,
  readDocument,
  readWrapper,
  type VastDocument,
  type Wrapper,
} from './document.ts';
import { type AdRules, checkSkip, maxCategories, readInLine } from './inline.ts';
import { readErrors } from './layer.ts';
import { expandMacros, type MacroValues } from './macros.ts';
import { VastError, type VastErrorCode, vastErrorCodes } from './vast-error.ts';

export type VastRules = AdRules & DocumentRules;

/** A document that was requested. */
export type Fetched =
  | {
      status: 'ok';
      /** The body; empty for a 204. */
      text: string;
      /** Where it came from after redirects. */
      url: string;
    }
  | { status: 'failed'; reason: string };

export interface ResolveOptions {
  /** Requests a document. It owns timeouts, redirects and the choice of IPs; what it throws counts as failed. */
  fetchDocument: (url: string) => Promise<Fetched>;
  clock: Clock;
  /** From 0 to below 1. */
  random: () => number;
  /** Lets other work run between the slices of a long document. */
  pause: () => Promise<void>;
  macros: MacroValues;
  rules: VastRules;
}

/**
 * What happened on the way, for people who try a tag. `depth` is the number of wrappers above. The URL of a
 * request has its macros expanded, so it may hold the player's IP.
 */
export type VastStep =
  | { step: 'request'; depth: number; url: string; ms: number; failure?: string }
  | { step: 'document'; depth: number; version?: string; ads: number; repairs: number }
  | { step: 'wrapper'; depth: number; adId?: string; adSystem?: string; tagUrl: string }
  | { step: 'ad'; depth: number; adId?: string; adSystem?: string }
  | { step: 'error'; depth: number; adId?: string; code: VastErrorCode; reason: string }
  | { step: 'dropped'; depth: number; what: string };

export interface VastNoAd {
  code: VastErrorCode;
  /** For operators. */
  reason: string;
}

/** Either an ad or the reason why there is none. Errors may have to be reported in both cases. */
export type VastResult = { errors: ErrorReport[]; trace: VastStep[] } & (
  { ad: VastAd; noAd?: never } | { ad?: never; noAd: VastNoAd }
);

/** VAST 4.3 recommends five. */
const maxWrappers = 5;
/** Of one resolution, over all of its ads. */
const maxRequests = 10;
const maxCandidates = 10;
/** Characters of all documents together. */
const maxChainLength = 524_288;
/** A tag that repeats a macro could make a URL of megabytes. */
const maxRequestUrlLength = 16_384;

/**
 * Finds the ad behind a tag or in a markup, through all of its wrappers. Whatever servers send, it resolves
 * with an ad or a reason.
 *
 * @param start a tag with macros, or the markup of a bid
 */
export async function resolveVast(
  start: { tagUrl: string } | { markup: string },
  options: ResolveOptions,
): Promise<VastResult> {
  return new Resolution(options).resolve(start);
}

/** One resolution: what it has spent and what it has found. */
class Resolution {
  readonly #options: ResolveOptions;
  readonly #errors: ErrorReport[] = [];
  readonly #trace: VastStep[] = [];
  #requests = 0;
  #candidates = 0;
  #length = 0;
  #noAd: VastNoAd = { code: vastErrorCodes.noAds, reason: 'The response has no ad.' };

  constructor(options: ResolveOptions) {
    this.#options = options;
  }

  async resolve(start: { tagUrl: string } | { markup: string }): Promise<VastResult> {
    const ad =
      'markup' in start
        ? await this.#search(start.markup, undefined, [])
        : await this.#request(start.tagUrl, []);
    const found = { errors: this.#errors, trace: this.#trace };
    return ad ? { ...found, ad } : { ...found, noAd: this.#noAd };
  }

  /** Requests the document of the innermost of `wrappers`, or the first one, and searches it. */
  async #request(tagUrl: string, wrappers: readonly Wrapper[]): Promise<VastAd | undefined> {
    if (this.#requests >= maxRequests) {
      const reason = `All ${maxRequests} requests of this decision are used.`;
      return this.#fail(new VastError(vastErrorCodes.wrapperLimit, reason), wrappers);
    }
    this.#requests += 1;
    const { clock } = this.#options;
    const url = this.#expand(tagUrl, wrappers);
    if (url.length > maxRequestUrlLength) {
      const reason = `The URL has ${url.length} characters once its macros are expanded; expected at most ${maxRequestUrlLength}.`;
      return this.#fail(new VastError(vastErrorCodes.wrapper, reason), wrappers);
    }
    const startedMs = clock.monotonicMs();
    const fetched = await this.#fetch(url);
    const failure = fetched.status === 'failed' ? fetched.reason.slice(0, 200) : undefined;
    this.#trace.push({
      step: 'request',
      depth: wrappers.length,
      url,
      ms: clock.monotonicMs() - startedMs,
      ...(failure !== undefined && { failure }),
    });
    if (fetched.status === 'ok') return this.#search(fetched.text, fetched.url, wrappers);
    const reason = `The document did not arrive: ${failure}`;
    return this.#fail(new VastError(vastErrorCodes.timeout, reason), wrappers);
  }

  #expand(tagUrl: string, wrappers: readonly Wrapper[]): string {
    const { clock, random, macros } = this.#options;
    const blocked = wrappers
      .flatMap(({ blockedCategories }) => blockedCategories)
      .map(({ code }) => code)
      .slice(0, maxCategories);
    const values: MacroValues =
      blocked.length > 0 ? { ...macros, BLOCKEDADCATEGORIES: blocked } : macros;
    return expandMacros(tagUrl, values, { nowMs: clock.nowMs(), random: random() });
  }

  async #fetch(url: string): Promise<Fetched> {
    try {
      return await this.#options.fetchDocument(url);
    } catch (error) {
      return { status: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Tries the ads of a document in turn, until one can be shown. */
  async #search(
    text: string,
    url: string | undefined,
    wrappers: readonly Wrapper[],
  ): Promise<VastAd | undefined> {
    const document = await this.#read(text, wrappers);
    if (!document) return undefined;
    const candidates = candidatesOf(document.ads, wrappers.at(-1));
    if (candidates.length === 0) {
      const what = document.ads.length > 0 ? 'no ad that its wrapper allows' : 'no ad';
      const error = new VastError(vastErrorCodes.noAds, `The response has ${what}.`);
      return this.#fail(error, wrappers, document.errors);
    }
    for (const [index, candidate] of candidates.entries()) {
      this.#candidates += 1;
      if (this.#candidates > maxCandidates) return undefined;
      const { ad, isFinal } = await this.#try(candidate, url, wrappers);
      if (ad && isInPod(candidate)) this.#reportShortened(candidates.slice(index + 1));
      if (ad || isFinal) return ad;
    }
    return undefined;
  }

  async #read(text: string, wrappers: readonly Wrapper[]): Promise<VastDocument | undefined> {
    this.#length += text.length;
    try {
      if (this.#length > maxChainLength) {
        const reason = `The documents have more than ${maxChainLength} characters together.`;
        throw new VastError(vastErrorCodes.xml, reason);
      }
      const { rules, pause } = this.#options;
      const document = await readDocument(text, rules, pause);
      const { version, ads, repairs } = document;
      this.#trace.push({
        step: 'document',
        depth: wrappers.length,
        ...(version !== undefined && { version }),
        ads: ads.length,
        repairs,
      });
      return document;
    } catch (error) {
      return this.#fail(error, wrappers);
    }
  }

  /** The ad of a candidate, if it leads to one; and whether its wrapper forbids to try others. */
  async #try(
    candidate: AdEntry,
    documentUrl: string | undefined,
    wrappers: readonly Wrapper[],
  ): Promise<{ ad?: VastAd | undefined; isFinal: boolean }> {
    try {
      if (candidate.kind === 'inline') {
        return { ad: this.#accept(candidate, wrappers), isFinal: false };
      }
      if (candidate.kind === 'invalid') {
        throw new VastError(vastErrorCodes.schema, 'The ad is neither InLine nor Wrapper.');
      }
      const { wrapper, chain } = this.#enter(candidate, documentUrl, wrappers);
      const ad = await this.#request(wrapper.tagUrl, chain);
      return { ad, isFinal: wrapper.fallbackOnNoAd === false && !isInPod(candidate) };
    } catch (error) {
      this.#fail(error, wrappers, this.#ownErrors(candidate), candidate.id);
      return { isFinal: false };
    }
  }

  #accept(candidate: AdEntry, wrappers: readonly Wrapper[]): VastAd {
    const { clock, rules } = this.#options;
    const inline = readInLine(candidate.body, candidate.adType, rules);
    const ad = combine(wrappers, inline, clock.nowMs());
    checkSkip(ad.skip, ad.durationMs, rules);
    const depth = wrappers.length;
    this.#trace.push({ step: 'ad', depth, ...describe(candidate, inline) });
    this.#traceDropped(inline.dropped, depth);
    if (inline.isInteractive) {
      const error = new VastError(
        vastErrorCodes.interactive,
        'The interactive part of the ad does not run here; its video is shown.',
      );
      this.#fail(error, wrappers, inline.errors, candidate.id);
    }
    return ad;
  }

  #enter(
    candidate: AdEntry,
    documentUrl: string | undefined,
    wrappers: readonly Wrapper[],
  ): { wrapper: Wrapper; chain: Wrapper[] } {
    const wrapper = readWrapper(candidate.body, documentUrl, this.#options.rules);
    const { tagUrl } = wrapper;
    const depth = wrappers.length;
    this.#trace.push({ step: 'wrapper', depth, ...describe(candidate, wrapper), tagUrl });
    this.#traceDropped(wrapper.dropped, depth);
    if (depth >= maxWrappers) {
      const reason = `The chain has more than ${maxWrappers} wrappers.`;
      throw new VastError(vastErrorCodes.wrapperLimit, reason);
    }
    if (wrappers.some((above) => above.tagUrl === tagUrl)) {
      throw new VastError(vastErrorCodes.wrapperLimit, 'The wrapper refers to its own chain.');
    }
    return { wrapper, chain: [...wrappers, wrapper] };
  }

  /** Records an error for every wrapper above, and for `own`: the ad itself, or an empty document. */
  #fail(
    error: unknown,
    wrappers: readonly Wrapper[],
    own: readonly string[] = [],
    adId?: string,
  ): undefined {
    if (!(error instanceof VastError)) throw error;
    const { code, message: reason } = error;
    this.#noAd = { code, reason };
    this.#trace.push({
      step: 'error',
      depth: wrappers.length,
      ...(adId !== undefined && { adId }),
      code,
      reason,
    });
    this.#report(code, [...wrappers.flatMap(({ errors }) => errors), ...own]);
  }

  /** Reports the rest of a pod, but not to its wrappers: for them, the pod is a success. */
  #reportShortened(rest: readonly AdEntry[]): void {
    for (const ad of rest.slice(0, maxCandidates)) {
      this.#report(vastErrorCodes.breakShortened, this.#ownErrors(ad));
    }
  }

  #report(code: VastErrorCode, urls: readonly string[]): void {
    if (urls.length > 0) this.#errors.push({ code, urls: [...urls] });
  }

  #ownErrors(ad: AdEntry): string[] {
    return readErrors(ad.body, this.#options.rules);
  }

  #traceDropped(dropped: readonly string[], depth: number): void {
    for (const what of dropped) this.#trace.push({ step: 'dropped', depth, what });
  }
}

const describe = (
  { id: adId }: AdEntry,
  { adSystem }: { adSystem?: string },
): { adId?: string; adSystem?: string } => ({
  ...(adId !== undefined && { adId }),
  ...(adSystem !== undefined && { adSystem }),
});
