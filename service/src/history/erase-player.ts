import { firstIdAt } from '../platform/ids.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import {
  deleteDecisions,
  deleteEvents,
  deleteWallets,
  type IdRow,
  rowsPerStep,
} from './delete-records.ts';
import type { JobStep } from './jobs.ts';

/**
 * Deletes a player's webhook events, then the player's decisions, and at last the wallet and devices, up to the time at which the job was created: what the
 * player does later is new. The player is identified by the pseudonym, a keyed hash of the `user_ref`, so the job itself
 * doesn't name the player. Counts in reports stay, because they name nobody.
 */
export const erasePlayer: JobStep = async (queries, { scope, request, createdAtMs }) => {
  const { accountId, environment } = scope;
  const { viewer = '' } = request;
  const find = (table: string, endId: string) =>
    queries.query<IdRow>(
      `SELECT environment, id FROM ${table}
        WHERE viewer = $1 AND account_id = $2 AND environment = $3 AND id < $4
        ORDER BY id LIMIT ${rowsPerStep} FOR UPDATE`,
      [viewer, accountId, environment, endId],
    );
  const events = await find('webhook_events', firstIdAt('webhookEvent', createdAtMs + 1));
  if (events.length > 0) {
    await deleteEvents(queries, accountId, events);
    return { cursor: null, progress: 0, counts: { events: events.length } };
  }
  const decisions = await find('decisions', firstIdAt('decision', createdAtMs + 1));
  if (decisions.length > 0) {
    await deleteDecisions(queries, accountId, decisions);
    return { cursor: null, progress: 0.5, counts: { decisions: decisions.length } };
  }
  await lockViewers(queries, scope, [viewer], createdAtMs);
  const tokens = await queries.query(
    'DELETE FROM player_tokens WHERE account_id = $1 AND environment = $2 AND viewer = $3 RETURNING viewer',
    [accountId, environment, viewer],
  );
  const entries = await deleteWallets(queries, scope, [viewer]);
  await queries.query(
    'DELETE FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer = $3',
    [accountId, environment, viewer],
  );
  const counts = {
    ...(tokens.length > 0 && { devices: tokens.length }),
    ...(entries > 0 && { wallet_entries: entries }),
  };
  return { cursor: null, progress: 1, end: 'done', counts };
};
