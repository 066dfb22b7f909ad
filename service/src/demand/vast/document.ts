import { type Category, listCreatives, readCategories } from './inline.ts';
import { type Layer, readErrors, readLayer, type UrlRules } from './layer.ts';
import { isHttps, parseWebUrl } from '../web-url.ts';
import { parseFlag, parsePositive, shortText } from './values.ts';
import { VastError, vastErrorCodes } from './vast-error.ts';
import { findChild, findChildren, parseXml, type XmlElement } from './xml.ts';

/** A VAST response. Its ads are parsed on demand, because most of them are never needed. */
export interface VastDocument {
  version?: string;
  /** Error URLs for an empty response, with unexpanded macros. */
  errors: string[];
  ads: AdEntry[];
  /** See `XmlDocument.repairs`. */
  repairs: number;
}

/** An `Ad` element. */
export interface AdEntry {
  id?: string;
  /** Position in an ad pod; absent for a stand-alone ad. */
  sequence?: number;
  adType?: string;
  kind: 'inline' | 'wrapper' | 'invalid';
  /** The `InLine` or `Wrapper` element, or the `Ad` element if it has neither. */
  body: XmlElement;
}

/** An ad that refers to another document. */
export interface Wrapper extends Layer {
  /** With unexpanded macros. */
  tagUrl: string;
  followAdditionalWrappers: boolean;
  allowMultipleAds: boolean;
  /** Whether to try other ads if this wrapper doesn't lead to an ad. If undefined, the video player may decide. */
  fallbackOnNoAd?: boolean;
  blockedCategories: Category[];
}

export interface DocumentRules extends UrlRules {
  /** Whether wrappers may refer to http URLs. */
  httpTags: boolean;
}

/**
 * Parses a VAST response. Empty text counts as an empty response.
 *
 * @param pause see `parseXml`
 * @throws VastError when the text is not a VAST 2.0 to 4.x document.
 */
export async function readDocument(
  text: string,
  rules: UrlRules,
  pause: () => Promise<void>,
): Promise<VastDocument> {
  if (text.trim() === '') return { errors: [], ads: [], repairs: 0 };
  const { root, repairs } = await parseXml(text, pause);
  if (root.name === 'VideoAdServingTemplate') {
    throw new VastError(vastErrorCodes.version, 'The document is VAST 1; expected 2.0 to 4.x.');
  }
  if (root.name !== 'VAST') {
    const name = root.name.slice(0, 60);
    throw new VastError(vastErrorCodes.schema, `The root element is <${name}>; expected <VAST>.`);
  }
  const version = shortText(root.attributes.get('version')?.trim());
  if (version !== undefined && !/^[2-4](\.\d{1,3}){0,2}$/.test(version)) {
    throw new VastError(
      vastErrorCodes.version,
      `The document is VAST ${version}; expected 2.0 to 4.x.`,
    );
  }
  const ads = findChildren(root, 'Ad');
  // A single ad with a sequence number is treated as stand-alone, because many servers number every ad.
  const hasPod = ads.filter((ad) => readSequence(ad) !== undefined).length > 1;
  return {
    errors: readErrors(root, rules),
    ads: ads.map((ad) => readEntry(ad, hasPod ? readSequence(ad) : undefined)),
    repairs,
    ...(version !== undefined && { version }),
  };
}

const readSequence = ({ attributes }: XmlElement): number | undefined =>
  parsePositive(attributes.get('sequence')?.trim());

function readEntry(ad: XmlElement, sequence: number | undefined): AdEntry {
  const { attributes } = ad;
  const id = shortText(attributes.get('id'));
  const adType = attributes.get('adtype')?.trim().toLowerCase();
  const [inline, wrapper] = [findChild(ad, 'InLine'), findChild(ad, 'Wrapper')];
  return {
    kind: inline ? 'inline' : wrapper ? 'wrapper' : 'invalid',
    body: inline ?? wrapper ?? ad,
    ...(id !== undefined && { id }),
    ...(sequence !== undefined && { sequence }),
    ...(adType !== undefined && { adType }),
  };
}

/**
 * Parses a wrapper.
 *
 * @param documentUrl the base URL for a relative tag
 * @throws VastError when the wrapper's tag cannot be requested.
 */
export function readWrapper(
  body: XmlElement,
  documentUrl: string | undefined,
  rules: DocumentRules,
): Wrapper {
  // `VASTAdTagURL` predates VAST 2 but is still in use.
  const tag =
    findChild(body, 'VASTAdTagURI')?.text ??
    findChild(findChild(body, 'VASTAdTagURL'), 'URL')?.text;
  const tagUrl = parseWebUrl(tag, documentUrl);
  if (tagUrl === undefined || !(rules.httpTags || isHttps(tagUrl))) {
    const received = JSON.stringify((tag ?? '').slice(0, 120));
    throw new VastError(
      vastErrorCodes.wrapper,
      `The wrapper refers to ${received}; expected an https URL.`,
    );
  }
  const linears = listCreatives(body).flatMap((creative) => findChild(creative, 'Linear') ?? []);
  const { attributes } = body;
  const fallbackOnNoAd = parseFlag(attributes.get('fallbackonnoad')?.trim());
  return {
    ...readLayer(body, linears, rules),
    tagUrl,
    followAdditionalWrappers: parseFlag(attributes.get('followadditionalwrappers')?.trim()) ?? true,
    allowMultipleAds: parseFlag(attributes.get('allowmultipleads')?.trim()) ?? false,
    ...(fallbackOnNoAd !== undefined && { fallbackOnNoAd }),
    blockedCategories: readCategories(findChildren(body, 'BlockedAdCategories')),
  };
}

/**
 * Returns the ads to try, in order: first stand-alone ads, because only one ad is shown, then pod ads by sequence
 * number.
 *
 * @param wrapper the wrapper that led to this document; absent for the first document
 */
export function listCandidates(ads: readonly AdEntry[], wrapper?: Wrapper): AdEntry[] {
  const followsWrappers = wrapper?.followAdditionalWrappers ?? true;
  const usableAds = ads.filter(({ kind }) => followsWrappers || kind !== 'wrapper');
  const standAloneAds = usableAds.filter((ad) => !isInPod(ad));
  if (wrapper?.allowMultipleAds === false) return standAloneAds.slice(0, 1);
  const podAds = usableAds.filter(isInPod);
  return [...standAloneAds, ...podAds.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))];
}

export const isInPod = ({ sequence }: AdEntry): boolean => sequence !== undefined;
