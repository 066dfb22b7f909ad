import { isHttps, parseWebUrl } from '../web-url.ts';
import {
  parseDuration,
  parseOffset,
  parsePositive,
  shortText,
  type TimeOffset,
  withoutUndefined,
} from './values.ts';
import { findChild, findChildren, type XmlElement } from './xml.ts';

/** Which URLs may use http. Click-through URLs may always use http, because the player's browser opens them. */
export interface UrlRules {
  /** Media, icons and captions. */
  httpMedia: boolean;
  httpTrackers: boolean;
}

/** Tracker events: the values of a `Tracking` element's `event` attribute, and elements such as `Impression`. */
export const trackerEvents = [
  'impression',
  'viewable',
  'notViewable',
  'viewUndetermined',
  'verificationNotExecuted',
  'loaded',
  'creativeView',
  'start',
  'firstQuartile',
  'midpoint',
  'thirdQuartile',
  'complete',
  'progress',
  'mute',
  'unmute',
  'pause',
  'resume',
  'fullscreen',
  'exitFullscreen',
  'playerExpand',
  'playerCollapse',
  'skip',
  'closeLinear',
  'close',
  'click',
] as const;

export type TrackerEvent = (typeof trackerEvents)[number];

export interface Tracker {
  event: TrackerEvent;
  /** With unexpanded macros. */
  url: string;
  /** When a `progress` tracker is due; absent for other events. */
  offset?: TimeOffset;
}

/** An image that must be shown with the ad, such as the AdChoices icon. */
export interface Icon {
  /** For example, `AdChoices`. */
  program?: string;
  url: string;
  type?: string;
  width?: number;
  height?: number;
  /** `left`, `right`, or pixels from the left. */
  x?: string;
  /** `top`, `bottom`, or pixels from the top. */
  y?: string;
  fromMs?: number;
  durationMs?: number;
  altText?: string;
  clickThrough?: string;
  clickTrackers: string[];
  viewTrackers: string[];
}

/** One level of a wrapper chain: a wrapper, or the InLine ad at the end. */
export interface Layer {
  adSystem?: string;
  /** Error URLs, with unexpanded macros. */
  errors: string[];
  trackers: Tracker[];
  icons: Icon[];
  clickThrough?: string;
  skip?: TimeOffset;
  /** How long the response may be cached, in seconds. */
  expiresInS?: number;
  /** Dropped URLs with the reason for each, for operators. */
  dropped: string[];
}

/** Maximum numbers of error URLs, icons and reported dropped URLs per level. Real ads have fewer than ten of each. */
const maxErrors = 5;
const maxIcons = 8;
const maxDropped = 10;

/**
 * Parses one level of a wrapper chain.
 *
 * @param body the `InLine` or `Wrapper` element
 * @param linears the `Linear` elements to read: for a wrapper, all of them; for an InLine ad, only the one that is
 * played
 */
export function readLayer(
  body: XmlElement,
  linears: readonly XmlElement[],
  rules: UrlRules,
): Layer {
  const dropped: string[] = [];
  const urlReader = createUrlReader(rules, dropped);
  const clicks = linears.map((linear) => findChild(linear, 'VideoClicks'));
  const clickThroughs = clicks.flatMap((element) => findChildren(element, 'ClickThrough'));
  const clickThrough = clickThroughs.flatMap(({ text }) => urlReader.page(text) ?? [])[0];
  const adSystem = shortText(findChild(body, 'AdSystem')?.text);
  const skip = linears
    .map(({ attributes }) => parseOffset(attributes.get('skipoffset')?.trim()))
    .find((offset) => offset !== undefined);
  const expiresInS = parsePositive(findChild(body, 'Expires')?.text);
  return {
    errors: readErrors(body, rules, dropped),
    trackers: [
      ...readTrackers('impression', findChildren(body, 'Impression'), urlReader),
      ...readViewable(findChild(body, 'ViewableImpression'), urlReader),
      ...findVerifications(body).flatMap((verification) => readTracking(verification, urlReader)),
      ...linears.flatMap((linear) => readTracking(linear, urlReader)),
      ...clicks.flatMap((element) =>
        readTrackers('click', findChildren(element, 'ClickTracking'), urlReader),
      ),
    ],
    icons: linears
      .flatMap((linear) => findChildren(findChild(linear, 'Icons'), 'Icon'))
      .flatMap((icon) => readIcon(icon, urlReader) ?? [])
      .slice(0, maxIcons),
    dropped: dropped.slice(0, maxDropped),
    ...(adSystem !== undefined && { adSystem }),
    ...(clickThrough !== undefined && { clickThrough }),
    ...(skip !== undefined && { skip }),
    ...(expiresInS !== undefined && { expiresInS }),
  };
}

/** Returns the `Error` URLs from a document, wrapper or InLine ad. */
export function readErrors(element: XmlElement, rules: UrlRules, dropped: string[] = []): string[] {
  const urlReader = createUrlReader(rules, dropped);
  return findChildren(element, 'Error')
    .flatMap(({ text }) => urlReader.tracker(text) ?? [])
    .slice(0, maxErrors);
}

export interface UrlReader {
  tracker(text: string | undefined): string | undefined;
  media(text: string | undefined): string | undefined;
  page(text: string | undefined): string | undefined;
}

/** Creates a reader that applies the rules. It appends dropped URLs to `dropped`. */
export function createUrlReader(rules: UrlRules, dropped: string[]): UrlReader {
  const read = (kind: string, httpAllowed: boolean) => (text: string | undefined) => {
    // An empty element means that there is no URL.
    if (!text) return undefined;
    const url = parseWebUrl(text);
    if (url !== undefined && (httpAllowed || isHttps(url))) return url;
    const problem = url === undefined ? 'is not a web URL' : 'is not https';
    dropped.push(`${kind} ${JSON.stringify(text.slice(0, 120))} ${problem}`);
    return undefined;
  };
  return {
    tracker: read('tracker', rules.httpTrackers),
    media: read('media', rules.httpMedia),
    page: read('page', true),
  };
}

const readTrackers = (
  event: TrackerEvent,
  elements: readonly XmlElement[],
  urlReader: UrlReader,
): Tracker[] =>
  elements.flatMap(({ text }) => {
    const tracker = urlReader.tracker(text);
    return tracker === undefined ? [] : { event, url: tracker };
  });

const isTrackerEvent = (name: string | undefined): name is TrackerEvent =>
  (trackerEvents as readonly (string | undefined)[]).includes(name);

/**
 * Reads trackers. Skips unknown events, because every VAST version defines some events that our video player can't
 * produce.
 */
function readTracking(parent: XmlElement, urlReader: UrlReader): Tracker[] {
  return findChildren(findChild(parent, 'TrackingEvents'), 'Tracking').flatMap((element) => {
    const event = element.attributes.get('event')?.trim();
    if (!isTrackerEvent(event)) return [];
    const trackers = readTrackers(event, [element], urlReader);
    if (event !== 'progress') return trackers;
    const offset = parseOffset(element.attributes.get('offset')?.trim());
    return offset === undefined ? [] : trackers.map((tracker) => ({ ...tracker, offset }));
  });
}

const readViewable = (element: XmlElement | undefined, urlReader: UrlReader): Tracker[] => [
  ...readTrackers('viewable', findChildren(element, 'Viewable'), urlReader),
  ...readTrackers('notViewable', findChildren(element, 'NotViewable'), urlReader),
  ...readTrackers('viewUndetermined', findChildren(element, 'ViewUndetermined'), urlReader),
];

/** Finds `Verification` elements. Before VAST 4, `AdVerifications` was an extension. */
function findVerifications(body: XmlElement): readonly XmlElement[] {
  const extensions = findChildren(findChild(body, 'Extensions'), 'Extension');
  return [body, ...extensions].flatMap((parent) =>
    findChildren(findChild(parent, 'AdVerifications'), 'Verification'),
  );
}

function readIcon(icon: XmlElement, urlReader: UrlReader): Icon | undefined {
  const resource = findChild(icon, 'StaticResource');
  const image = urlReader.media(resource?.text);
  if (image === undefined) return undefined;
  const clicks = findChild(icon, 'IconClicks');
  const { attributes } = icon;
  return withoutUndefined({
    program: shortText(attributes.get('program')),
    url: image,
    type: shortText(resource?.attributes.get('creativetype')),
    width: parsePositive(attributes.get('width')),
    height: parsePositive(attributes.get('height')),
    x: readPosition(attributes.get('xposition'), ['left', 'right']),
    y: readPosition(attributes.get('yposition'), ['top', 'bottom']),
    fromMs: parseDuration(attributes.get('offset')),
    durationMs: parseDuration(attributes.get('duration')),
    altText: shortText(attributes.get('alttext')),
    clickThrough: urlReader.page(findChild(clicks, 'IconClickThrough')?.text),
    clickTrackers: readUrls(findChildren(clicks, 'IconClickTracking'), urlReader),
    viewTrackers: readUrls(findChildren(icon, 'IconViewTracking'), urlReader),
  });
}

const readUrls = (elements: readonly XmlElement[], urlReader: UrlReader): string[] =>
  elements.flatMap(({ text }) => urlReader.tracker(text) ?? []);

const readPosition = (text: string | undefined, sides: readonly string[]): string | undefined =>
  text !== undefined && (sides.includes(text) || /^\d{1,4}$/.test(text)) ? text : undefined;
