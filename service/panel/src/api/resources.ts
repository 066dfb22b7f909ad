/** Where the service keeps what react-admin calls a resource. */
export const paths: Readonly<Record<string, string>> = {
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

/** Lists that grow without end: they are read page by page, and only newest first. */
const streams: Readonly<Record<string, (filter: Record<string, string>) => string>> = {
  'audit-entries': ({ target_id: target }) => query('/v1/audit-entries', { target_id: target }),
  deliveries: ({ webhook_id: webhook, state }) =>
    query(`/v1/webhooks/${encodeURIComponent(webhook ?? '')}/deliveries`, { state }),
  decisions: () => '/panel/api/decisions',
};

/** The address of such a list, with its filter. */
export const streamPath = (resource: string, filter: Record<string, string>): string | undefined =>
  streams[resource]?.(filter);

/** An address with those parameters that have a value. */
export function query(path: string, parameters: Record<string, string | number | undefined>) {
  const given = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
}
