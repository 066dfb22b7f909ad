/** The API path of each react-admin resource. */
const paths: Readonly<Record<string, string>> = {
  placements: '/v1/placements',
  'house-ads': '/v1/house-ads',
  creatives: '/v1/creatives',
  advertisers: '/v1/advertisers',
  sources: '/v1/sources',
  policies: '/v1/policies',
  'ad-rules': '/v1/ad-rules',
  'kill-switches': '/v1/kill-switches',
  webhooks: '/v1/webhooks',
  keys: '/v1/keys',
  users: '/panel/api/users',
};

/** Returns the path of a resource or one of its objects. */
export function getPath(resource: string, id?: string | number): string {
  const path = paths[resource];
  if (path === undefined) throw new Error(`Unknown resource ${resource}.`);
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
}

/** Paths for unbounded lists, which are paginated with cursors, newest first. */
const streams: Readonly<Record<string, (filter: Record<string, string>) => string>> = {
  'audit-entries': ({ target_id: target, actor, action, from, to }) =>
    query('/v1/audit-entries', { target_id: target, actor, action, from, to }),
  deliveries: ({ webhook_id: webhook, state }) =>
    query(`/v1/webhooks/${encodeURIComponent(webhook ?? '')}/deliveries`, { state }),
  decisions: ({ player, placement, state, from, to }) =>
    query('/panel/api/decisions', { player, placement, state, from, to }),
};

/** Returns the path of an unbounded list with its filter; undefined for other resources. */
export const streamPath = (resource: string, filter: Record<string, string>): string | undefined =>
  streams[resource]?.(filter);

interface ListOptions {
  /** `q` is the text to search for. All other filters are field values, by field path. */
  filter?: Record<string, unknown>;
  ids?: readonly (string | number)[];
  sort?: { field: string; order: 'ASC' | 'DESC' } | undefined;
  limit: number;
  offset: number;
}

/** Returns the path of a numbered page; undefined if the service doesn't paginate this resource by number. */
export function listPath(
  resource: string,
  { filter: { q, ...values } = {}, ids, sort, limit, offset }: ListOptions,
): string | undefined {
  if (!getPath(resource).startsWith('/v1/') || resource === 'keys') return undefined;
  return query(`/panel/api/${resource}`, {
    q: q as string | undefined,
    where: query('', values as Record<string, string>).slice(1),
    ids: ids?.join(','),
    sort: sort?.field,
    order: sort?.order.toLowerCase(),
    limit,
    offset,
  });
}

/** Appends query parameters, omitting those without a value. */
export function query(path: string, parameters: Record<string, string | number | undefined>) {
  const nonEmpty = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const pairs = nonEmpty.map(([name, value]) => [name, String(value)]);
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
}
