import pg from 'pg';
import PgBoss from 'pg-boss';
import { causeId, createCauseTable, createEvent, inTransaction, writeCauses } from './cause.mjs';
import { createDeliverer } from './deliver.mjs';

const queue = 'deliver';

export async function openProducer({ databaseUrl, leaseS }) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const boss = new PgBoss({
    connectionString: databaseUrl,
    max: 2,
    supervise: false,
    schedule: false,
  });
  boss.on('error', console.error);
  await boss.start();
  await boss.createQueue(queue, { expireInSeconds: leaseS, retryLimit: 8, retryBackoff: true });
  await pool.query(createCauseTable);
  return {
    enqueue: (run, count) =>
      inTransaction(pool, async (client) => {
        const ids = Array.from({ length: count }, (_, index) => causeId(run, index));
        await writeCauses((text, values) => client.query(text, values), ids);
        const db = { executeSql: (text, values) => client.query(text, values) };
        await boss.insert(
          ids.map((id) => ({ name: queue, data: createEvent(id) })),
          { db },
        );
      }),
    async count() {
      const { rows } = await pool.query(
        `SELECT count(*) FILTER (WHERE state < 'completed')::integer AS pending,
          count(*) FILTER (WHERE state > 'completed')::integer AS failed FROM pgboss.job`,
      );
      return rows[0];
    },
  };
}

export async function openWorker({ databaseUrl, url, secret, setting }) {
  const { workers, batchSize, notify, poolSize } = setting;
  const deliver = createDeliverer({ url, secret, connections: workers * batchSize });
  const boss = new PgBoss({
    connectionString: databaseUrl,
    max: poolSize,
    schedule: false,
    maintenanceIntervalSeconds: 10,
  });
  boss.on('error', console.error);
  await boss.start();
  const startOne = async () => {
    const options = { batchSize, pollingIntervalSeconds: 0.5 };
    const id = await boss.work(queue, options, async (jobs) => {
      // After a full batch, fetches the next one without waiting for the polling interval.
      if (notify && jobs.length === batchSize) boss.notifyWorker(id);
      // A failed delivery must not fail the whole batch.
      await Promise.all(
        jobs.map((job) =>
          deliver(job.data).catch((error) => boss.fail(queue, job.id, { message: error.message })),
        ),
      );
    });
  };
  return {
    async start() {
      await Promise.all(Array.from({ length: workers }, startOne));
    },
    stop: () => boss.offWork(queue),
  };
}
