import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { causeId, createCauseTable, createEvent, inTransaction, writeCauses } from './cause.mjs';
import { createDeliverer } from './deliver.mjs';

const task = 'deliver';
/** Suppresses the log line for each job and the warning about a pool that is smaller than the batches. */
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

export async function openProducer({ databaseUrl }) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  await runMigrations({ connectionString: databaseUrl, logger });
  await pool.query(createCauseTable);
  return {
    enqueue: (name, count) =>
      inTransaction(pool, async (client) => {
        const ids = Array.from({ length: count }, (_, index) => causeId(name, index));
        await writeCauses((text, values) => client.query(text, values), ids);
        await client.query(
          `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
            SELECT ROW($1, payload, NULL, NULL, 8, NULL, NULL, NULL)::graphile_worker.job_spec
            FROM json_array_elements($2::json) AS payload))`,
          [task, JSON.stringify(ids.map(createEvent))],
        );
      }),
    async count() {
      const { rows } = await pool.query(
        `SELECT count(*) FILTER (WHERE attempts < max_attempts OR locked_at IS NOT NULL)::integer AS pending,
          count(*) FILTER (WHERE attempts >= max_attempts AND locked_at IS NULL)::integer AS failed
          FROM graphile_worker.jobs`,
      );
      return rows[0];
    },
  };
}

export async function openWorker({ databaseUrl, url, secret, setting, isRestart }) {
  const { concurrency, worker } = setting;
  const deliver = createDeliverer({ url, secret, connections: concurrency });
  if (isRestart) await unlock(databaseUrl);
  let runner;
  return {
    async start() {
      runner = await run({
        connectionString: databaseUrl,
        noHandleSignals: true,
        crontab: '',
        logger,
        taskList: { [task]: (event) => deliver(event) },
        preset: { worker },
      });
    },
    async stop() {
      await runner.stop();
    },
  };
}

/**
 * Unlocks a crashed worker's jobs, as graphile-worker's documentation recommends. Otherwise, they would stay locked for
 * four hours.
 */
async function unlock(connectionString) {
  const utils = await makeWorkerUtils({ connectionString, logger });
  const { rows } = await utils.withPgClient((client) =>
    client.query('SELECT DISTINCT locked_by FROM graphile_worker.jobs WHERE locked_by IS NOT NULL'),
  );
  await utils.forceUnlockWorkers(rows.map(({ locked_by }) => locked_by));
  await utils.release();
}
