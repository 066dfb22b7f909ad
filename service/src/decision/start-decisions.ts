import { randomUUID } from 'node:crypto';
import { readServiceSecret, type SecretBox } from '../access/secret-box.ts';
import type { Demand } from '../demand/index.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Clock } from '../platform/time.ts';
import type { WriteEvents } from '../resource/change-events.ts';
import type { Database } from '../store/database.ts';
import type { LaneDeps } from '../store/lanes.ts';
import type { Configuration } from './configuration.ts';
import { createDecisionMaker, createPseudonymizer } from './decision-service.ts';
import { createDryRun, createTrialRunner } from './dry-run.ts';
import { createRecordReader } from './player-record.ts';
import { createDecisionLanes } from './record-decisions.ts';
import { createDecisionTokens } from './token.ts';

interface Deps {
  database: Database;
  configuration: Configuration;
  box: SecretBox;
  clock: Clock;
  makeId: MakeId;
  lanes: LaneDeps;
  writeEvents: WriteEvents;
  demand: Pick<Demand, 'requestOffer' | 'intake' | 'wakeTrackers'>;
  /** How long external sources may take to answer. */
  demandBudgetMs: number;
  development: boolean;
  /** Called after a commit if webhook deliveries were queued. */
  onDeliveries(): void;
}

/** Makes decisions, and the dry runs and trials that show how one would be made. */
export async function startDecisions(deps: Deps) {
  const { database, configuration, box, clock, makeId, demand, development } = deps;
  const tokens = createDecisionTokens(
    await readServiceSecret(database, box, clock, 'decision_token'),
  );
  const pseudonym = createPseudonymizer(await readServiceSecret(database, box, clock, 'pseudonym'));
  const lane = createDecisionLanes({ ...deps, onTrackers: demand.wakeTrackers });
  const evaluateDeps = {
    readPlayerRecord: createRecordReader(database),
    configuration,
    pseudonym,
    clock,
    makeId,
    random: Math.random,
  };
  const externalDeps = {
    requestOffer: demand.requestOffer,
    ...demand.intake,
    clock,
    budgetMs: deps.demandBudgetMs,
  };
  const decisionDeps = { ...evaluateDeps, externalDeps, makeUuid: randomUUID, development };
  return {
    tokens,
    pseudonym,
    lane,
    makeDecision: createDecisionMaker({ ...decisionDeps, lane, tokens }),
    dryRun: createDryRun(evaluateDeps),
    trySource: createTrialRunner(decisionDeps),
  };
}
