type Members = Record<string, unknown>;

const common = ['id', 'name', 'kind', 'status'];
const outside = [
  'placements',
  'priority',
  'currency',
  'timeout_ms',
  'request_headers',
  'review',
  'allowed_domains',
  'impression_on',
  'tracking_window_s',
  'child_directed',
  'header_profile',
  'ads_txt',
];
const membersOf: Record<string, readonly string[]> = {
  vast: [...common, ...outside, 'tag_url', 'cpm_micros'],
  openrtb: [
    ...common,
    ...outside,
    'endpoint_url',
    'ortb_version',
    'floor_micros',
    'publisher_id',
    'supply_chain',
    'ext',
  ],
};

/**
 * A source from the values of its form: texts become objects, and members that are left from another kind, which was
 * chosen before, are dropped.
 */
export function toSource(values: Members): Members {
  const { request_headers: headers, ext, ads_txt: adsTxt, supply_chain: chain, ...rest } = values;
  const members = membersOf[String(values['kind'])] ?? common;
  const source = {
    ...rest,
    ...(adsTxt === undefined ? {} : { ads_txt: withoutBlankLines(adsTxt as Members | null) }),
    ...(ext === undefined ? {} : { ext: typeof ext === 'string' ? parseObject(ext) : ext }),
    ...(chain === undefined
      ? {}
      : { supply_chain: typeof chain === 'string' ? parseSupplyChain(chain) : chain }),
    ...(typeof headers === 'string' && headers.trim() !== ''
      ? { request_headers: parseHeaders(headers) }
      : {}),
  };
  return Object.fromEntries(
    Object.entries(source).filter(([name]) => !optional.has(name) || members.includes(name)),
  );
}

const withoutBlankLines = (adsTxt: Members | null): Members | null => {
  const lines = adsTxt?.['lines'];
  if (!Array.isArray(lines)) return adsTxt;
  return { ...adsTxt, lines: lines.filter((line) => String(line).trim() !== '') };
};

const optional: ReadonlySet<string> = new Set(Object.values(membersOf).flat());

/** `Name: value` in each line; undefined if a line has no colon. `-` alone removes all headers. */
export function parseHeaders(text: string): Record<string, string> | undefined {
  if (text.trim() === '-') return {};
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.some((line) => !line.includes(':'))) return undefined;
  return Object.fromEntries(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

/** The nodes of a supply chain, one in each line. While the form is edited, the value is the text. */
export const formatSupplyChain = (chain: unknown): unknown =>
  Array.isArray(chain)
    ? chain.map(({ asi, sid }: { asi: string; sid: string }) => `${asi}, ${sid}`).join('\n')
    : chain;

/** `domain, seller id` in each line; null for an empty text, undefined if a line is something else. */
export function parseSupplyChain(text: string): { asi: string; sid: string }[] | null | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const nodes = lines.map((line) => line.split(',').map((part) => part.trim()));
  if (nodes.some(([asi, sid, ...more]) => !asi || !sid || more.length > 0)) return undefined;
  return nodes.length === 0 ? null : nodes.map(([asi = '', sid = '']) => ({ asi, sid }));
}

/** The JSON object in a text; null for an empty text, undefined for anything else. */
export function parseObject(text: string): object | null | undefined {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Money in a form: micros are millionths of the currency. */
export const fromMicros = (micros: unknown): number | '' =>
  typeof micros === 'number' ? micros / 1_000_000 : '';

export const toMicros = (text: string): number | null => {
  const amount = Number.parseFloat(text);
  return Number.isNaN(amount) ? null : Math.round(amount * 1_000_000);
};
