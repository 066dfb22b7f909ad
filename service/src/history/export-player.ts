import { createRest } from '../platform/create-rest.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { Queries, Scope } from '../store/database.ts';

/** A line of an export. */
interface ExportLine {
  /** `decision`, `webhook_event`, `wallet_balance`, `wallet_entry` or `device`. */
  record: string;
  [name: string]: unknown;
}

const rowsPerPage = 100;

const selectDecisions = `SELECT d.id, to_jsonb(d) - 'account_id' - 'environment' - 'viewer' AS row,
    coalesce((SELECT jsonb_agg(to_jsonb(e) - 'account_id' - 'decision_id' ORDER BY e.received_at, e.id)
      FROM recorded_events e WHERE e.account_id = d.account_id AND e.decision_id = d.id), '[]') AS events,
    (SELECT demand FROM decision_demand x WHERE x.account_id = d.account_id AND x.decision_id = d.id) AS demand
  FROM decisions d WHERE d.viewer = $1 AND d.account_id = $2 AND d.environment = $3 AND d.id > $4
  ORDER BY d.id LIMIT ${rowsPerPage}`;
const selectEvents = `SELECT e.id, e.body,
    coalesce((SELECT jsonb_agg(jsonb_build_object('webhook_id', d.webhook_id, 'state', d.state, 'attempts', d.attempts)
      ORDER BY d.id) FROM deliveries d WHERE d.account_id = e.account_id AND d.event_id = e.id), '[]') AS deliveries
  FROM webhook_events e WHERE e.viewer = $1 AND e.account_id = $2 AND e.environment = $3 AND e.id > $4
  ORDER BY e.id LIMIT ${rowsPerPage}`;

interface DecisionRow {
  id: string;
  row: Record<string, unknown>;
  events: unknown[];
  demand: unknown;
}

interface EventRow {
  id: string;
  body: string;
  deliveries: unknown[];
}

/**
 * Reads everything that is stored about a player: the decisions with their events, rewards and external demand, the
 * webhook events with their deliveries, the wallet, and a guest's devices. Reads one page at a time, so that an export
 * delays nobody.
 *
 * @param open converts a stored event body to the body to deliver
 */
export async function* exportPlayer(
  queries: Queries,
  { accountId, environment }: Scope,
  viewer: string,
  open: (stored: string) => string,
): AsyncGenerator<ExportLine> {
  const readPages = async function* <Row extends { id: string }>(
    statement: string,
    kind: 'decision' | 'webhookEvent',
  ): AsyncGenerator<Row> {
    let lastId = firstIdAt(kind, 0);
    const rest = createRest();
    for (;;) {
      const rows = await queries.query<Row>(statement, [viewer, accountId, environment, lastId]);
      yield* rows;
      lastId = rows.at(-1)?.id ?? lastId;
      if (rows.length < rowsPerPage) return;
      await rest();
    }
  };
  for await (const { row, events, demand } of readPages<DecisionRow>(selectDecisions, 'decision')) {
    const known = Object.entries(row).filter(([, value]) => value !== null);
    yield {
      record: 'decision',
      ...Object.fromEntries(known),
      events,
      ...(demand === null ? {} : { demand }),
    };
  }
  for await (const { body, deliveries } of readPages<EventRow>(selectEvents, 'webhookEvent'))
    yield { record: 'webhook_event', ...(JSON.parse(open(body)) as object), deliveries };
  const readAll = (table: string, columns: string) =>
    queries.query<Record<string, unknown>>(
      `SELECT ${columns} FROM ${table} WHERE viewer = $1 AND account_id = $2 AND environment = $3 ORDER BY 1`,
      [viewer, accountId, environment],
    );
  for (const row of await readAll('wallet_balances', 'type, balance, active_until, version'))
    yield { record: 'wallet_balance', ...row };
  for (let version = 0; ; version += rowsPerPage) {
    const entries = await queries.query<Record<string, unknown>>(
      `SELECT version, id, kind, type, delta, duration_s, reason, balance, at FROM wallet_entries
        WHERE viewer = $1 AND account_id = $2 AND environment = $3 AND version > $4 AND version <= $5 ORDER BY version`,
      [viewer, accountId, environment, version, version + rowsPerPage],
    );
    for (const entry of entries) yield { record: 'wallet_entry', ...entry };
    if (entries.length < rowsPerPage) break;
  }
  for (const row of await readAll('player_tokens', 'created_at, used_at, player_ref'))
    yield { record: 'device', ...row };
}
