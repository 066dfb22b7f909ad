import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../../src/store/postgres.ts';
import type { Database } from '../../src/store/database.ts';
import type { ReceivedRequest } from '../http/receiver.ts';
import type { AcknowledgedIds } from './players.ts';

/** The discrepancies that {@link verify} found. All lists should be empty. */
export interface Verdict {
  /** Acknowledged ids that are missing from the database. */
  lost: string[];
  /** Decisions that were rewarded more than once. */
  duplicated: string[];
  /** Decisions whose reward was earned but whose webhook was not received. */
  undelivered: string[];
  /** Report counts that differ from the number of rows, and received webhook requests without a body. */
  inconsistent: string[];
}

/** Prints the number of findings per kind, with examples. Sets the exit code to 1 if there are any. */
export function printFindings(findings: Readonly<Record<string, readonly string[]>>): void {
  for (const [kind, list] of Object.entries(findings)) {
    console.log(`${kind}: ${list.length} ${list.slice(0, 5).join(' | ')}`);
    if (list.length > 0) process.exitCode = 1;
  }
}

/** Compares the database with the acknowledged data and the received webhooks. */
export async function verify(
  databaseUrl: string,
  acknowledged: AcknowledgedIds,
  received: readonly ReceivedRequest[],
): Promise<Verdict> {
  const database = openPostgres(databaseUrl, () => undefined);
  try {
    const decisions = await database.query<{ id: string; reward_state: string }>(
      'SELECT id, reward_state FROM decisions',
    );
    const events = await database.query<{ id: string }>(
      `SELECT decision_id || '/' || id AS id FROM recorded_events`,
    );
    const states = new Map(decisions.map(({ id, reward_state }) => [id, reward_state]));
    const storedIds = new Set(events.map(({ id }) => id));
    const earnedIds = [...states].filter(([, state]) => state === 'earned').map(([id]) => id);
    const deliveredEvents = readDeliveredEvents(received);
    return {
      lost: [
        ...[...acknowledged.decisions].filter((id) => !states.has(id)),
        ...[...acknowledged.events].filter((id) => !storedIds.has(id)),
        ...[...acknowledged.rewards].filter((id) => states.get(id) !== 'earned'),
      ],
      duplicated: [...deliveredEvents].filter(([, ids]) => ids.size > 1).map(([id]) => id),
      undelivered: earnedIds.filter((id) => !deliveredEvents.has(id)),
      inconsistent: [
        ...received.filter((request) => !hasBody(request)).map(describe),
        ...(await compareCount(database, ['filled', 'no_fill', 'blocked'], decisions.length)),
        ...(await compareCount(database, ['rewards_earned'], earnedIds.length)),
      ],
    };
  } finally {
    await database.close();
  }
}

const hasBody = ({ body }: ReceivedRequest): boolean => body !== '';
const describe = ({ headers }: ReceivedRequest): string =>
  `a webhook without a body: ${JSON.stringify(headers)}`;

/**
 * Returns the ids of the received webhook events, keyed by decision id. An event may be delivered more than once, but a
 * decision must have only one event.
 */
function readDeliveredEvents(received: readonly ReceivedRequest[]): Map<string, Set<string>> {
  const deliveredEvents = new Map<string, Set<string>>();
  for (const { body } of received.filter(hasBody)) {
    const { id, data } = JSON.parse(body) as { id: string; data: { decision_id: string } };
    deliveredEvents.set(
      data.decision_id,
      (deliveredEvents.get(data.decision_id) ?? new Set()).add(id),
    );
  }
  return deliveredEvents;
}

async function compareCount(
  database: Database,
  metrics: string[],
  rows: number,
): Promise<string[]> {
  const [sum] = await database.query<{ count: number }>(
    'SELECT coalesce(sum(count), 0)::bigint AS count FROM rollup_counts WHERE metric = ANY($1)',
    [metrics],
  );
  return sum?.count === rows
    ? []
    : [`${metrics.join(' + ')}: ${rows} rows, but the reports have ${sum?.count}`];
}

const deliveryTimeoutMs = 300_000;

/**
 * Resolves when no delivery is pending.
 *
 * @throws Error after five minutes.
 */
export async function waitUntilDelivered(databaseUrl: string): Promise<void> {
  const deadlineMs = performance.now() + deliveryTimeoutMs;
  const database = openPostgres(databaseUrl, () => undefined);
  try {
    for (;;) {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(*)::bigint AS count FROM deliveries WHERE state = 'pending'`,
      );
      if (row?.count === 0) return;
      if (performance.now() > deadlineMs)
        throw new Error(`${row?.count} deliveries are still pending after five minutes.`);
      await sleep(100);
    }
  } finally {
    await database.close();
  }
}
