import type { Clock } from '../../../src/platform/time.ts';
import {
  type FetchResult,
  type ResolveOptions,
  resolveVast,
  type VastResult,
  type VastRules,
} from '../../../src/demand/vast/resolve.ts';

export const nowMs = Date.UTC(2026, 10, 22, 10);

export const rules: VastRules = {
  httpTags: false,
  httpMedia: false,
  httpTrackers: false,
  media: { width: 1_280, height: 720, maxBitrate: 3_000, maxBytes: 20_000_000 },
  minDurationMs: 5_000,
  maxDurationMs: 120_000,
  minSkipMs: 5_000,
};

/** Returns an element `<name>url</name>` for each URL. */
export const tags = (name: string, ...urls: string[]): string =>
  urls.map((url) => `<${name}><![CDATA[${url}]]></${name}>`).join('');

export const tracking = (event: string, url: string, offset?: string): string =>
  `<Tracking event="${event}"${offset === undefined ? '' : ` offset="${offset}"`}><![CDATA[${url}]]></Tracking>`;

export const mp4 = (attributes = '', url = 'https://cdn.example/ad.mp4'): string =>
  `<MediaFile type="video/mp4" delivery="progressive" width="1280" height="720" bitrate="1500" ${attributes}><![CDATA[${url}]]></MediaFile>`;

/** The parts of a VAST document that differ between fixtures. */
interface AdParts {
  /** Attributes for the `Ad` element. */
  ad?: string;
  /** Additional elements inside `InLine` or `Wrapper`, next to `Creatives`. */
  body?: string;
  /** Attributes for the `Linear` element. */
  linear?: string;
  tracking?: string;
  clicks?: string;
  icons?: string;
}

interface InLineParts extends AdParts {
  /** Additional elements inside `Creative`, next to `Linear`. */
  creative?: string;
  /** The content of `Duration`. If it is undefined, the element is left out. */
  duration?: string | undefined;
  /** The elements inside `MediaFiles`. */
  media?: string;
}

export function inline(parts: InLineParts = {}): string {
  const { ad = '', body = '', creative = '', media = mp4() } = parts;
  const duration = 'duration' in parts ? parts.duration : '00:00:20';
  return `<Ad ${ad}><InLine>
    <AdSystem>server</AdSystem><AdTitle>title</AdTitle>${body}
    <Creatives><Creative id="c1" adId="a1">${creative}
      <Linear ${parts.linear ?? ''}>
        ${duration === undefined ? '' : `<Duration>${duration}</Duration>`}
        ${renderSharedParts(parts)}<MediaFiles>${media}</MediaFiles>
      </Linear>
    </Creative></Creatives>
  </InLine></Ad>`;
}

interface WrapperParts extends AdParts {
  /** Attributes for the `Wrapper` element. */
  wrapper?: string;
}

export const wrapper = (tagUrl: string, parts: WrapperParts = {}): string =>
  `<Ad ${parts.ad ?? ''}><Wrapper ${parts.wrapper ?? ''}>
    <AdSystem>wrapping server</AdSystem>${parts.body ?? ''}
    <VASTAdTagURI><![CDATA[${tagUrl}]]></VASTAdTagURI>
    <Creatives><Creative><Linear ${parts.linear ?? ''}>${renderSharedParts(parts)}</Linear></Creative></Creatives>
  </Wrapper></Ad>`;

const renderSharedParts = (parts: AdParts): string =>
  [
    parts.tracking === undefined ? '' : `<TrackingEvents>${parts.tracking}</TrackingEvents>`,
    parts.clicks === undefined ? '' : `<VideoClicks>${parts.clicks}</VideoClicks>`,
    parts.icons === undefined ? '' : `<Icons>${parts.icons}</Icons>`,
  ].join('');

export const vast = (...content: string[]): string =>
  `<?xml version="1.0"?>\n<VAST version="4.2">${content.join('\n')}</VAST>`;

/** Documents by name. A request for `https://ads.example/<name>` returns `documents[name]`. All other requests fail. */
export type Documents = Record<string, string>;

export const createUrl = (name: string): string => `https://ads.example/${name}`;

export interface Resolution {
  result: VastResult;
  /** The URLs that were requested, in order. */
  requestedUrls: string[];
}

/** Resolves the document at `https://ads.example/start`, or at another URL. */
export async function resolve(
  documents: Documents,
  overrides: Partial<ResolveOptions> = {},
  start: Parameters<typeof resolveVast>[0] = { tagUrl: createUrl('start') },
): Promise<Resolution> {
  const requestedUrls: string[] = [];
  const fetchDocument = (url: string): Promise<FetchResult> => {
    requestedUrls.push(url);
    const text = documents[url.replace('https://ads.example/', '')];
    return Promise.resolve(
      text === undefined ? { status: 'failed', reason: '404' } : { status: 'ok', text, url },
    );
  };
  const result = await resolveVast(start, {
    fetchDocument,
    clock: stoppedClock,
    random: () => 0.5,
    pause: () => Promise.resolve(),
    macros: {},
    rules,
    ...overrides,
  });
  return { result, requestedUrls };
}

/** Resolves a single document. Returns its ad. */
export async function readAd(ad: string, overrides: Partial<VastRules> = {}) {
  const { result } = await resolve({ start: vast(ad) }, { rules: { ...rules, ...overrides } });
  if (!result.ad) throw new Error(`No ad: ${result.noAd.code} ${result.noAd.reason}`);
  return result.ad;
}

/** Resolves a single document. Returns the reason why there is no ad. */
export async function readRejection(document: string, overrides: Partial<VastRules> = {}) {
  const { result } = await resolve({ start: document }, { rules: { ...rules, ...overrides } });
  if (!result.noAd) throw new Error('Expected no ad.');
  return result.noAd;
}

/** How much longer than plain text of the largest size a document may block the event loop. The worst takes 2.9 times. */
export const maxStall = 4;
/** Plain text never counts as faster than this, in milliseconds, because nobody notices four times as much. */
const minTextMs = 2.5;
const plainText = `<VAST>${'x'.repeat(262_144 - '<VAST></VAST>'.length)}</VAST>`;

/**
 * Returns the longest time that the event loop is blocked while the documents are resolved, as a multiple of that for plain
 * text of the largest size, which the same machine parses at the same time. Measures CPU time, which does not depend on
 * other processes. Returns the best of up to ten runs, because some runs include a garbage collection.
 */
export async function measureStall(documents: Documents): Promise<number> {
  let [bestMs, textMs] = [Infinity, Infinity];
  for (let run = 0; run < 10 && !(bestMs < maxStall * textMs); run += 1) {
    textMs = Math.max(minTextMs, Math.min(textMs, await measureStallOnce({ start: plainText })));
    bestMs = Math.min(bestMs, await measureStallOnce(documents));
  }
  return bestMs / textMs;
}

/** Returns the time in milliseconds. */
async function measureStallOnce(documents: Documents): Promise<number> {
  let [longestMs, usageBefore] = [0, process.cpuUsage()];
  const recordStall = () => {
    const { user, system } = process.cpuUsage(usageBefore);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    usageBefore = process.cpuUsage();
  };
  const pause = () => {
    recordStall();
    return Promise.resolve();
  };
  await resolve(documents, { pause });
  recordStall();
  return longestMs;
}

const stoppedClock: Clock = { nowMs: () => nowMs, monotonicMs: () => 0 };

export const createErrorUrl = (name: string): string => `https://e.example/${name}?c=[ERRORCODE]`;
export const error = (name: string): string => tags('Error', createErrorUrl(name));
/** An ad without a playable media file. */
export const unplayableAd = (name: string, ad = ''): string =>
  inline({ ad, body: error(name), media: mp4('apiFramework="VPAID"') });
