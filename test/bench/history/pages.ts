import { percentile } from '../outbox/statistics.ts';

const hourMs = 3_600_000;
const formatHour = (ms: number): string => new Date(Math.floor(ms / hourMs) * hourMs).toISOString();

/** The paths of a quarter's reports. */
export function listReports(nowMs: number): { byPlacement: string; csv: string } {
  const quarter = `from=${formatHour(nowMs - 90 * 24 * hourMs)}&to=${formatHour(nowMs)}`;
  return {
    byPlacement: `/v1/reports?${quarter}&group_by=placement`,
    csv: `/v1/reports?${quarter}&group_by=placement,creative&format=csv`,
  };
}

/** The pages that are measured: their paths by name. */
export const listPages = (webhookId: string, nowMs: number): Record<string, string> => ({
  'a webhook’s deliveries': `/v1/webhooks/${webhookId}/deliveries?limit=100`,
  'its failed deliveries': `/v1/webhooks/${webhookId}/deliveries?state=failed&limit=100`,
  'its pending deliveries, none': `/v1/webhooks/${webhookId}/deliveries?state=pending&limit=100`,
  'webhook events': '/v1/webhook-events?limit=100',
  'webhook events of a rare type': '/v1/webhook-events?type=creative.review_updated&limit=100',
  'webhook events of a type that has none': '/v1/webhook-events?type=policy.blocked&limit=100',
  decisions: '/panel/api/decisions?limit=100',
  'decisions of a rare placement': '/panel/api/decisions?placement=rare&limit=100',
  'decisions in a state that none has': '/panel/api/decisions?state=denied&limit=100',
  'a player’s decisions': '/panel/api/decisions?player=exported&limit=100',
  'audit records': '/v1/audit-entries?limit=100',
  'a quarter’s report by day and placement': listReports(nowMs).byPlacement,
});

/** How often an open page of the panel reads what, in milliseconds. */
export const listPolls = (webhookId: string, nowMs: number): readonly [string, number][] => [
  // The overview.
  ['/v1/webhook-health', 5_000],
  [`/v1/webhooks/${webhookId}/deliveries?state=failed&limit=5`, 10_000],
  ['/v1/mistakes', 60_000],
  [listReports(nowMs).byPlacement, 60_000],
  // A webhook's deliveries.
  [`/v1/webhooks/${webhookId}/deliveries?limit=20`, 5_000],
  // The inspector.
  ['/panel/api/decisions?limit=25', 2_000],
  ['/panel/api/decisions?placement=rare&limit=25', 2_000],
];

/** How long a page takes. */
export interface PageTimes {
  page: string;
  medianMs: number;
  slowestMs: number;
}

/** Reads each page twenty times, after a first time that fills caches. */
export async function measurePages(
  paths: Readonly<Record<string, string>>,
  read: (path: string) => Promise<unknown>,
): Promise<PageTimes[]> {
  const rows: PageTimes[] = [];
  for (const [page, path] of Object.entries(paths)) {
    await read(path);
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const startedAtMs = performance.now();
      await read(path);
      times.push(performance.now() - startedAtMs);
    }
    rows.push({ page, medianMs: percentile(times, 0.5) ?? NaN, slowestMs: Math.max(...times) });
  }
  return rows;
}
