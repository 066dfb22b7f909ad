import type { Decision, DecisionRequest } from '@trueward/protocol/wire';
import { disclose, type DemandRecord, type Player } from '../demand/index.ts';
import { createMac } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import { normalizeCountry, normalizeSegments } from '../platform/names.ts';
import { formatInstant } from '../platform/time.ts';
import type { Scope } from '../store/database.ts';
import {
  type AdFreeFormats,
  findNextTimes,
  findRuleEnds,
  joinVisit,
  type RuleEnds,
} from './ad-rules.ts';
import type { Lane } from '../store/group-commit.ts';
import { reserve } from './caps.ts';
import type { Configuration } from './configuration.ts';
import { decide, type DecideInput, simulateVerdict, type Verdict } from './decide.ts';
import { isKilled } from './kill-switches.ts';
import type { PolicyContext } from './match-policies.ts';
import { describeDecision, lifetimeMs } from './describe-decision.ts';
import type { PlayerRecord, ReadPlayerRecord } from './player-record.ts';
import {
  decideWithSources,
  type BuildOfferRequest,
  type ExternalDecision,
  type ExternalDeps,
  type ExternalFilled,
} from './external-ads.ts';
import type { NewDecision, SourceCount } from './record-decisions.ts';
import type { PlacementEntry } from './snapshot.ts';
import type { DecisionTokens } from './token.ts';

export interface EvaluateDeps {
  readPlayerRecord: ReadPlayerRecord;
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
  /** The formats in which the player sees no ads, as proven by the user token. */
  adFree?: AdFreeFormats | undefined;
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
      entry.sources.length + entry.pageSources.length > 0 &&
      !client.bot &&
      !simulateVerdict(request.simulate);
    const evaluation = canUseSources
      ? evaluateWithSources(deps, input)
      : evaluateRequest(deps, input);
    const { verdict, viewer, ruleAnswer, demand, sourceCounts } =
      evaluation instanceof Promise ? await evaluation : evaluation;
    const { decision, newDecision } = describeDecision({
      id: deps.makeId('decision'),
      scope,
      entry,
      request,
      viewer,
      verdict,
      ruleAnswer,
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
  ruleAnswer: RuleAnswer;
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
  const record = readRecord(deps, input, viewer);
  const buildEvaluation = (playerRecord: PlayerRecord): HouseEvaluation => {
    const decideInput = makeDecideInput(deps, input, playerRecord);
    const verdict = simulateVerdict(input.request.simulate) ?? decide(decideInput);
    return { verdict, viewer, ruleAnswer: describeRuleAnswer(decideInput) };
  };
  return record instanceof Promise ? record.then(buildEvaluation) : buildEvaluation(record);
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
  const decideInput = makeDecideInput(deps, input, await readRecord(deps, input, viewer));
  const buildOfferRequest = createOfferRequestBuilder(deps, input);
  const externalDecision = await decideWithSources(
    deps.externalDeps,
    input.scope,
    decideInput,
    buildOfferRequest,
  );
  const ruleAnswer = describeRuleAnswer(decideInput);
  return { viewer, ruleAnswer, ...withdrawKilled(deps, input, externalDecision) };
}

/** While sources were called, which takes up to seconds, a kill switch may have been turned on. */
function withdrawKilled(
  { configuration, clock }: EvaluateWithSourcesDeps,
  { scope, entry: { placement } }: EvaluationInput,
  external: ExternalDecision,
): ExternalDecision {
  const { verdict, sourceCounts = [] } = external;
  if (verdict.status !== 'filled') return external;
  const { candidate, explain } = verdict;
  const ad =
    'pageSource' in candidate
      ? { sourceId: candidate.pageSource.id }
      : { sourceId: candidate.creative.source_id, advertiserId: candidate.creative.advertiser_id };
  const target = { placementId: placement.id, placement: placement.name, ...ad };
  if (!isKilled(configuration.snapshot(scope), target, clock.nowMs())) return external;
  const withdrawn = explain.map((item) =>
    item.verdict === 'chosen' ? { ...item, verdict: 'killed' } : item,
  );
  // Nobody is told that its ad has won.
  return { verdict: { status: 'no_fill', reason: 'killed', explain: withdrawn }, sourceCounts };
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
  { scope, entry, request, client: { adFree = [], device, country }, nowMs }: EvaluationInput,
  { servedAtMs, pageAdsAtMs, seenAds }: PlayerRecord,
): DecideInput {
  const snapshot = configuration.snapshot(scope);
  const context: PolicyContext = {
    childDirected: request.child_directed ?? false,
    hour: Math.floor(nowMs / msPerHour) % 24,
  };
  if (request.locale !== undefined) context.language = request.locale;
  if (device !== undefined) context.device = device;
  // A server may send what it got from elsewhere. A country that is not known matches no policy.
  const knownCountry = country === undefined ? undefined : normalizeCountry(country);
  if (knownCountry !== undefined) context.country = knownCountry;
  const segments = normalizeSegments(request.segments);
  if (segments.length > 0) context.segments = segments;
  const findEnds = () =>
    findRuleEnds(
      snapshot.adRules.enabled,
      joinVisit(entry.placement.format, request.session, seenAds, nowMs),
      segments,
    );
  return {
    snapshot,
    entry,
    request,
    context,
    servedAtMs,
    pageAdsAtMs,
    ruleEnds: snapshot.adRules.enabled.length === 0 ? noEnds : findEnds(),
    adFree,
    dailyBudgets: configuration.dailyBudgets(scope),
    nowMs,
    random: random(),
  };
}

const readRecord = (
  { configuration, readPlayerRecord }: EvaluateDeps,
  input: EvaluationInput,
  viewer: string | undefined,
): PlayerRecord | Promise<PlayerRecord> =>
  readPlayerRecord(input, viewer, configuration.snapshot(input.scope).adRules.record);

const findViewer = (
  { pseudonym }: EvaluateDeps,
  { scope, request }: EvaluationInput,
): string | undefined =>
  request.user_ref === undefined ? undefined : pseudonym(scope, request.user_ref);

const noEnds: RuleEnds = new Map();

type RuleAnswer = Pick<Decision, 'next_ad_at' | 'ad_rules'>;

/** Returns what the ad rules add to the response, so that the client can apply them without asking. */
function describeRuleAnswer({ snapshot, request, ruleEnds, nowMs }: DecideInput): RuleAnswer {
  const { adRules } = snapshot;
  const { rules_version: known = '' } = request.session ?? {};
  const ruleAnswer: RuleAnswer = {};
  if (request.session && known !== adRules.limits.version) ruleAnswer.ad_rules = adRules.limits;
  if (adRules.enabled.length === 0) return ruleAnswer;
  const times = findNextTimes(adRules, ruleEnds, nowMs);
  if (times.size === 0) return ruleAnswer;
  ruleAnswer.next_ad_at = {};
  for (const [format, atMs] of times)
    ruleAnswer.next_ad_at[format] = formatInstant(Math.ceil(atMs));
  return ruleAnswer;
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
