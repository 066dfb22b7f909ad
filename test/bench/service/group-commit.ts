import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import {
  type DecisionRecord,
  type NewDecision,
  createDecisionLanes,
  recordDecisions,
} from '../../../service/src/decision/record-decisions.ts';
import { systemClock } from '../../../service/src/platform/time.ts';
import { createIds } from '../../../service/src/platform/ids.ts';
import type { Database } from '../../../service/src/store/database.ts';
import { migrate } from '../../../service/src/store/migrate.ts';
import { openPGlite } from '../../../service/src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { noTracing } from '../../../service/src/trace/tracing.ts';
import { addAccount } from '../../../service/test/add-account.ts';

/** Decisions stored per second, in three variants. */
export interface GroupCommit {
  /** Many decisions per transaction (group commit), as in the service. */
  together: number;
  /** Each decision in its own transaction, including its roll-up counts. */
  each: number;
  /** Each decision in its own transaction, without roll-up counts. */
  eachWithoutSums: number;
}

const concurrency = 64;
const makeId = createIds(systemClock, randomBytes);
const writeNoEvents = async (): Promise<boolean> => false;

/** Measures the variants in turn. Returns the best round for each. */
export async function measureGroupCommit(
  databaseUrl: string | undefined,
  rounds: number,
  ms: number,
): Promise<GroupCommit> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-bench-'));
  const database: Database =
    databaseUrl === undefined
      ? await openPGlite(join(folder, 'database'), () => undefined)
      : openPostgres(databaseUrl, () => undefined);
  try {
    await migrate(database);
    await addAccount(database, scope.accountId);
    const lane = createDecisionLanes({
      database,
      writeEvents: writeNoEvents,
      onDeliveries: () => undefined,
      onTrackers: () => undefined,
      lanes: {
        name: 'decisions',
        openLane: noTracing.lane('decisions'),
        gate: { run: (_owner, work) => work() },
        log: console,
      },
    });
    const variants: Record<keyof GroupCommit, (decision: NewDecision) => Promise<unknown>> = {
      together: lane.push,
      each: (decision) => recordDecisions(database, writeNoEvents, [decision]),
      eachWithoutSums: ({ scope, record }) =>
        database.query(
          'INSERT INTO decisions SELECT * FROM jsonb_populate_record(NULL::decisions, $1::text::jsonb)',
          [
            JSON.stringify({
              ...record,
              issued_at: new Date(record.issued_at),
              expires_at: new Date(record.expires_at),
              late_at: new Date(record.late_at ?? record.expires_at),
              account_id: scope.accountId,
              environment: scope.environment,
              reward_state: 'none',
            }),
          ],
        ),
    };
    const best: GroupCommit = { together: 0, each: 0, eachWithoutSums: 0 };
    for (let round = 0; round < rounds; round += 1) {
      for (const name of Object.keys(variants) as (keyof GroupCommit)[])
        best[name] = Math.max(best[name], await perSecond(variants[name], ms));
    }
    return best;
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function perSecond(store: (decision: NewDecision) => Promise<unknown>, ms: number) {
  const startedAtMs = performance.now();
  let count = 0;
  const work = async (): Promise<void> => {
    while (performance.now() - startedAtMs < ms) {
      await store(createDecision());
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return (count * 1_000) / (performance.now() - startedAtMs);
}

const scope = { accountId: 'acc_bench', environment: 'sandbox' } as const;
function createDecision(): NewDecision {
  const nowMs = Date.now();
  const record: DecisionRecord = {
    status: 'filled',
    reason: null,
    placement: 'revive',
    format: 'rewarded',
    creative_id: 'crv_bench',
    media_format: 'video',
    advertiser_id: 'adv_bench',
    source_id: 'src_bench',
    house_ad_id: 'had_bench',
    reserved_ad: null,
    reward: { type: 'coins', amount: 25 },
    required_ms: 12_000,
    evidence: null,
    invalid_reason: null,
    simulate: null,
    id: makeId('decision'),
    user_ref: 'player-1',
    viewer: 'player-1',
    child_directed: false,
    custom_data: null,
    explain: null,
    issued_at: nowMs,
    expires_at: nowMs,
    late_at: nowMs,
  };
  return { scope, record };
}
