import type { AdsOptions, ConsentOptions } from '../index.ts';
import { copyOptions } from '../options.ts';
import { attempt } from '../platform/guard.ts';
import { warnOnce } from '../platform/warn.ts';

/** Options whose values are taken verbatim from attributes. For example, `data-user-ref` sets `userRef`. */
const verbatimOptions = ['serviceUrl', 'userRef', 'userToken', 'customData', 'locale'] as const;
/** Options whose values are written as JSON. */
const jsonOptions = ['portalRewards', 'portalPlacements'] as const;
/** The ad SDKs that `data-page-ads` may name. Others need an adapter, which only code can pass. */
const pageAdNames = ['google_h5'] as const;
/** Options that are true if the attribute is present and not `false` or `0`. */
const flags = ['childDirected', 'debug', 'keepRunning', 'muted'] as const;

const isSet = (value: string | undefined): boolean =>
  value !== undefined && !/^\s*(?:false|0|no|off)\s*$/i.test(value);

/**
 * Returns the options that a script tag’s attributes set. A value that can’t be used is left out, and the developer gets
 * a warning. `createAds()` reports a missing or malformed key and URL, without which there are no ads.
 */
export function readAttributes(attributes: Partial<Record<string, string>>): AdsOptions {
  const dataset = copyOptions(attributes);
  const { key, portal } = dataset;
  const present = <Name extends string>(names: readonly Name[]): Name[] =>
    names.filter((name) => dataset[name] !== undefined);
  const consent = readConsent(dataset['consent']);
  return {
    publishableKey: key,
    // The attribute alone means that the page may belong to any portal.
    ...(portal !== undefined && { portal: isSet(portal) && (portal.trim() || 'auto') }),
    ...Object.fromEntries(
      present(jsonOptions).flatMap((name) => {
        const value = readJson(name, dataset[name] ?? '');
        return value ? [[name, value]] : [];
      }),
    ),
    ...(dataset['pageAds'] !== undefined && { pageAds: readPageAds(dataset['pageAds']) }),
    ...Object.fromEntries(present(verbatimOptions).map((name) => [name, dataset[name]])),
    ...(consent && { consent }),
    // Google’s attributes, which a page for children may have copied to this tag.
    ...([dataset['tagForChildDirectedTreatment'], dataset['tagForUnderAgeOfConsent']].some(
      isSet,
    ) && {
      childDirected: true,
    }),
    ...Object.fromEntries(present(flags).map((name) => [name, isSet(dataset[name])])),
  } as AdsOptions;
}

/** Nothing is taken for consent that doesn’t say so, so that anything else is restricted. */
function readConsent(text: string | undefined): ConsentOptions | 'page' | undefined {
  if (text === undefined) return undefined;
  const status = text.trim().toLowerCase();
  if (status === 'page') return status;
  if (status === 'granted' || status === 'denied' || status === 'unknown') return { status };
  warnOnce(
    `the attribute \`data-consent\` must be \`page\`, \`granted\`, \`denied\` or \`unknown\`, so ads are restricted; got ${quote(text)}.`,
  );
  return undefined;
}

/** Names are separated by spaces or commas. Those that can't be used are left out. */
function readPageAds(text: string): AdsOptions['pageAds'] {
  const given = text.split(/[\s,]+/).filter(Boolean);
  const names = pageAdNames.filter((name) => given.includes(name));
  if (
    given.length === 0 ||
    given.some((name) => !(pageAdNames as readonly string[]).includes(name))
  )
    warnOnce(
      `the attribute \`data-page-ads\` must list ad SDKs (${pageAdNames.join(', ')}), so anything else is left out; got ${quote(text)}. Pass your own adapters to createAds().`,
    );
  return names.length > 0 ? names : undefined;
}

function readJson(name: string, text: string): object | undefined {
  const value = attempt(() => JSON.parse(text) as unknown);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const attribute = `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  warnOnce(
    `the attribute \`${attribute}\` must be a JSON object, such as ${attribute}='{"revive": …}', so it is left out; got ${quote(text)}.`,
  );
  return undefined;
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 40));
