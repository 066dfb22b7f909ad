import type { Decision, DecisionRequest } from '@trueward/protocol/wire';
import type { Clock } from '../platform/clock.ts';
import { firstIdAt, type MakeId } from '../platform/ids.ts';
import type { Configuration } from './configuration.ts';
import type { Scope, Database } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { capWindowMs, servedWithinMs } from './caps.ts';
import { reserve } from './daily-caps.ts';
import { decide, type Verdict } from './decide.ts';
import type { MadeDecision } from './decision-record.ts';
import { describeDecision } from './describe-decision.ts';
import type { PolicyContext } from './policies.ts';
import type { PlacementEntry } from './snapshot.ts';
import { simulateVerdict } from './simulate.ts';
import type { DecisionTokens } from './token.ts';
import type { Pseudonym } from './viewer.ts';

/** What a verdict depends on beside its request. */
export interface JudgeParts {
  database: Database;
  configuration: Configuration;
  pseudonym: Pseudonym;
  /** From 0 to below 1. */
  random(): number;
}

interface Parts extends JudgeParts {
  lane: Lane<MadeDecision, void>;
  tokens: DecisionTokens;
  clock: Clock;
  makeId: MakeId;
}

/** Who asks, as far as the connection tells. */
export interface AskingClient {
  device?: PolicyContext['device'] | undefined;
  country?: string | undefined;
  bot: boolean;
}

/** Decides and records; resolves after the commit. */
export type MakeDecision = (
  scope: Scope,
  entry: PlacementEntry,
  request: DecisionRequest,
  client: AskingClient,
) => Promise<Decision>;

export function createMakeDecision(parts: Parts): MakeDecision {
  const { clock, lane } = parts;
  return async (scope, entry, request, client) => {
    const nowMs = clock.nowMs();
    const judged = judgeRequest(parts, { scope, entry, request, client, nowMs });
    const { verdict, viewer } = judged instanceof Promise ? await judged : judged;
    const { decision, made } = describeDecision({
      id: parts.makeId('decision'),
      scope,
      entry,
      request,
      viewer,
      verdict,
      bot: client.bot,
      nowMs,
      sign: parts.tokens.sign,
    });
    const { reserved_ad: reserved } = made.record;
    const release = reserved === null ? undefined : reserveIn(parts, scope, reserved);
    try {
      await lane.push(made);
    } finally {
      release?.();
    }
    return decision;
  };
}

function reserveIn(
  { configuration }: JudgeParts,
  scope: Scope,
  houseAdId: string,
): (() => void) | undefined {
  const budget = configuration.dailyBudgets(scope).get(houseAdId);
  return budget && reserve(budget);
}

/** One request, as it is judged. */
interface Asked {
  scope: Scope;
  entry: PlacementEntry;
  request: DecisionRequest;
  client: Omit<AskingClient, 'bot'>;
  nowMs: number;
}

interface Judged {
  verdict: Verdict;
  viewer: string | undefined;
}

/** Decides and records nothing; at once where the database need not be asked. */
export function judgeRequest(parts: JudgeParts, asked: Asked): Judged | Promise<Judged> {
  const { scope, entry, request, nowMs } = asked;
  const viewer =
    request.user_ref === undefined ? undefined : parts.pseudonym(scope, request.user_ref);
  // Only a placement with caps costs a read.
  const windowMs = viewer === undefined ? 0 : capWindowMs(entry.placement);
  if (windowMs === 0) return { verdict: judge(parts, asked, []), viewer };
  return readServed(parts.database, scope, entry, viewer, nowMs - windowMs).then((served) => ({
    verdict: judge(parts, asked, served),
    viewer,
  }));
}

const msPerHour = 3_600_000;

function judge(
  { configuration, random }: JudgeParts,
  { scope, entry, request, client: { device, country }, nowMs }: Asked,
  servedAtMs: readonly number[],
): Verdict {
  const simulated = simulateVerdict(request.simulate);
  if (simulated) return simulated;
  const context: PolicyContext = {
    childDirected: request.child_directed ?? false,
    hour: Math.floor(nowMs / msPerHour) % 24,
  };
  if (request.locale !== undefined) context.language = request.locale;
  if (device !== undefined) context.device = device;
  if (country !== undefined) context.country = country;
  if (request.segments !== undefined) context.segments = request.segments;
  return decide({
    snapshot: configuration.snapshot(scope),
    entry,
    request,
    context,
    servedAtMs,
    dailyBudgets: configuration.dailyBudgets(scope),
    nowMs,
    random: random(),
  });
}

async function readServed(
  database: Database,
  scope: Scope,
  { placement }: PlacementEntry,
  viewer: string | undefined,
  sinceMs: number,
): Promise<number[]> {
  const rows = await database.query<{ served_at: Date }>(
    `SELECT served_at FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND placement = $4 AND served_at > $5
        AND id >= $6
      ORDER BY served_at DESC LIMIT $7`,
    [
      scope.accountId,
      scope.environment,
      viewer,
      placement.name,
      new Date(sinceMs),
      firstIdAt('decision', sinceMs - servedWithinMs),
      placement.frequency_cap?.max ?? 1,
    ],
  );
  return rows.map((row) => row.served_at.getTime());
}
