import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent, Decision, EventBatchResult, Report } from '@trueward/protocol/wire';
import { Agent } from 'undici';
import { createDemand } from '../demo-demand.ts';
import type { Database } from '../../src/store/database.ts';
import { send } from '../faults/send.ts';
import { type Advertiser, domain, mediaMs, trackedEvents, startAdvertiser } from './advertiser.ts';
import { openKillStore, type Processes, startProcesses } from './processes.ts';

interface DemandKillOptions {
  /**
   * The number of external ads to watch to completion. Each ad produces one impression and fires its trackers and
   * notices.
   */
  impressions: number;
  /** The number of concurrent players. */
  players: number;
  /** Default: the embedded database, which supports only one process. */
  databaseUrl?: string;
  onProgress?(text: string): void;
}

/** Violated guarantees. All lists should be empty. */
interface Violations {
  /** Acknowledged rewards that are missing from the database or from the received webhooks. */
  lostRewards: string[];
  /** Decisions whose ad was watched but whose tracker requests are missing, pending or late. */
  unrecorded: string[];
  /** Trackers, except billing notices, that were fired more than once. */
  repeatedTrackers: string[];
  /** Billing notices without a successful response. */
  missingBurls: string[];
  /**
   * Trackers that are recorded as sent but were not received, and report counts that differ from the number of records.
   */
  inconsistent: string[];
  /** Unexpected responses from the service. */
  unexpectedResponses: string[];
}

interface DemandKillReport extends Violations {
  watched: number;
  kills: number;
  /** The number of recorded tracker requests by state and reason. */
  trackerRequests: Record<string, number>;
}

/** The time allowed for retries, for webhooks to arrive, and for killed processes' leases to expire. */
const settleMs = 180_000;

/** Kills random service processes while players watch external ads. Then checks all trackers and rewards. */
export async function runDemandKills(options: DemandKillOptions): Promise<DemandKillReport> {
  const { impressions, databaseUrl, onProgress = () => undefined } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'trueward-demand-kills-'));
  const advertiser = await startAdvertiser();
  const store = { dataDir, databaseUrl };
  // The limit is high because responses are slow on a busy machine.
  const processes = await startProcesses(store, { DEMAND_BUDGET_MS: '5000' });
  try {
    await addSource(processes.first, advertiser);
    const watch = startWatching(processes, options);
    let kills = 0;
    while (!watch.isFinished()) {
      await Promise.race([sleep(500 + Math.random() * 2_000), watch.finished]);
      if (watch.isFinished()) break;
      await processes.killRandomProcess();
      kills += 1;
      onProgress(`kill ${kills}: ${watch.earnedIds.size} of ${impressions} ads watched`);
    }
    await watch.finished;
    const deadlineMs = performance.now() + settleMs;
    await waitUntilSettled(processes, advertiser, watch.earnedIds, deadlineMs);
    await processes.stop();
    const database = await openKillStore(store);
    try {
      const result = await findViolations(database, advertiser, watch.earnedIds);
      return {
        ...result,
        unexpectedResponses: watch.unexpectedResponses,
        watched: watch.earnedIds.size,
        kills,
      };
    } finally {
      await database.close();
    }
  } finally {
    await processes.stop();
    await advertiser.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Adds the bidder's source and the webhook. Resolves when the bidder's creative is approved. */
async function addSource(
  service: Processes['first'],
  { bidUrl, webhookUrl }: Advertiser,
): Promise<void> {
  const { call, waitForApproval } = createDemand(service);
  await call('POST', 'advertisers', { name: 'Shop', domain, categories: [] });
  const source = await call<{ id: string }>('POST', 'sources', {
    name: 'Bidder',
    kind: 'openrtb',
    endpoint_url: bidUrl,
    floor_micros: 1_000_000,
    placements: ['revive'],
    priority: 1,
    timeout_ms: 5_000,
    review: 'automatic',
    allowed_domains: [domain],
  });
  await call('POST', 'webhooks', { url: webhookUrl, events: ['decision.rewarded'] });
  await call('POST', 'decisions', { placement: 'revive', user_ref: 'first', formats: ['video'] });
  await waitForApproval(source.id);
}

interface WatchRun {
  /** The decisions whose reward the service has acknowledged. */
  earnedIds: Set<string>;
  unexpectedResponses: string[];
  finished: Promise<unknown>;
  isFinished(): boolean;
}

/** How long a player retries a request. */
const retryForMs = 60_000;

/** Starts players that watch external ads to the end. They retry every request until it succeeds. */
function startWatching(
  processes: Processes,
  { impressions, players }: DemandKillOptions,
): WatchRun {
  const agent = new Agent({ connections: players });
  const earnedIds = new Set<string>();
  const unexpectedResponses: string[] = [];
  let startedAds = 0;
  const key = processes.first.keys.sandbox.publishable;

  const post = async <T>(path: string, body: object): Promise<T> => {
    const deadlineMs = performance.now() + retryForMs;
    while (performance.now() < deadlineMs) {
      const url = processes.urls[Math.floor(Math.random() * processes.urls.length)] ?? '';
      const response = await send(agent, url + path, key, JSON.stringify(body));
      if (response?.status === 200) return JSON.parse(response.text) as T;
      if (response && response.status !== 503)
        unexpectedResponses.push(`${path}: ${response.status} ${response.text}`);
      await sleep(100 + Math.random() * 200);
    }
    throw new Error(`${path} did not succeed within ${retryForMs} ms.`);
  };
  const decide = async (): Promise<Decision & { token: string }> => {
    for (;;) {
      const decision = await post<Decision & { token: string }>('/v1/decisions', {
        placement: 'revive',
        user_ref: randomUUID(),
        formats: ['video', 'image'],
      });
      // A process that has just started may serve a house ad, so the player requests another ad.
      if (decision.creative?.advertiser !== undefined) return decision;
    }
  };
  const watchAd = async (): Promise<void> => {
    const decision = await decide();
    const report = async (...types: AdEvent['type'][]): Promise<EventBatchResult> => {
      const sent_at = new Date().toISOString();
      const events = types.map((type) => ({
        id: randomUUID(),
        type,
        decision_id: decision.id,
        token: decision.token,
        occurred_at: sent_at,
        ...(type === 'impression' && { visible: { ratio: 1, ms: 2_000 } }),
        ...(type === 'complete' && { watched_ms: mediaMs }),
      }));
      const result = await post<EventBatchResult>('/v1/events', { sent_at, events });
      for (const { status } of result.results)
        if (status === 'rejected') unexpectedResponses.push(JSON.stringify(result.results));
      return result;
    };
    await report('start');
    await sleep(mediaMs * 0.7);
    await report('impression', 'first_quartile', 'midpoint');
    await sleep(mediaMs * 0.4);
    const { decisions } = await report('third_quartile', 'complete');
    if (decisions[0]?.state === 'earned') earnedIds.add(decision.id);
    else unexpectedResponses.push(`No reward: ${JSON.stringify(decisions)}`);
  };
  const runPlayer = async (): Promise<void> => {
    while (startedAds < impressions) {
      startedAds += 1;
      await watchAd().catch((error: unknown) => unexpectedResponses.push(String(error)));
    }
  };
  let isFinished = false;
  const finished = Promise.all(Array.from({ length: players }, runPlayer)).then(async () => {
    isFinished = true;
    await agent.destroy();
  });
  return { earnedIds, unexpectedResponses, finished, isFinished: () => isFinished };
}

/** Each ad has one tracker per tracked event, plus the billing notice. */
const trackersPerAd = trackedEvents.length + 1;

/** Resolves when all tracker requests are final and all webhooks have arrived, or at `deadlineMs`. */
async function waitUntilSettled(
  processes: Processes,
  { rewardedIds }: Advertiser,
  earnedIds: ReadonlySet<string>,
  deadlineMs: number,
): Promise<void> {
  const { call } = createDemand(processes.first);
  const hour = (offset: number): string =>
    new Date((Math.floor(Date.now() / 3_600_000) + offset) * 3_600_000).toISOString();
  while (performance.now() < deadlineMs) {
    const { data } = await call<Report>('GET', `reports?from=${hour(-2)}&to=${hour(1)}`);
    const ended = data.reduce(
      (sum, row) => sum + row.trackers_sent + row.trackers_failed + row.trackers_late,
      0,
    );
    const hasWebhooks = [...earnedIds].every((id) => rewardedIds.has(id));
    if (hasWebhooks && ended >= earnedIds.size * trackersPerAd) return;
    await sleep(500);
  }
}

interface TrackerRow {
  decisionId: string;
  /** The path in the tracker's URL. */
  path: string;
  state: string;
  reason: string | null;
}

/** Compares the database with the requests that the advertiser received and with the acknowledged rewards. */
async function findViolations(
  database: Database,
  { requests, confirmedPaths, rewardedIds }: Advertiser,
  earnedIds: ReadonlySet<string>,
): Promise<Omit<DemandKillReport, 'unexpectedResponses' | 'watched' | 'kills'>> {
  const rewards = new Set(
    (
      await database.query<{ id: string }>(`SELECT id FROM decisions WHERE reward_state = 'earned'`)
    ).map(({ id }) => id),
  );
  const rows = await database.query<TrackerRow>(
    `SELECT request.decision_id AS "decisionId", state, reason,
        '/' || split_part(demand #>> '{chosen,trackers,byEvent,impression,0}', '/', 4) || '/'
          || split_part(tracker, '/', 1) AS path
      FROM tracker_requests AS request
      JOIN decision_demand USING (account_id, decision_id)`,
  );
  const rowsByDecision = new Map<string, TrackerRow[]>();
  for (const row of rows) {
    const list = rowsByDecision.get(row.decisionId) ?? [];
    rowsByDecision.set(row.decisionId, [...list, row]);
  }
  const isEnded = ({ state }: TrackerRow): boolean => state === 'sent' || state === 'failed';
  const [sums] = await database.query<{ ended: number }>(
    `SELECT coalesce(sum(count), 0)::bigint AS ended FROM rollup_counts
      WHERE metric IN ('trackers_sent', 'trackers_failed', 'trackers_late')`,
  );
  const trackerRequests: Record<string, number> = {};
  for (const { state, reason } of rows) {
    const name = reason === null ? state : `${state}: ${reason}`;
    trackerRequests[name] = (trackerRequests[name] ?? 0) + 1;
  }
  return {
    trackerRequests,
    lostRewards: [...earnedIds].filter((id) => !rewards.has(id) || !rewardedIds.has(id)),
    unrecorded: [...earnedIds].filter(
      (id) => (rowsByDecision.get(id) ?? []).filter(isEnded).length !== trackersPerAd,
    ),
    repeatedTrackers: [...requests].flatMap(([path, count]) =>
      count > 1 && !path.endsWith('/burl') ? [path] : [],
    ),
    missingBurls: rows.flatMap(({ path, state }) =>
      path.endsWith('/burl') && (state !== 'sent' || !confirmedPaths.has(path)) ? [path] : [],
    ),
    inconsistent: [
      ...rows.flatMap(({ path, state }) =>
        state === 'sent' && !confirmedPaths.has(path) ? [`${path} is recorded as sent.`] : [],
      ),
      ...(sums?.ended === rows.length
        ? []
        : [`${rows.length} requests are recorded, but the reports count ${sums?.ended}.`]),
    ],
  };
}
