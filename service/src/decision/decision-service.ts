import type { Decision, DecisionRequest } from '@trueward/protocol/wire';
import { disclose, type DemandRecord, type Player } from '../demand/index.ts';
import { createMac } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import { firstIdAt, type MakeId } from '../platform/ids.ts';
import type { Database, Scope } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { capWindowMs, reserve, servedWithinMs } from './caps.ts';
import type { Configuration } from './configuration.ts';
import { decide, type DecideInput, simulateVerdict, type Verdict } from './decide.ts';
import type { PolicyContext } from './match-policies.ts';
import { describeDecision, lifetimeMs } from './describe-decision.ts';
import {
  decideWithSources,
  type BuildOfferRequest,
  type ExternalDeps,
  type ExternalFilled,
} from './external-ads.ts';
import type { NewDecision, SourceCount } from './record-decisions.ts';
import type { PlacementEntry } from './snapshot.ts';
import type { DecisionTokens } from './token.ts';

export interface EvaluateDeps {
  database: Database;
  configuration: Configuration;
  pseudonym: Pseudonymize;
  /** Returns a number in [0, 1). */
  random(): number;
}

export interface EvaluateWithSourcesDeps extends EvaluateDeps {
  clock: Clock;
  externalDeps: ExternalDeps;
  /** Returns a random UUID. */
  makeUuid(): string;
  /** Whether the service runs in development mode, in which sandbox sources may use loopback URLs. */
  development: boolean;
}

interface Deps extends EvaluateWithSourcesDeps {
  lane: Lane<NewDecision, void>;
  tokens: DecisionTokens;
  makeId: MakeId;
}

/** Properties of the player's connection. */
export interface ClientInfo {
  device?: PolicyContext['device'] | undefined;
  country?: string | undefined;
  bot: boolean;
  ip?: string | undefined;
  userAgent?: string | undefined;
  /** The origin of the game's page. */
  origin?: string | undefined;
}

/** Makes and stores a decision. Resolves after the commit. */
export type MakeDecision = (
  scope: Scope,
  entry: PlacementEntry,
  request: DecisionRequest,
  client: ClientInfo,
) => Promise<Decision>;

export function createDecisionMaker(deps: Deps): MakeDecision {
  const { clock, lane } = deps;
  return async (scope, entry, request, client) => {
    const nowMs = clock.nowMs();
    const input = { scope, entry, request, client, nowMs };
    // External sources are not called for bots, because bot impressions don't count.
    const canUseSources =
      entry.sources.length > 0 && !client.bot && !simulateVerdict(request.simulate);
    const evaluation = canUseSources
      ? evaluateWithSources(deps, input)
      : evaluateRequest(deps, input);
    const { verdict, viewer, demand, sourceCounts } =
      evaluation instanceof Promise ? await evaluation : evaluation;
    const { decision, newDecision } = describeDecision({
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
    if (demand) newDecision.demand = demand;
    if (sourceCounts) newDecision.sourceCounts = sourceCounts;
    const { reserved_ad: houseAdId } = newDecision.record;
    const release = houseAdId === null ? undefined : reserveBudget(deps, scope, houseAdId);
    try {
      await lane.push(newDecision);
    } finally {
      release?.();
    }
    return decision;
  };
}

function reserveBudget(
  { configuration }: EvaluateDeps,
  scope: Scope,
  houseAdId: string,
): (() => void) | undefined {
  const budget = configuration.dailyBudgets(scope).get(houseAdId);
  return budget && reserve(budget);
}

/** A request to evaluate. */
interface EvaluationInput {
  scope: Scope;
  entry: PlacementEntry;
  request: DecisionRequest;
  client: Omit<ClientInfo, 'bot'>;
  nowMs: number;
}

interface Evaluation {
  verdict: Verdict | ExternalFilled;
  viewer: string | undefined;
  /** Set only if external sources were called. */
  demand?: DemandRecord;
  sourceCounts?: readonly SourceCount[];
}

/**
 * Evaluates a request without calling external sources or storing the decision. Returns synchronously if no query is
 * needed.
 */
export function evaluateRequest(
  deps: EvaluateDeps,
  input: EvaluationInput,
): HouseEvaluation | Promise<HouseEvaluation> {
  const viewer = findViewer(deps, input);
  const servedTimes = readServedTimes(deps.database, input, viewer);
  const buildEvaluation = (servedAtMs: readonly number[]): HouseEvaluation => ({
    verdict:
      simulateVerdict(input.request.simulate) ?? decide(makeDecideInput(deps, input, servedAtMs)),
    viewer,
  });
  return servedTimes instanceof Promise
    ? servedTimes.then(buildEvaluation)
    : buildEvaluation(servedTimes);
}

interface HouseEvaluation extends Evaluation {
  verdict: Verdict;
}

/** Evaluates a request and calls the placement's external sources, but doesn't store the decision. */
export async function evaluateWithSources(
  deps: EvaluateWithSourcesDeps,
  input: EvaluationInput,
): Promise<Evaluation> {
  const viewer = findViewer(deps, input);
  const decideInput = makeDecideInput(
    deps,
    input,
    await readServedTimes(deps.database, input, viewer),
  );
  const buildOfferRequest = createOfferRequestBuilder(deps, input);
  const externalDecision = await decideWithSources(
    deps.externalDeps,
    input.scope,
    decideInput,
    buildOfferRequest,
  );
  return { viewer, ...externalDecision };
}

/** The viewport assumed for clients that don't report one: a phone in landscape orientation, in CSS pixels. */
const defaultViewport = { width: 844, height: 390 };

function createOfferRequestBuilder(
  { pseudonym, makeUuid, development }: EvaluateWithSourcesDeps,
  { scope, entry, request, client }: EvaluationInput,
): BuildOfferRequest {
  const { ip, userAgent, origin } = client;
  const sandbox = scope.environment === 'sandbox';
  const { locale, consent, user_ref: userRef } = request;
  const player: Player = {
    childDirected: request.child_directed ?? false,
    ...(ip !== undefined && { ip }),
    ...(userAgent !== undefined && { userAgent }),
    ...(locale !== undefined && { language: locale }),
    ...(consent !== undefined && { consent }),
  };
  const commonFields = {
    accountId: scope.accountId,
    transactionId: makeUuid(),
    placement: entry.placement.name,
    sandbox,
    loopback: development && sandbox,
    viewport: request.viewport ?? defaultViewport,
    minSkipMs: entry.placement.close_after_ms,
    showWithinS: lifetimeMs / 1_000,
    ...(origin !== undefined && { origin }),
  };
  return (source, blocked) => {
    // Each source receives a different id for the player, so that sources cannot correlate players.
    const user =
      userRef === undefined ? {} : { userId: pseudonym(scope, `${source.id}\n${userRef}`) };
    return { player: disclose({ ...player, ...user }), blocked, ...commonFields };
  };
}

const msPerHour = 3_600_000;

function makeDecideInput(
  { configuration, random }: EvaluateDeps,
  { scope, entry, request, client: { device, country }, nowMs }: EvaluationInput,
  servedAtMs: readonly number[],
): DecideInput {
  const context: PolicyContext = {
    childDirected: request.child_directed ?? false,
    hour: Math.floor(nowMs / msPerHour) % 24,
  };
  if (request.locale !== undefined) context.language = request.locale;
  if (device !== undefined) context.device = device;
  if (country !== undefined) context.country = country;
  if (request.segments !== undefined) context.segments = request.segments;
  return {
    snapshot: configuration.snapshot(scope),
    entry,
    request,
    context,
    servedAtMs,
    dailyBudgets: configuration.dailyBudgets(scope),
    nowMs,
    random: random(),
  };
}

const findViewer = (
  { pseudonym }: EvaluateDeps,
  { scope, request }: EvaluationInput,
): string | undefined =>
  request.user_ref === undefined ? undefined : pseudonym(scope, request.user_ref);

/**
 * Reads the times of the player's verified impressions within the cap window. Doesn't run a query if the placement has
 * no caps.
 */
function readServedTimes(
  database: Database,
  { scope, entry: { placement }, nowMs }: EvaluationInput,
  viewer: string | undefined,
): number[] | Promise<number[]> {
  const windowMs = viewer === undefined ? 0 : capWindowMs(placement);
  if (windowMs === 0) return [];
  const startMs = nowMs - windowMs;
  const rows = database.query<{ served_at: Date }>(
    `SELECT served_at FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND placement = $4 AND served_at > $5
        AND id >= $6
      ORDER BY served_at DESC LIMIT $7`,
    [
      scope.accountId,
      scope.environment,
      viewer,
      placement.name,
      new Date(startMs),
      firstIdAt('decision', startMs - servedWithinMs),
      placement.frequency_cap?.max ?? 1,
    ],
  );
  return rows.then((impressions) => impressions.map((row) => row.served_at.getTime()));
}

/**
 * Returns a player's pseudonym, which doesn't reveal the `user_ref`. Caps and overlapping ad views are checked by
 * pseudonym.
 */
export type Pseudonymize = (scope: Scope, userRef: string) => string;

/** Creates pseudonyms as keyed hashes. A child's pseudonym may be stored, unlike a child's `user_ref`. */
export function createPseudonymizer(key: string): Pseudonymize {
  const mac = createMac(key);
  return ({ accountId, environment }, userRef) =>
    mac(`${accountId}\n${environment}\n${userRef}`).slice(0, 22);
}
