import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CountEnded, Intake, IntakeResult, ObserveCall } from '../../demand/index.ts';
import { firstIdAt } from '../../platform/ids.ts';
import type { Clock } from '../../platform/time.ts';
import type { Queries } from '../../store/database.ts';

/**
 * Metrics that are recorded during calls to sources, intake and tracker requests. No label contains a source, an
 * advertiser or a host.
 */
export interface DemandMetrics {
  observeCall: ObserveCall;
  countIntake(result: IntakeResult): void;
  countTrackers: CountEnded;
}

export function createDemandMetrics(registry: Registry): DemandMetrics {
  const registers = [registry];
  const calls = new Histogram({
    name: 'trueward_source_request_duration_seconds',
    help: 'Duration of calls to external sources, by kind and outcome.',
    labelNames: ['kind', 'outcome'] as const,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 2, 5],
    registers,
  });
  const intake = new Counter({
    name: 'trueward_intake_creatives_total',
    help: 'Creatives from external sources that were copied, rejected or archived.',
    labelNames: ['result'] as const,
    registers,
  });
  const trackers = new Counter({
    name: 'trueward_tracker_requests_total',
    help: 'Tracker and notice requests, by outcome; failures include a reason.',
    labelNames: ['outcome', 'reason'] as const,
    registers,
  });
  return {
    observeCall: (kind, outcome, seconds) => calls.observe({ kind, outcome }, seconds),
    countIntake: (result) => intake.inc({ result }),
    countTrackers: (outcome, reason, times) => trackers.inc({ outcome, reason }, times),
  };
}

/** Providers of the state metrics, which are read on each scrape. */
export interface DemandSources {
  database: Pick<Queries, 'query'>;
  intake: Pick<Intake, 'jobs'>;
  clock: Clock;
}

/** Counts are capped here, because the exact number beyond this does not matter. */
const maxCount = 10_000;
/** How long the queue metrics are cached, regardless of the scrape interval. */
const cacheMs = 15_000;
/** Maximum age of a decision that can have tracker requests. Events for older decisions are not accepted. */
const maxDecisionAgeMs = 8 * 86_400_000;

/** Citus cannot combine this statement with {@link oldestDue}. */
const pendingRequests = `SELECT count(*)::bigint AS value FROM (
    SELECT 1 FROM tracker_requests WHERE state = 'pending' AND decision_id >= $1 LIMIT ${maxCount + 1}) AS pending`;
const oldestDue = `SELECT coalesce(extract(epoch FROM $2::timestamptz - min(next_at)), 0)::float8 AS value
  FROM tracker_requests WHERE state = 'pending' AND decision_id >= $1 AND next_at < $2`;

/** Adds metrics for the current state of external demand. */
export function addDemandState(
  registry: Registry,
  { database, intake, clock }: DemandSources,
): void {
  new Gauge({
    name: 'trueward_intake_jobs',
    help: 'Creatives that are queued, being copied or being compared in this process.',
    labelNames: ['of'] as const,
    registers: [registry],
    collect() {
      for (const [of, jobs] of Object.entries(intake.jobs())) this.set({ of }, jobs);
    },
  });
  const overdue = new Gauge({
    name: 'trueward_tracker_overdue_seconds',
    help: 'How long the oldest tracker request has been overdue, cached for 15 s.',
    registers: [registry],
  });
  let readAtMs = -Infinity;
  new Gauge({
    name: 'trueward_tracker_requests_pending',
    help: `Tracker requests that have not been sent yet, cached for 15 s; ${maxCount + 1} means more than ${maxCount}.`,
    registers: [registry],
    async collect() {
      if (clock.monotonicMs() - readAtMs < cacheMs) return;
      try {
        const sinceId = firstIdAt('decision', Math.max(0, clock.nowMs() - maxDecisionAgeMs));
        const read = async (statement: string, ...params: Date[]): Promise<number> =>
          (await database.query<{ value: number }>(statement, [sinceId, ...params]))[0]?.value ?? 0;
        this.set(await read(pendingRequests));
        overdue.set(await read(oldestDue, new Date(clock.nowMs())));
        readAtMs = clock.monotonicMs();
      } catch {
        this.reset(); // the database is unavailable, as trueward_database_up reports
        overdue.reset();
      }
    },
  });
}
