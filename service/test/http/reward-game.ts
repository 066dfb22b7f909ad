import { randomUUID } from 'node:crypto';
import type {
  AdEvent,
  Decision,
  DecisionRequest,
  EventBatchResult,
  Problem,
  RewardStatus,
} from '@trueward/protocol/wire';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import { startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { createClient } from './client.ts';
import { ownRows } from '../neighbor.ts';

export type FilledDecision = Decision & { token: string };

/** Starts a service with a manual clock. The returned functions simulate honest and cheating players. */
export async function startGame(databaseUrl?: string) {
  const clock = createManualClock(Date.UTC(2026, 5, 1));
  const runningService = await startInProcess(
    {
      PUBLIC_URL: 'http://service.test',
      RATE_LIMITS: 'off',
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    },
    { clock },
  );
  const client = createClient(runningService);
  const formatTime = (ms: number) => new Date(ms).toISOString();

  const createEvent = (
    decision: FilledDecision,
    type: AdEvent['type'],
    overrides: Partial<AdEvent> = {},
  ): AdEvent => ({
    id: randomUUID(),
    type,
    decision_id: decision.id,
    token: decision.token,
    occurred_at: formatTime(clock.nowMs()),
    ...overrides,
  });
  const report = async (...events: AdEvent[]): Promise<EventBatchResult> => {
    const body = { sent_at: formatTime(clock.nowMs()), events };
    return (await client.call<EventBatchResult>('POST', '/v1/events', client.publishable, body))
      .body;
  };
  const requestDecision = (request: Partial<DecisionRequest>, key = client.publishable) =>
    client.call<FilledDecision & Pick<Problem, 'code'>>('POST', '/v1/decisions', key, {
      placement: 'revive',
      formats: ['image'],
      ...request,
    });
  const createImpression = (decision: FilledDecision) =>
    createEvent(decision, 'impression', { visible: { ratio: 1, ms: 1_000 } });
  const createCompletion = (decision: FilledDecision) =>
    createEvent(decision, 'complete', { watched_ms: 5_000 });

  return {
    ...runningService,
    client,
    clock,
    createEvent,
    report,
    requestDecision,
    createImpression,
    createCompletion,
    advance: clock.advance,
    /** Expires overdue rewards, as the service does every minute. */
    expire: () => expireRewards(runningService.service.database, clock),
    async decide(
      userRef: string,
      overrides: Partial<DecisionRequest> = {},
    ): Promise<FilledDecision> {
      const { body } = await requestDecision({ user_ref: userRef, ...overrides });
      if (body.status !== 'filled') throw new Error(`Expected an ad: ${JSON.stringify(body)}`);
      return body;
    },
    /** Watches a five-second ad and reports its events, as an honest player would. */
    async watch(decision: FilledDecision): Promise<RewardStatus | undefined> {
      await report(createEvent(decision, 'start'));
      clock.advance(5_000);
      return (await report(createImpression(decision), createCompletion(decision))).decisions[0];
    },
    async readRewardStatus(id: string): Promise<RewardStatus> {
      return (await client.call<RewardStatus>('GET', `/v1/decisions/${id}`, client.secret)).body;
    },
    /** Returns the reported count for a metric and a reason. */
    async readReportCount(metric: string, reason = ''): Promise<number> {
      const [row] = await runningService.service.database.query<{ count: number | null }>(
        `SELECT sum(count)::bigint AS count FROM rollup_counts WHERE metric = $1 AND reason = $2 AND ${ownRows}`,
        [metric, reason],
      );
      return row?.count ?? 0;
    },
    async countWebhookEvents(type: string, decisionId: string): Promise<number> {
      const rows = await runningService.service.database.query<{ type: string; body: string }>(
        'SELECT type, body FROM webhook_events WHERE type = $1',
        [type],
      );
      return rows.filter(({ body }) => body.includes(decisionId)).length;
    },
  };
}

export type Game = Awaited<ReturnType<typeof startGame>>;
