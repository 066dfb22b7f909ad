import { openPostgres } from '../../src/store/postgres.ts';
import type { Database } from '../../src/store/database.ts';
import type { Received } from '../http/receiver.ts';
import type { Acknowledged } from './players.ts';

/** The differences that {@link verify} found. All lists should be empty. */
export interface Verdict {
  /** Ids that the service acknowledged but that are not in the database. */
  lost: string[];
  /** Decisions that were rewarded more than once. */
  duplicated: string[];
  /** Decisions whose reward was earned, but for which no webhook arrived. */
  undelivered: string[];
  /** Report counts that differ from the number of rows, and webhooks that have no body. */
  inconsistent: string[];
}

/** Compares the database with what the service acknowledged and with the webhooks that the receiver got. */
export async function verify(
  databaseUrl: string,
  acknowledged: Acknowledged,
  received: readonly Received[],
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
    const deliveredEvents = readDelivered(received);
    return {
      lost: [
        ...[...acknowledged.decisions].filter((id) => !states.has(id)),
        ...[...acknowledged.events].filter((id) => !storedIds.has(id)),
        ...[...acknowledged.rewards].filter((id) => states.get(id) !== 'earned'),
      ],
      duplicated: [...deliveredEvents].filter(([, ids]) => ids.size > 1).map(([id]) => id),
      undelivered: earnedIds.filter((id) => !deliveredEvents.has(id)),
      inconsistent: [
        ...received.filter((each) => !hasBody(each)).map(describe),
        ...(await compareCount(database, ['filled', 'no_fill', 'blocked'], decisions.length)),
        ...(await compareCount(database, ['rewards_earned'], earnedIds.length)),
      ],
    };
  } finally {
    await database.close();
  }
}

const hasBody = ({ body }: Received): boolean => body !== '';
const describe = ({ headers }: Received): string =>
  `a webhook without a body: ${JSON.stringify(headers)}`;

/**
 * Returns the ids of the received webhook events, grouped by decision. The same event may be delivered twice, but each
 * decision must have only one event.
 */
function readDelivered(received: readonly Received[]): Map<string, Set<string>> {
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

/** Resolves when no delivery is pending. */
export async function waitUntilDelivered(databaseUrl: string): Promise<void> {
  const database = openPostgres(databaseUrl, () => undefined);
  for (;;) {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*)::bigint AS count FROM deliveries WHERE state = 'pending'`,
    );
    if (row?.count === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await database.close();
}
