/** A cause is a reward whose event triggers one delivery. All contenders use the same causes. */

/** Builds a reward's id from its run and its number, so that lost rewards can be counted without a database. */
export const causeId = (run, index) => `dec_${run}_${String(index).padStart(6, '0')}`;

export const createCauseTable =
  'CREATE TABLE IF NOT EXISTS bench_rewards (id text PRIMARY KEY, user_ref text NOT NULL, amount integer NOT NULL)';

const insertCauses =
  'INSERT INTO bench_rewards (id, user_ref, amount) SELECT id, $2, $3 FROM unnest($1::text[]) AS id';
const userRef = 'player-4711';
const amount = 10;

/** Writes the rewards. `query` runs in the same transaction that enqueues the deliveries. */
export const writeCauses = (query, ids) => query(insertCauses, [ids, userRef, amount]);

/** Creates a webhook event's `data` in the form that the service sends. */
export const createEventData = (id) => ({
  decision_id: id,
  placement: 'revive',
  user_ref: userRef,
  reward: { type: 'coins', amount },
});

/** Creates a job's payload. */
export const createEvent = (id) => ({
  id: `evt_${id}`,
  type: 'decision.rewarded',
  created_at: new Date().toISOString(),
  environment: 'sandbox',
  data: createEventData(id),
});

/** Runs the work in one transaction on one of the pool's connections. */
export async function inTransaction(pool, work) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
