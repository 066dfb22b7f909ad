import { Queue, Worker } from 'bullmq';
import pg from 'pg';
import { causeId, createCauseTable, createEvent, inTransaction, writeCauses } from './cause.mjs';
import { createDeliverer } from './deliver.mjs';

const name = 'deliver';
/** How many jobs one call adds. */
const jobsPerCall = 1_000;
const options = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: true,
};

export async function openProducer({ databaseUrl, redisPort }) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const queue = new Queue(name, { connection: { host: '127.0.0.1', port: redisPort } });
  await pool.query(createCauseTable);
  return {
    async enqueue(run, count) {
      const ids = Array.from({ length: count }, (_, index) => causeId(run, index));
      await inTransaction(pool, (client) =>
        writeCauses((text, values) => client.query(text, values), ids),
      );
      // PostgreSQL and Redis cannot share a transaction. If the process dies here, some rewards have no delivery.
      for (let at = 0; at < count; at += jobsPerCall) {
        await queue.addBulk(
          ids.slice(at, at + jobsPerCall).map((id) => ({
            name,
            data: createEvent(id),
            opts: { ...options, jobId: id },
          })),
        );
      }
    },
    async count() {
      const { failed = 0, ...rest } = await queue.getJobCounts();
      const { completed: _, ...open } = rest;
      return { pending: Object.values(open).reduce((sum, count) => sum + count, 0), failed };
    },
  };
}

export async function openWorker({ redisPort, url, secret, setting, leaseS }) {
  const { concurrency } = setting;
  const deliver = createDeliverer({ url, secret, connections: concurrency });
  let worker;
  return {
    async start() {
      worker = new Worker(name, (job) => deliver(job.data), {
        connection: { host: '127.0.0.1', port: redisPort, maxRetriesPerRequest: null },
        concurrency,
        lockDuration: leaseS * 1_000,
        stalledInterval: 10_000,
      });
      worker.on('error', console.error);
      await worker.waitUntilReady();
    },
    async stop() {
      await worker.close();
    },
  };
}
