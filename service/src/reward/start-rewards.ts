import type { Logger } from 'pino';
import type { SecretBox } from '../access/secret-box.ts';
import type { Configuration } from '../decision/configuration.ts';
import type { Pseudonymize } from '../decision/decision-service.ts';
import type { DecisionTokens } from '../decision/token.ts';
import type { Clock } from '../platform/time.ts';
import type { WriteEvents } from '../resource/change-events.ts';
import type { Database } from '../store/database.ts';
import type { LaneDeps } from '../store/lanes.ts';
import type { Tracing } from '../trace/tracing.ts';
import { createConfirmView } from './confirm-view.ts';
import { createDropLog } from './dropped-events.ts';
import { startExpiry } from './expire-rewards.ts';
import { createEventIngester } from './ingest-events.ts';
import { openReceipts } from './receipt.ts';
import { createEventLanes } from './record-events.ts';
import { createRewardChanges } from './reward-changes.ts';
import { createReadReward } from './reward-status.ts';

interface Deps {
  database: Database;
  configuration: Configuration;
  box: SecretBox;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
  lanes: LaneDeps;
  tokens: DecisionTokens;
  pseudonym: Pseudonymize;
  writeEvents: WriteEvents;
  publicUrl(): string;
  /** Called after a commit if webhook deliveries were queued. */
  onDeliveries(): void;
  /** Called after a commit if tracker requests were stored. */
  onTrackers(accountId: string): void;
}

/** Records events, decides on rewards, and lets players and game servers read them. */
export async function startRewards(deps: Deps) {
  const { database, box, clock, log, tracing } = deps;
  const receipts = await openReceipts({ database, box, clock, issuer: deps.publicUrl, log });
  const changes = createRewardChanges({ database, log });
  const lane = createEventLanes({
    ...deps,
    receipts,
    snapshot: deps.configuration.snapshot,
    nowMs: clock.nowMs,
    onChange: changes.announce,
  });
  const expiry = startExpiry({ database, clock, log, tracing, onChange: changes.announce });
  return {
    lane,
    receipts,
    ingestEvents: createEventIngester({ ...deps, lane }),
    confirmView: createConfirmView({ ...deps, lane }),
    recordDropped: createDropLog(log, clock),
    readReward: createReadReward({ database, changes, clock, receipts }),
    /** Returns the number of requests that are waiting for a reward to change. */
    waiting: changes.waiting,
    stop(): void {
      expiry.stop();
      receipts.stop();
      changes.stop();
    },
  };
}
