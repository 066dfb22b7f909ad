import type { Clock } from '../../platform/time.ts';
import { mergeChain, type ErrorReport, type VastAd } from './ad.ts';
import {
  type AdEntry,
  listCandidates,
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

/** The result of requesting a document. */
export type FetchResult =
  | {
      status: 'ok';
      /** The body; empty for a 204. */
      text: string;
      /** Final URL after redirects. */
      url: string;
    }
  | { status: 'failed'; reason: string };

export interface ResolveOptions {
  /**
   * Requests a document. Must enforce the timeout and the limits on redirects and IPs. An exception is treated as a
   * failed request.
   */
  fetchDocument: (url: string) => Promise<FetchResult>;
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
  /** Called and awaited between slices of a long document, so that other work can run. */
  pause: () => Promise<void>;
  macros: MacroValues;
  rules: VastRules;
}

/**
 * A step of the resolution, shown in trials. `depth` is the number of wrappers that led to the step. The macros in a
 * request's URL have been expanded, so it may contain the player's IP.
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

/** Either an ad or the reason why there is no ad. In both cases, there may be errors to report. */
export type VastResult = { errors: ErrorReport[]; trace: VastStep[] } & (
  { ad: VastAd; noAd?: never } | { ad?: never; noAd: VastNoAd }
);

/** Maximum number of wrappers in a chain, as VAST 4.3 recommends. */
const maxWrappers = 5;
/** Maximum number of requests, and of ads to try, per resolution. */
const maxRequests = 10;
const maxCandidates = 10;
/** Maximum total length of all documents, in characters. */
const maxChainLength = 524_288;
/** Maximum length of an expanded URL. Without this limit, a tag that repeats a macro could expand to megabytes. */
const maxRequestUrlLength = 16_384;

/**
 * Finds the ad that a tag or a bid's markup leads to, following wrappers. Always resolves with an ad or with the reason
 * why there is no ad, no matter what the servers send.
 *
 * @param start a tag with unexpanded macros, or a bid's markup
 */
export async function resolveVast(
  start: { tagUrl: string } | { markup: string },
  options: ResolveOptions,
): Promise<VastResult> {
  return new Resolution(options).resolve(start);
}

/** The state of one resolution: its errors, its trace, and how much of each limit it has used up. */
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
    const base = { errors: this.#errors, trace: this.#trace };
    return ad ? { ad, ...base } : { noAd: this.#noAd, ...base };
  }

  /** Requests the document at `tagUrl`, and searches it for an ad. */
  async #request(tagUrl: string, wrappers: readonly Wrapper[]): Promise<VastAd | undefined> {
    if (this.#requests >= maxRequests) {
      const reason = `The decision has reached its limit of ${maxRequests} requests.`;
      return this.#fail(new VastError(vastErrorCodes.wrapperLimit, reason), wrappers);
    }
    this.#requests += 1;
    const { clock } = this.#options;
    const url = this.#expand(tagUrl, wrappers);
    if (url.length > maxRequestUrlLength) {
      const reason = `The URL has ${url.length} characters with its macros expanded; expected at most ${maxRequestUrlLength}.`;
      return this.#fail(new VastError(vastErrorCodes.wrapper, reason), wrappers);
    }
    const startedAtMs = clock.monotonicMs();
    const fetchResult = await this.#fetch(url);
    const failure = fetchResult.status === 'failed' ? fetchResult.reason.slice(0, 200) : undefined;
    this.#trace.push({
      step: 'request',
      depth: wrappers.length,
      url,
      ms: clock.monotonicMs() - startedAtMs,
      ...(failure !== undefined && { failure }),
    });
    if (fetchResult.status === 'ok')
      return this.#search(fetchResult.text, fetchResult.url, wrappers);
    const reason = `The document could not be loaded: ${failure}`;
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

  async #fetch(url: string): Promise<FetchResult> {
    try {
      return await this.#options.fetchDocument(url);
    } catch (error) {
      return { status: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Tries a document's ads in order until one of them can be shown. */
  async #search(
    text: string,
    url: string | undefined,
    wrappers: readonly Wrapper[],
  ): Promise<VastAd | undefined> {
    const document = await this.#read(text, wrappers);
    if (!document) return undefined;
    const candidates = listCandidates(document.ads, wrappers.at(-1));
    if (candidates.length === 0) {
      const problem = document.ads.length > 0 ? 'no ad that its wrapper allows' : 'no ad';
      const error = new VastError(vastErrorCodes.noAds, `The response has ${problem}.`);
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
        const reason = `The documents exceed ${maxChainLength} characters in total.`;
        throw new VastError(vastErrorCodes.xml, reason);
      }
      const { rules, pause } = this.#options;
      const document = await readDocument(text, rules, pause);
      const { version, ads, repairs } = document;
      this.#trace.push({
        step: 'document',
        depth: wrappers.length,
        ads: ads.length,
        repairs,
        ...(version !== undefined && { version }),
      });
      return document;
    } catch (error) {
      return this.#fail(error, wrappers);
    }
  }

  /**
   * Returns the candidate's ad, if there is one. `isFinal` is true if the candidate's wrapper forbids trying the other
   * candidates.
   */
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
      const { wrapper, chain } = this.#extendChain(candidate, documentUrl, wrappers);
      const ad = await this.#request(wrapper.tagUrl, chain);
      return { ad, isFinal: wrapper.fallbackOnNoAd === false && !isInPod(candidate) };
    } catch (error) {
      this.#fail(error, wrappers, this.#readErrorUrls(candidate), candidate.id);
      return { isFinal: false };
    }
  }

  #accept(candidate: AdEntry, wrappers: readonly Wrapper[]): VastAd {
    const { clock, rules } = this.#options;
    const inline = readInLine(candidate.body, candidate.adType, rules);
    const ad = mergeChain(wrappers, inline, clock.nowMs());
    checkSkip(ad.skip, ad.durationMs, rules);
    const depth = wrappers.length;
    this.#trace.push({ step: 'ad', depth, ...describe(candidate, inline) });
    this.#traceDropped(inline.dropped, depth);
    if (inline.isInteractive) {
      const error = new VastError(
        vastErrorCodes.interactive,
        "The ad's interactive part is not supported; only its video is shown.",
      );
      this.#fail(error, wrappers, inline.errors, candidate.id);
    }
    return ad;
  }

  #extendChain(
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
    if (wrappers.some((outer) => outer.tagUrl === tagUrl)) {
      throw new VastError(vastErrorCodes.wrapperLimit, 'The wrapper chain is circular.');
    }
    return { wrapper, chain: [...wrappers, wrapper] };
  }

  /**
   * Records an error, and reports it to the error URLs in the wrappers and in the failed ad or document.
   *
   * @param ownUrls the error URLs in the failed ad or document
   */
  #fail(
    error: unknown,
    wrappers: readonly Wrapper[],
    ownUrls: readonly string[] = [],
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
    this.#report(code, [...wrappers.flatMap(({ errors }) => errors), ...ownUrls]);
  }

  /**
   * Reports error 206 for a pod's remaining ads, which won't be played. Nothing is reported to the wrappers, because
   * one of the pod's ads is shown.
   */
  #reportShortened(remainingAds: readonly AdEntry[]): void {
    for (const ad of remainingAds.slice(0, maxCandidates)) {
      this.#report(vastErrorCodes.breakShortened, this.#readErrorUrls(ad));
    }
  }

  #report(code: VastErrorCode, urls: readonly string[]): void {
    if (urls.length > 0) this.#errors.push({ code, urls: [...urls] });
  }

  #readErrorUrls(ad: AdEntry): string[] {
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
