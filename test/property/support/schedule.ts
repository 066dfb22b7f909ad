import { randomUUID } from 'node:crypto';
import type { AdEvent, Decision } from '../../../protocol/wire.ts';
import { maxHoldMs } from '../../../service/src/reward/early-events.ts';
import { createDevice, type Device } from './device.ts';
import type { BatchPlan, PlayerPlan, WatchPlan } from './plan.ts';
import type { World } from './world.ts';

/** An action, and the time on the service's clock at which it happens. */
export interface Action {
  atMs: number;
  run(): Promise<unknown>;
}

/** The actual and expected result of one planned ad. */
export interface Track {
  userRef: string;
  plan: WatchPlan;
  device: Device;
  /** Undefined if the kill switch stopped the ad. */
  decision?: Decision & { token: string };
  /** Reward states from the service's responses, in order. */
  reportedStates: string[];
  expected: 'earned' | 'not earned' | 'either';
  /** When the service first reported the reward as earned. */
  earnedAtMs?: number;
  /** When the ad is watched. Used to check that nobody watches two ads at the same time. */
  fromMs: number;
  toMs: number;
}

const adMs = 5_000;
const hourMs = 3_600_000;

/** Converts a plan into actions at absolute times. */
export function schedule(
  world: World,
  { players, kill, cuts }: BatchPlan,
  startAtMs: number,
): { actions: Action[]; tracks: Track[] } {
  const window = { fromMs: startAtMs + kill.atMs, toMs: startAtMs + kill.atMs + kill.forMs };
  const actions: Action[] = [];
  const tracks: Track[] = [];
  if (kill.forMs > 0) {
    actions.push({ atMs: window.fromMs, run: () => world.kill(true) });
    actions.push({ atMs: window.toMs, run: () => world.kill(false) });
  }
  for (const cutMs of cuts) {
    const atMs = startAtMs + cutMs;
    // The test does not retry changes to the kill switch, so no cut may happen during a change.
    if (atMs !== window.fromMs && atMs !== window.toMs) actions.push({ atMs, run: world.cut });
  }
  for (const player of players) schedulePlayer(world, player, startAtMs, window, actions, tracks);
  return { actions: actions.toSorted((a, b) => a.atMs - b.atMs), tracks };
}

interface Window {
  fromMs: number;
  toMs: number;
}

function schedulePlayer(
  world: World,
  player: PlayerPlan,
  startAtMs: number,
  kill: Window,
  actions: Action[],
  tracks: Track[],
): void {
  const userRef = `player-${randomUUID()}`;
  // A device whose clock is changed has only one ad. With two, the service could not tell whether they were watched one
  // after the other.
  const watches = player.jumpMs === 0 ? player.watches : player.watches.slice(0, 1);
  const toDeviceTime = deviceClock(player, startAtMs);
  const device = createDevice(world, toDeviceTime, player.tabs);
  for (const killMs of player.kills)
    actions.push({ atMs: startAtMs + killMs, run: async () => device.kill() });
  const playerTracks: Track[] = [];
  let freeAtMs = startAtMs;
  for (const plan of watches) {
    const previousTrack = playerTracks.at(-1);
    const parallel = plan.parallel && previousTrack !== undefined;
    const fromMs = parallel ? previousTrack.fromMs : freeAtMs + plan.gapMs + plan.preloadedMs;
    const decideAtMs = Math.max(startAtMs, fromMs - plan.preloadedMs);
    const track: Track = {
      userRef,
      plan,
      device,
      reportedStates: [],
      expected: 'either',
      fromMs,
      toMs: fromMs + adMs,
    };
    const occurrences = planOccurrences(plan, decideAtMs, fromMs);
    actions.push({ atMs: decideAtMs, run: () => decide(world, track) });
    for (const { type, occurredAtMs, claimedAtMs, sentAtMs, more } of occurrences) {
      // All copies of an event have the same id.
      const id = randomUUID();
      if (type === 'complete')
        actions.push({
          atMs: Math.max(decideAtMs + 1, occurredAtMs),
          run: async () => track.decision && device.page().setWatched(track.decision.id),
        });
      for (const atMs of sentAtMs) {
        actions.push({
          atMs,
          run: async () => {
            const event = {
              id,
              type,
              occurred_at: toDeviceTime(claimedAtMs ?? occurredAtMs),
              ...more,
            };
            await send(world, track, playerTracks, event, toDeviceTime(atMs - plan.latencyMs));
          },
        });
      }
    }
    track.expected = expectation(plan, occurrences, decideAtMs, kill, parallel);
    // If the clock changes after an offline event, the service computes the wrong time for that event. It also can't
    // know how long a cheater actually watched.
    const isLongEnough =
      isCheater(plan) && passedAtComplete(occurrences, decideAtMs) >= minPassedMs;
    if (player.jumpMs !== 0 && (plan.behavior === 'offline' || isLongEnough))
      track.expected = 'either';
    if (parallel && previousTrack.expected === 'earned') previousTrack.expected = 'either';
    freeAtMs = Math.max(freeAtMs, track.toMs);
    playerTracks.push(track);
    tracks.push(track);
  }
  if (!playerTracks.some(({ plan, expected }) => isCheater(plan) && expected === 'either')) return;
  // The times that a cheater claims can overlap with an honest ad view, so either ad may be the one that earns its
  // reward.
  for (const track of playerTracks) if (track.expected === 'earned') track.expected = 'either';
}

/** Converts times to the device's clock, which may be wrong and may be changed during the first ad. */
function deviceClock({ skewMs, jumpMs, watches }: PlayerPlan, startAtMs: number) {
  const [first] = watches;
  const jumpAtMs = startAtMs + (first ? first.gapMs + first.preloadedMs : 0) + adMs / 2;
  return (ms: number): number => ms + skewMs + (ms >= jumpAtMs ? jumpMs : 0);
}

/** Whether the device claims a complete ad view that did not happen. */
export const isCheater = ({ behavior }: WatchPlan): boolean =>
  ['early', 'sped-up', 'backdated'].includes(behavior);

interface Occurrence {
  type: AdEvent['type'];
  occurredAtMs: number;
  /** The time that the device reports instead of `occurredAtMs`. */
  claimedAtMs?: number;
  sentAtMs: number[];
  more: Pick<AdEvent, 'watched_ms' | 'visible'>;
}

/** Plans when the events happen on the device and when they are sent. */
function planOccurrences(plan: WatchPlan, decideAtMs: number, fromMs: number): Occurrence[] {
  const { behavior, sendDelays, latencyMs } = plan;
  const speed =
    behavior === 'sped-up' ? 16 : behavior === 'early' || behavior === 'backdated' ? 50 : 1;
  const laterMs = behavior === 'offline' ? 5 * hourMs : behavior === 'too-late' ? 25 * hourMs : 0;
  const at = (
    type: AdEvent['type'],
    share: number,
    delays: number[],
    more: Occurrence['more'] = {},
  ): Occurrence => {
    const occurredAtMs = fromMs + Math.round((adMs * share) / speed);
    const backdated = behavior === 'backdated' ? { claimedAtMs: occurredAtMs - 20 * hourMs } : {};
    return {
      type,
      occurredAtMs,
      ...backdated,
      more,
      sentAtMs: delays.map((delay) => toSentAtMs(occurredAtMs, delay)),
    };
  };
  const toSentAtMs = (occurredAtMs: number, delay: number): number => {
    // A cheater sends events without a delay. Otherwise, five seconds would actually pass on the service's clock.
    const isCheating = speed > 1;
    const ms = occurredAtMs + (isCheating ? 0 : delay) + laterMs + latencyMs;
    return Math.max(decideAtMs + 1, Math.ceil(ms / 500) * 500);
  };
  const visible = { ratio: behavior === 'hidden' ? 0.3 : 1, ms: 1_000 };
  return [
    at('start', 0, sendDelays.start),
    at('first_quartile', 0.25, sendDelays.quartiles),
    at('midpoint', 0.5, sendDelays.quartiles),
    ...(behavior === 'unseen' ? [] : [at('impression', 0.4, sendDelays.seen, { visible })]),
    at('complete', 1, sendDelays.complete, { watched_ms: adMs }),
  ];
}

/**
 * The minimum time between the decision and the arrival of a completion that can earn the reward. The service holds a
 * completion that arrives a little too early, until the ad can have ended. The world's clock stands still meanwhile.
 */
const minPassedMs = adMs * 0.95 - maxHoldMs;

const passedAtComplete = (occurrences: Occurrence[], decideAtMs: number): number =>
  Math.min(...(occurrences.at(-1)?.sentAtMs ?? [])) - decideAtMs;

function expectation(
  plan: WatchPlan,
  occurrences: Occurrence[],
  decideAtMs: number,
  kill: Window,
  parallel: boolean,
): Track['expected'] {
  const { behavior, placement } = plan;
  if (isCheater(plan)) {
    const first = (type: AdEvent['type']) =>
      Math.min(
        ...occurrences.flatMap((occurrence) =>
          occurrence.type === type ? occurrence.sentAtMs : [],
        ),
      );
    const reportedStart = behavior !== 'backdated' && first('start') < first('complete');
    // Without a reported start, the service has no evidence of cheating if enough time has passed since the decision.
    const passedMs = passedAtComplete(occurrences, decideAtMs);
    return passedMs >= minPassedMs && !reportedStart ? 'either' : 'not earned';
  }
  if (behavior !== 'honest' && behavior !== 'offline') return 'not earned';
  if (placement === 'double-coins' && kill.toMs > kill.fromMs) {
    const whileKilled = (ms: number) => ms >= kill.fromMs && ms <= kill.toMs;
    const sent = occurrences.flatMap(({ sentAtMs }) => sentAtMs);
    const firstComplete = Math.min(...(occurrences.at(-1)?.sentAtMs ?? []));
    if (firstComplete > kill.fromMs && firstComplete < kill.toMs) return 'not earned';
    if (sent.some(whileKilled) || whileKilled(decideAtMs)) return 'either';
  }
  return parallel ? 'either' : 'earned';
}

async function decide(world: World, track: Track): Promise<void> {
  const { placement, behavior } = track.plan;
  const decision = await world.decide(placement, track.userRef, behavior === 'bot');
  if (!decision) return;
  track.decision = decision;
  await track.device.page().track(decision);
}

async function send(
  world: World,
  track: Track,
  playerTracks: Track[],
  event: { id: string; type: AdEvent['type']; occurred_at: number },
  sentAtMs: number,
): Promise<void> {
  const { decision, plan } = track;
  if (!decision) return;
  const token = chooseToken(
    plan,
    decision.token,
    playerTracks.find((other) => other !== track)?.decision?.token,
  );
  // If the page is killed while the request is in flight, it does not receive the response.
  const page = track.device.page();
  const response = await world.report(
    {
      ...event,
      occurred_at: new Date(event.occurred_at).toISOString(),
      decision_id: decision.id,
      token,
    },
    new Date(sentAtMs).toISOString(),
    plan.behavior === 'bot',
  );
  await page.settle(response);
  if (response.some(({ id, state }) => id === decision.id && state === 'earned'))
    track.earnedAtMs ??= world.clock.nowMs();
  track.reportedStates.push(
    ...response.filter(({ id }) => id === decision.id).map(({ state }) => state),
  );
}

function chooseToken({ behavior }: WatchPlan, token: string, other: string | undefined): string {
  if (behavior === 'mismatched-token') return other ?? `${token}x`;
  if (behavior !== 'edited-token') return token;
  // The last claim is the user reference.
  return token.replace(/~[^~]*(?=\.[^.]*$)/, '~thief');
}
