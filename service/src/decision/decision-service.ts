import type { Decision, DecisionRequest } from '@trueward/protocol/wire';
import { hmac } from '../key/service-secrets.ts';
import type { Clock } from '../platform/clock.ts';
import { firstIdAt, type MakeId } from '../platform/ids.ts';
import type { Database, Scope } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { capWindowMs, reserve, servedWithinMs } from './caps.ts';
import type { Configuration } from './configuration.ts';
import { decide, type PolicyContext, simulateVerdict, type Verdict } from './decide.ts';
import { describeDecision } from './describe-decision.ts';
import type { NewDecision } from './record-decisions.ts';
import type { PlacementEntry } from './snapshot.ts';
import type { DecisionTokens } from './token.ts';

/** What an evaluation needs besides the request. */
export interface EvaluateDeps {
  database: Database;
  configuration: Configuration;
  pseudonym: Pseudonym;
  /** From 0 to below 1. */
  random(): number;
}

interface Deps extends EvaluateDeps {
  lane: Lane<NewDecision, void>;
  tokens: DecisionTokens;
  clock: Clock;
  makeId: MakeId;
}

/** What the connection reveals about the player. */
export interface ClientInfo {
  device?: PolicyContext['device'] | undefined;
  country?: string | undefined;
  bot: boolean;
}

/** Makes and stores a decision; resolves after the commit. */
export type MakeDecision = (
  scope: Scope,
  entry: PlacementEntry,
  request: DecisionRequest,
  client: ClientInfo,
) => Promise<Decision>;

export function createMakeDecision(deps: Deps): MakeDecision {
  const { clock, lane } = deps;
  return async (scope, entry, request, client) => {
    const nowMs = clock.nowMs();
    const evaluation = evaluateRequest(deps, { scope, entry, request, client, nowMs });
    const { verdict, viewer } = evaluation instanceof Promise ? await evaluation : evaluation;
    const { decision, stored } = describeDecision({
      id: deps.makeId('decision'),
      scope,
      entry,
      request,
      viewer,
      verdict,
      bot: client.bot,
      nowMs,
      sign: deps.tokens.sign,
    });
    const { reserved_ad: reserved } = stored.record;
    const release = reserved === null ? undefined : reserveIn(deps, scope, reserved);
    try {
      await lane.push(stored);
    } finally {
      release?.();
    }
    return decision;
  };
}

function reserveIn(
  { configuration }: EvaluateDeps,
  scope: Scope,
  houseAdId: string,
): (() => void) | undefined {
  const budget = configuration.dailyBudgets(scope).get(houseAdId);
  return budget && reserve(budget);
}

/** A request to evaluate. */
interface EvaluatedRequest {
  scope: Scope;
  entry: PlacementEntry;
  request: DecisionRequest;
  client: Omit<ClientInfo, 'bot'>;
  nowMs: number;
}

interface Evaluation {
  verdict: Verdict;
  viewer: string | undefined;
}

/** Makes a decision without storing it. Synchronous if no query is needed. */
export function evaluateRequest(
  deps: EvaluateDeps,
  evaluated: EvaluatedRequest,
): Evaluation | Promise<Evaluation> {
  const { scope, entry, request, nowMs } = evaluated;
  const viewer =
    request.user_ref === undefined ? undefined : deps.pseudonym(scope, request.user_ref);
  // Only a placement with caps needs a query.
  const windowMs = viewer === undefined ? 0 : capWindowMs(entry.placement);
  if (windowMs === 0) return { verdict: evaluate(deps, evaluated, []), viewer };
  return readServed(deps.database, scope, entry, viewer, nowMs - windowMs).then((served) => ({
    verdict: evaluate(deps, evaluated, served),
    viewer,
  }));
}

const msPerHour = 3_600_000;

function evaluate(
  { configuration, random }: EvaluateDeps,
  { scope, entry, request, client: { device, country }, nowMs }: EvaluatedRequest,
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

/** Returns a player's pseudonym, by which caps and overlapping watches are checked. It does not reveal the `user_ref`. */
export type Pseudonym = (scope: Scope, userRef: string) => string;

/** Uses a keyed hash, so that it can be stored for children, whose `user_ref` must not be. */
export function createPseudonyms(key: string): Pseudonym {
  return ({ accountId, environment }, userRef) =>
    hmac(key, `${accountId}\n${environment}\n${userRef}`).slice(0, 22);
}
