import type {
  AdEvent,
  Decision,
  EventBatchResult,
  RewardStatus,
  WebhookEvent,
} from '../../../protocol/wire.ts';
import { verifyWebhook } from '../../../src/server/index.ts';
import { startReceiver } from '../../../service/test/http/receiver.ts';
import { type InProcessService, startInProcess } from '../../../service/test/in-process.ts';
import { createManualClock, type ManualClock } from '../../../service/test/manual-clock.ts';
import { incrementConfigVersion } from '../../../service/src/store/config-version.ts';
import type { Database } from '../../../service/src/store/database.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { expireRewards } from '../../../service/src/reward/expire-rewards.ts';
import { ownRows } from '../../../service/test/neighbor.ts';

/**
 * A game server with a webhook, and a service with a manual clock. The service has one process, or two processes that
 * share a database.
 */
export interface World {
  clock: ManualClock;
  decide(
    placement: string,
    userRef: string,
    bot: boolean,
  ): Promise<(Decision & { token: string }) | undefined>;
  report(event: AdEvent, sentAt: string, bot: boolean): Promise<RewardStatus[]>;
  /** Reads the status the way the customer's server does. */
  status(id: string): Promise<RewardStatus>;
  /** Reads the status the way the device does, with the decision token. */
  statusFor(id: string, token: string): Promise<RewardStatus>;
  /** Breaks every connection, even during a request or a transaction. */
  cut(): Promise<void>;
  kill(on: boolean): Promise<void>;
  /** Expires overdue rewards, and waits until every webhook has arrived. */
  settle(): Promise<void>;
  /** The webhook events that the game server received and verified, without duplicates. */
  events: ReadonlyMap<string, WebhookEvent>;
  /** Returns a metric's totals by reason. */
  count(metric: string): Promise<Map<string, number>>;
  accountId: string;
  keysUrl: string;
  stop(): Promise<void>;
}

const botHeaders = { 'user-agent': 'Mozilla/5.0 (compatible; Examplebot/1.0)' };

/** Retries until there is a response, as a device does when its connection breaks. */
async function retryUntilResponse<T>(
  sendRequest: () => Promise<T>,
  isResponse: (response: T) => boolean = () => true,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await sendRequest();
      if (isResponse(response) || attempt === 50) return response;
    } catch (error) {
      if (attempt === 50) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The application name of the test's own database connections, which are never broken. */
const testApplicationName = 'trueward-world';

function openTestDatabase(databaseUrl: string): Database {
  const url = new URL(databaseUrl);
  url.searchParams.set('application_name', testApplicationName);
  return openPostgres(url.href, (error) => console.error(error));
}

export async function createWorld(databaseUrl?: string): Promise<World> {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const env = {
    PUBLIC_URL: 'http://service.test',
    RATE_LIMITS: 'off',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  };
  const first = await startInProcess(env, { clock });
  const processes: InProcessService[] = [first];
  if (databaseUrl !== undefined) {
    // Starts a second process on the same database. Requests alternate between the two processes.
    const { dataDirectory } = first.config;
    processes.push(await startInProcess(env, { clock, dataDirectory }));
  }
  const { publishable, secret } = first.keys.sandbox;
  let requestCount = 0;
  const call = async <T>(
    method: string,
    path: string,
    key: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<T> => {
    const { url } = processes[requestCount++ % processes.length] ?? first;
    const response = await retryUntilResponse(
      () =>
        fetch(url + path, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            'user-agent': 'Player/1.0',
            ...(body ? { 'content-type': 'application/json' } : {}),
            ...headers,
          },
          ...(body ? { body: JSON.stringify(body) } : {}),
        }),
      ({ status }) => status !== 503,
    );
    const reply = (await response.json()) as T;
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    return reply;
  };

  const receiver = await startReceiver();
  const webhook = await call<{ secret: string }>('POST', '/v1/webhooks', secret, {
    url: receiver.url,
    events: ['decision.served', 'decision.rewarded'],
  });
  const { resources } = first.service;
  const testDatabase = databaseUrl === undefined ? undefined : openTestDatabase(databaseUrl);
  const database = testDatabase ?? first.service.database;
  // A cut may just have broken the process's connections, so this is retried.
  const refresh = () =>
    Promise.all(
      processes.map(({ service }) => retryUntilResponse(() => service.configuration.refresh())),
    );
  await refresh();
  const [account] = await database.query<{ account_id: string }>(
    `SELECT account_id FROM accounts WHERE name = 'Demo'`,
  );
  const accountId = account?.account_id ?? '';
  const scope = { accountId, environment: 'sandbox' } as const;
  const events = new Map<string, WebhookEvent>();
  let readCount = 0;

  const readReceivedWebhooks = async (): Promise<void> => {
    for (const { body, headers } of receiver.requests.slice(readCount)) {
      const signedAtMs = Number(headers['service-timestamp']) * 1_000;
      const event = await verifyWebhook(body, headers, webhook.secret, { now: () => signedAtMs });
      events.set(event.id, event);
    }
    readCount = receiver.requests.length;
  };
  const countUndelivered = async (): Promise<number> => {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*) AS count FROM deliveries WHERE state <> 'delivered' AND ${ownRows}`,
    );
    return row?.count ?? 0;
  };

  let activeSwitchId: string | undefined;
  return {
    clock,
    events,
    accountId,
    keysUrl: `${first.url}/.well-known/jwks.json`,
    async decide(placement, userRef, bot) {
      const request = { placement, user_ref: userRef, formats: ['image'] };
      const decision = await call<Decision>(
        'POST',
        '/v1/decisions',
        publishable,
        request,
        bot ? botHeaders : {},
      );
      if (decision.status !== 'filled' && decision.reason !== 'killed')
        throw new Error(`Expected an ad, got ${JSON.stringify(decision)}`);
      const { token } = decision;
      return token === undefined ? undefined : { ...decision, token };
    },
    async report(event, sentAt, bot) {
      const body = { sent_at: sentAt, events: [event] };
      return (
        await call<EventBatchResult>('POST', '/v1/events', publishable, body, bot ? botHeaders : {})
      ).decisions;
    },
    status: (id) => call<RewardStatus>('GET', `/v1/decisions/${id}`, secret),
    statusFor: (id, token) =>
      call<RewardStatus>('GET', `/v1/decisions/${id}`, publishable, undefined, {
        'decision-token': token,
      }),
    async cut() {
      for (const { service } of processes) service.app.server.closeAllConnections();
      if (databaseUrl === undefined) return;
      await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name <> $1`,
        [testApplicationName],
      );
    },
    async kill(on) {
      await database.transaction(async (queries) => {
        if (on) {
          const killSwitch = await resources.create(queries, scope, 'killSwitch', {
            scope: 'placement',
            target_id: 'double-coins',
            state: 'on',
            actor: 'test',
          });
          activeSwitchId = killSwitch.id;
        } else if (activeSwitchId !== undefined) {
          await resources.archive(queries, scope, 'killSwitch', activeSwitchId);
        }
        await incrementConfigVersion(queries, accountId);
      });
      await refresh();
    },
    async settle() {
      while ((await expireRewards(database, clock)).length > 0);
      while ((await countUndelivered()) > 0)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await readReceivedWebhooks();
    },
    async count(metric) {
      const rows = await database.query<{ reason: string; count: number }>(
        `SELECT reason, sum(count)::bigint AS count FROM rollup_counts WHERE metric = $1 AND ${ownRows} GROUP BY reason`,
        [metric],
      );
      return new Map(rows.map(({ reason, count }) => [reason, count]));
    },
    async stop() {
      await testDatabase?.close();
      for (const process of processes.toReversed()) await process.stop();
      await receiver.close();
    },
  };
}
