import { randomBytes } from 'node:crypto';
import type { Webhook } from '../../../../protocol/wire.ts';
import { systemClock } from '../../../../service/src/platform/time.ts';
import { createIds } from '../../../../service/src/platform/ids.ts';
import type { Scope } from '../../../../service/src/store/database.ts';
import { openPostgres } from '../../../../service/src/store/postgres.ts';
import { createEventWriter } from '../../../../service/src/webhook/event-writer.ts';
import { causeId, createCauseTable, createEventData, writeCauses } from './cause.mjs';

interface Options {
  databaseUrl: string;
  scope: Scope;
  webhook: Webhook;
}

/**
 * Writes rewards and their events with the service's own event writer. The running service dispatches an event as soon as
 * it is committed, so the transaction stays open until deliveries may start.
 */
export async function openProducer({ databaseUrl, scope, webhook }: Options) {
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  await database.query(createCauseTable);
  const write = createEventWriter({
    clock: systemClock,
    makeId: createIds(systemClock, randomBytes),
    subscriptions: () => ({ webhooks: [webhook], subscribedEvents: new Set(webhook.events) }),
    bodies: { store: (body) => body, open: (stored) => stored },
  });
  let openTransaction: { commit(): void; done: Promise<void> } | undefined;
  return {
    async enqueue(run: string, count: number): Promise<void> {
      const ids = Array.from({ length: count }, (_, index) => causeId(run, index));
      const { promise: writesDone, resolve: onWritten, reject } = withResolvers<void>();
      const { promise: commitAllowed, resolve: commit } = withResolvers<void>();
      const done = database.transaction(
        async (queries) => {
          await writeCauses((text: string, values: unknown[]) => queries.query(text, values), ids);
          await write(
            queries,
            scope,
            ids.map((id) => ({ type: 'decision.rewarded' as const, data: createEventData(id) })),
          );
          onWritten();
          await commitAllowed;
        },
        { noTimeout: true },
      );
      done.catch(reject);
      await writesDone;
      openTransaction = { commit, done };
    },
    /** Commits the pending writes. Returns whether there were any. */
    async release(): Promise<boolean> {
      if (!openTransaction) return false;
      const { commit, done } = openTransaction;
      openTransaction = undefined;
      commit();
      await done;
      return true;
    },
    async count() {
      const [row] = await database.query(
        `SELECT count(*) FILTER (WHERE state = 'pending')::integer AS pending,
          count(*) FILTER (WHERE state = 'failed')::integer AS failed FROM deliveries`,
      );
      return row;
    },
  };
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((onResolved, onRejected) => {
    [resolve, reject] = [onResolved, onRejected];
  });
  return { promise, resolve, reject };
}
