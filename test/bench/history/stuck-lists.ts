import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import type { Site } from './site.ts';

const lists = 12;
const limits = {
  poolSize: 1,
  timeoutMs: 600_000,
  lockTimeoutMs: 60_000,
  pooler: false,
};

/** Keeps the table of deliveries locked until the signal is aborted, while twelve clients read it again and again. */
export async function keepListsStuck(
  { store: { postgres }, call, webhookId }: Site,
  stopping: AbortSignal,
): Promise<undefined> {
  if (!postgres) throw new Error('Only a server can be locked.');
  const database = openPostgres(postgres.url, console.error, limits);
  const path = `/v1/webhooks/${webhookId}/deliveries?state=failed`;
  const read = async (): Promise<void> => {
    // A list that waits too long ends with an error.
    while (!stopping.aborted) await call('GET', path).catch(() => undefined);
  };
  await database.transaction(async (queries) => {
    await queries.query('LOCK TABLE finished_deliveries');
    const reads = Array.from({ length: lists }, read);
    while (!stopping.aborted) await sleep(50);
    await Promise.all(reads);
  });
  await database.close();
  return undefined;
}
