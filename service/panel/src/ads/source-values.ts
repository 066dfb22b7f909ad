type Fields = Record<string, unknown>;

const commonFields = ['id', 'name', 'kind', 'status'];
const sharedFields = ['placements', 'priority', 'child_directed'];
const externalFields = [
  ...sharedFields,
  'currency',
  'timeout_ms',
  'request_headers',
  'review',
  'allowed_domains',
  'impression_on',
  'tracking_window_s',
  'header_profile',
  'ads_txt',
];
const fieldsByKind: Record<string, readonly string[]> = {
  page: [...commonFields, ...sharedFields, 'adapter'],
  vast: [...commonFields, ...externalFields, 'tag_url', 'cpm_micros'],
  openrtb: [
    ...commonFields,
    ...externalFields,
    'endpoint_url',
    'ortb_version',
    'floor_micros',
    'publisher_id',
    'supply_chain',
    'ext',
  ],
};

/** Converts form values to a source. Parses text fields, and drops fields left over from a previously selected kind. */
export function toSource(values: Fields): Fields {
  const {
    request_headers: headers,
    ext,
    ads_txt: adsTxt,
    supply_chain: chain,
    ...plainFields
  } = values;
  const allowed = fieldsByKind[String(values['kind'])] ?? commonFields;
  const source = {
    ...plainFields,
    ...(adsTxt === undefined ? {} : { ads_txt: withoutBlankLines(adsTxt as Fields | null) }),
    ...(ext === undefined ? {} : { ext: typeof ext === 'string' ? parseObject(ext) : ext }),
    ...(chain === undefined
      ? {}
      : { supply_chain: typeof chain === 'string' ? parseSupplyChain(chain) : chain }),
    ...(typeof headers === 'string' && headers.trim() !== ''
      ? { request_headers: parseHeaders(headers) }
      : {}),
  };
  return Object.fromEntries(
    Object.entries(source).filter(([name]) => !knownFields.has(name) || allowed.includes(name)),
  );
}

const withoutBlankLines = (adsTxt: Fields | null): Fields | null => {
  const lines = adsTxt?.['lines'];
  if (!Array.isArray(lines)) return adsTxt;
  return { ...adsTxt, lines: lines.filter((line) => String(line).trim() !== '') };
};

const knownFields: ReadonlySet<string> = new Set(Object.values(fieldsByKind).flat());

/** Parses one `Name: value` per line; returns undefined if a line has no colon. A single `-` removes all headers. */
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

/** Formats a supply chain, one node per line. While the form is being edited, the value is already text. */
export const formatSupplyChain = (chain: unknown): unknown =>
  Array.isArray(chain)
    ? chain.map(({ asi, sid }: { asi: string; sid: string }) => `${asi}, ${sid}`).join('\n')
    : chain;

/** Parses one `domain, seller id` per line; returns null for empty text, and undefined if a line is invalid. */
export function parseSupplyChain(text: string): { asi: string; sid: string }[] | null | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const nodes = lines.map((line) => line.split(',').map((part) => part.trim()));
  if (nodes.some(([asi, sid, ...extra]) => !asi || !sid || extra.length > 0)) return undefined;
  return nodes.length === 0 ? null : nodes.map(([asi = '', sid = '']) => ({ asi, sid }));
}

/** Parses a JSON object; returns null for empty text, and undefined for anything else. */
export function parseObject(text: string): object | null | undefined {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Converts micros (millionths of a currency unit) to an amount for the form. */
export const fromMicros = (micros: unknown): number | '' =>
  typeof micros === 'number' ? micros / 1_000_000 : '';

export const toMicros = (text: string): number | null => {
  const amount = Number.parseFloat(text);
  return Number.isNaN(amount) ? null : Math.round(amount * 1_000_000);
};
