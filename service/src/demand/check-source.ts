import type { Source } from '@trueward/protocol/wire';
import { findTestSourceProblem, isTestSourceUrl } from './test-source.ts';
import { findUnknownMacros } from './vast/macros.ts';
import type { FieldError } from '../platform/domain-error.ts';
import { findUrlProblem, type UrlRule } from '../platform/guarded-agent.ts';
import { parseAdsTxtLine } from '../resource/ads-txt.ts';
import type { CheckSource } from '../resource/check-document.ts';
import type { Stored } from '../resource/resource.ts';

export interface SourceRule extends UrlRule {
  /** Whether the source belongs to the sandbox. */
  sandbox: boolean;
}

type Member = keyof Stored<'source'>;

const vastOnly: readonly Member[] = ['tag_url', 'cpm_micros'];
const openRtbOnly: readonly Member[] = [
  'endpoint_url',
  'ortb_version',
  'floor_micros',
  'ext',
  'publisher_id',
  'supply_chain',
];
const pageOnly: readonly Member[] = ['adapter', 'callback'];
/** For all sources that are not house ads. */
const shared: readonly Member[] = ['placements', 'priority', 'child_directed'];
const externalOnly: readonly Member[] = [
  'request_header_names',
  'currency',
  'timeout_ms',
  'review',
  'allowed_domains',
  'impression_on',
  'tracking_window_s',
  'header_profile',
  'ads_txt',
];

/** Members that only some kinds of sources may have. */
const rules: readonly { members: readonly Member[]; kinds: readonly Source['kind'][] }[] = [
  { members: vastOnly, kinds: ['vast'] },
  { members: openRtbOnly, kinds: ['openrtb'] },
  { members: externalOnly, kinds: ['vast', 'openrtb'] },
  { members: pageOnly, kinds: ['page'] },
  { members: shared, kinds: ['vast', 'openrtb', 'page'] },
];

/** In development mode, sandbox sources may use loopback URLs. */
export const createCheckSource =
  (development: boolean): CheckSource =>
  (source, environment) => {
    const sandbox = environment === 'sandbox';
    return checkSource(source, { development: development && sandbox, sandbox });
  };

/** Checks a source's members, including the URLs that the service will request. Returns the violations. */
export function checkSource(source: Stored<'source'>, rule: SourceRule): FieldError[] {
  const { kind, tag_url: tag, endpoint_url: endpoint } = source;
  const misplacedMembers = rules.flatMap(({ members, kinds }) =>
    kinds.includes(kind)
      ? []
      : members
          .filter((member) => source[member] !== undefined)
          .map((member) => createError(member, `is for ${listKinds(kinds)} sources only`)),
  );
  if (misplacedMembers.length > 0) return misplacedMembers;
  return [
    ...(kind === 'page' && source.adapter === undefined
      ? [createError('adapter', 'is required for this kind of source')]
      : []),
    ...(kind === 'vast' ? checkUrl('tag_url', tag, rule) : []),
    ...(kind === 'openrtb' ? checkUrl('endpoint_url', endpoint, rule) : []),
    ...checkSettings(source),
  ];
}

const listKinds = (kinds: readonly string[]): string =>
  [kinds.slice(0, -1).join(', '), kinds.at(-1)].filter(Boolean).join(' and ');

const createError = (member: Member, message: string): FieldError => ({
  // In the API, the member for headers is `request_headers`.
  pointer: member === 'request_header_names' ? '/request_headers' : `/${member}`,
  message,
});

function checkUrl(
  member: 'tag_url' | 'endpoint_url',
  url: string | undefined,
  rule: SourceRule,
): FieldError[] {
  if (url === undefined) return [createError(member, 'is required for this kind of source')];
  const problem =
    findUrlProblem(url, rule) ??
    findTestProblem(member, url, rule) ??
    findGoogleProblem(url) ??
    (member === 'tag_url' ? findMacroProblem(url) : findBidderMacroProblem(url));
  return problem === undefined ? [] : [createError(member, problem)];
}

function findTestProblem(
  member: 'tag_url' | 'endpoint_url',
  url: string,
  { sandbox }: SourceRule,
): string | undefined {
  if (!isTestSourceUrl(url)) return undefined;
  if (!sandbox) return 'is the built-in test source, which is for the sandbox only';
  return findTestSourceProblem(member === 'tag_url' ? 'vast' : 'openrtb', url);
}

/** Domains from which Google serves ads. */
const googleHosts = [
  'doubleclick.net',
  'googlesyndication.com',
  'googleadservices.com',
  '2mdn.net',
  'adservice.google.com',
  'dai.google.com',
];

function findGoogleProblem(url: string): string | undefined {
  const host = new URL(url).hostname.replace(/\.$/, '');
  if (!googleHosts.some((domain) => host === domain || host.endsWith(`.${domain}`)))
    return undefined;
  return (
    'is a Google ad tag, which must not be requested by a server: Google’s terms require its own IMA SDK, or the ' +
    'Ad Placement API for web games, in the player’s page'
  );
}

/** Matches other ad servers' macros: `%%NAME%%`, `${NAME}` and `{{name}}`. */
const unsupportedMacro = /%%\w+%%|\$\{\w+\}|\{\{?\w+\}?\}/;

function findMacroProblem(url: string): string | undefined {
  const [unsupported] = unsupportedMacro.exec(url) ?? [];
  const [unknown] = findUnknownMacros(url).map((name) => `[${name}]`);
  const macro = unsupported ?? unknown;
  if (macro === undefined) return undefined;
  return `has the macro ${macro}, which would be sent unchanged: use a VAST 4 macro, such as [CACHEBUSTING], or the value itself`;
}

function findBidderMacroProblem(url: string): string | undefined {
  const [macro] = unsupportedMacro.exec(url) ?? /\[[A-Z_]{2,}\]/.exec(url) ?? [];
  if (macro === undefined) return undefined;
  return `has the macro ${macro}, which would be sent unchanged: bidders receive such values in the bid request`;
}

/** Headers that describe the connection or the body. Overriding them would break the request. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const maxExtBytes = 16_384;
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

function checkSettings(source: Stored<'source'>): FieldError[] {
  const { currency, ext, review, allowed_domains: domains = [] } = source;
  const headers = (source.request_header_names ?? []).map((name) => name.toLowerCase());
  const reservedHeader = headers.find((name) => reservedHeaders.has(name));
  const repeatedHeader = headers.find((name, index) => headers.indexOf(name) !== index);
  const extBytes = ext === undefined ? 0 : Buffer.byteLength(JSON.stringify(ext));
  return [
    ...(currency !== undefined && !currencies.has(currency)
      ? [createError('currency', 'is not an ISO 4217 currency code, such as USD')]
      : []),
    ...(extBytes > maxExtBytes
      ? [createError('ext', `has ${extBytes} bytes of JSON; the maximum is ${maxExtBytes}`)]
      : []),
    ...(reservedHeader === undefined
      ? []
      : [
          createError(
            'request_header_names',
            `must not contain ${reservedHeader}, which is set by the service`,
          ),
        ]),
    ...(repeatedHeader === undefined
      ? []
      : [createError('request_header_names', `contains ${repeatedHeader} more than once`)]),
    ...(review === 'automatic' && domains.length === 0
      ? [
          createError(
            'allowed_domains',
            'must name the advertisers whose ads are approved automatically',
          ),
        ]
      : []),
    ...(source.ads_txt?.lines ?? []).flatMap((line, index) =>
      parseAdsTxtLine(line) !== undefined
        ? []
        : [
            {
              pointer: `/ads_txt/lines/${index}`,
              message:
                'must be an ads.txt record, such as exchange.example, 1234, RESELLER, f08c47fec0942fa0',
            },
          ],
    ),
    ...(source.supply_chain ?? []).flatMap(({ asi, sid }, index, nodes) => {
      const problem = findNodeProblem(asi, () =>
        nodes.slice(0, index).some((other) => other.asi === asi && other.sid === sid),
      );
      return problem === undefined ? [] : [{ pointer: `/supply_chain/${index}`, message: problem }];
    }),
  ];
}

/** @param isRepeated returns whether an earlier node is identical */
function findNodeProblem(asi: string, isRepeated: () => boolean): string | undefined {
  if (asi !== asi.toLowerCase() || !asi.includes('.') || /^[\d.]+$/.test(asi))
    return 'must have an `asi` that is a domain in lowercase, such as exchange.example';
  return isRepeated() ? 'is already in the chain' : undefined;
}
