/** The paths of react-admin's resources in the API. */
const paths: Readonly<Record<string, string>> = {
  placements: '/v1/placements',
  'house-ads': '/v1/house-ads',
  creatives: '/v1/creatives',
  advertisers: '/v1/advertisers',
  sources: '/v1/sources',
  policies: '/v1/policies',
  'kill-switches': '/v1/kill-switches',
  webhooks: '/v1/webhooks',
  keys: '/v1/keys',
  users: '/panel/api/users',
};

/** The path of a resource or of one of its objects. */
export function pathOf(resource: string, id?: string | number): string {
  const path = paths[resource];
  if (path === undefined) throw new Error(`Unknown resource ${resource}.`);
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
}

/** Unbounded lists, which are read with cursors, newest first. */
const streams: Readonly<Record<string, (filter: Record<string, string>) => string>> = {
  'audit-entries': ({ target_id: target, actor, action }) =>
    query('/v1/audit-entries', { target_id: target, actor, action }),
  deliveries: ({ webhook_id: webhook, state }) =>
    query(`/v1/webhooks/${encodeURIComponent(webhook ?? '')}/deliveries`, { state }),
  decisions: () => '/panel/api/decisions',
};

/** The path of such a list, with its filter. */
export const streamPath = (resource: string, filter: Record<string, string>): string | undefined =>
  streams[resource]?.(filter);

interface ListOptions {
  /** `q` is a search text; every other filter is a field's value, by path. */
  filter?: Record<string, unknown>;
  ids?: readonly (string | number)[];
  sort?: { field: string; order: 'ASC' | 'DESC' } | undefined;
  limit: number;
  offset: number;
}

/** The path of a numbered page; undefined when the service has none for this resource. */
export function listPath(
  resource: string,
  { filter: { q, ...values } = {}, ids, sort, limit, offset }: ListOptions,
): string | undefined {
  if (!pathOf(resource).startsWith('/v1/') || resource === 'keys') return undefined;
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

/** Appends the parameters that have a value. */
export function query(path: string, parameters: Record<string, string | number | undefined>) {
  const given = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
}
