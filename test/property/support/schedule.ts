import { randomUUID } from 'node:crypto';
import type { AdEvent, Decision } from '../../../protocol/wire.ts';
import { createDevice, type Device } from './device.ts';
import type { BatchPlan, PlayerPlan, WatchPlan } from './plan.ts';
import type { World } from './world.ts';

/** An action, and the time at which it happens by the service's clock. */
export interface Action {
  atMs: number;
  run(): Promise<unknown>;
}

/** The actual and the expected result of one planned ad. */
export interface Track {
  userRef: string;
  plan: WatchPlan;
  device: Device;
  /** Undefined if the kill switch stopped the ad. */
  decision?: Decision & { token: string };
  /** States in the responses of the service. */
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
  startMs: number,
): { actions: Action[]; tracks: Track[] } {
  const window = { fromMs: startMs + kill.atMs, toMs: startMs + kill.atMs + kill.forMs };
  const actions: Action[] = [];
  const tracks: Track[] = [];
  if (kill.forMs > 0) {
    actions.push({ atMs: window.fromMs, run: () => world.kill(true) });
    actions.push({ atMs: window.toMs, run: () => world.kill(false) });
  }
  for (const cutMs of cuts) {
    const atMs = startMs + cutMs;
    // The test does not retry changes of the kill switch, so no cut may happen during a change.
    if (atMs !== window.fromMs && atMs !== window.toMs) actions.push({ atMs, run: world.cut });
  }
  for (const player of players) schedulePlayer(world, player, startMs, window, actions, tracks);
  return { actions: actions.toSorted((a, b) => a.atMs - b.atMs), tracks };
}

interface Window {
  fromMs: number;
  toMs: number;
}

function schedulePlayer(
  world: World,
  player: PlayerPlan,
  startMs: number,
  kill: Window,
  actions: Action[],
  tracks: Track[],
): void {
  const userRef = `player-${randomUUID()}`;
  // A device whose clock is changed has only one ad, because the service could not distinguish two ads.
  const watches = player.jumpMs === 0 ? player.watches : player.watches.slice(0, 1);
  const toDeviceTime = deviceClock(player, startMs);
  const device = createDevice(world, toDeviceTime, player.tabs);
  for (const killMs of player.kills)
    actions.push({ atMs: startMs + killMs, run: async () => device.kill() });
  const playerTracks: Track[] = [];
  let freeMs = startMs;
  for (const plan of watches) {
    const previousTrack = playerTracks.at(-1);
    const parallel = plan.parallel && previousTrack !== undefined;
    const fromMs = parallel ? previousTrack.fromMs : freeMs + plan.gapMs + plan.preloadedMs;
    const decideMs = Math.max(startMs, fromMs - plan.preloadedMs);
    const track: Track = {
      userRef,
      plan,
      device,
      reportedStates: [],
      expected: 'either',
      fromMs,
      toMs: fromMs + adMs,
    };
    const occurrences = planOccurrences(plan, decideMs, fromMs);
    actions.push({ atMs: decideMs, run: () => decide(world, track) });
    for (const { type, happenedMs, statedMs, sentMs, more } of occurrences) {
      // All copies of an event have the same id.
      const id = randomUUID();
      if (type === 'complete')
        actions.push({
          atMs: Math.max(decideMs + 1, happenedMs),
          run: async () => track.decision && device.page().setWatched(track.decision.id),
        });
      for (const atMs of sentMs) {
        actions.push({
          atMs,
          run: async () => {
            const event = { id, type, occurred_at: toDeviceTime(statedMs ?? happenedMs), ...more };
            await send(world, track, playerTracks, event, toDeviceTime(atMs - plan.latencyMs));
          },
        });
      }
    }
    track.expected = expectation(plan, occurrences, decideMs, kill, parallel);
    // The clock was changed after the event. The service therefore computes a wrong time for an offline event. It also
    // can't know how long a cheat watched.
    const isLongEnough = isCheat(plan) && passedAtComplete(occurrences, decideMs) >= minWatchMs;
    if (player.jumpMs !== 0 && (plan.behavior === 'offline' || isLongEnough))
      track.expected = 'either';
    if (parallel && previousTrack.expected === 'earned') previousTrack.expected = 'either';
    freeMs = Math.max(freeMs, track.toMs);
    playerTracks.push(track);
    tracks.push(track);
  }
  if (!playerTracks.some(({ plan, expected }) => isCheat(plan) && expected === 'either')) return;
  // An honest ad view could have the times that the cheat claims.
  for (const track of playerTracks) if (track.expected === 'earned') track.expected = 'either';
}

/** Converts times to the device's clock. That clock is wrong, and may be changed during the first ad. */
function deviceClock({ skewMs, jumpMs, watches }: PlayerPlan, startMs: number) {
  const [first] = watches;
  const jumpAtMs = startMs + (first ? first.gapMs + first.preloadedMs : 0) + adMs / 2;
  return (ms: number): number => ms + skewMs + (ms >= jumpAtMs ? jumpMs : 0);
}

/** Whether the device claims a complete ad view that did not happen. */
export const isCheat = ({ behavior }: WatchPlan): boolean =>
  ['early', 'sped-up', 'backdated'].includes(behavior);

interface Occurrence {
  type: AdEvent['type'];
  happenedMs: number;
  /** The value that the device reports instead. */
  statedMs?: number;
  sentMs: number[];
  more: Pick<AdEvent, 'watched_ms' | 'visible'>;
}

/** Plans when the events happen on the device and when they are sent. */
function planOccurrences(plan: WatchPlan, decideMs: number, fromMs: number): Occurrence[] {
  const { behavior, sends, latencyMs } = plan;
  const speed =
    behavior === 'sped-up' ? 16 : behavior === 'early' || behavior === 'backdated' ? 50 : 1;
  const laterMs = behavior === 'offline' ? 5 * hourMs : behavior === 'too-late' ? 25 * hourMs : 0;
  const at = (
    type: AdEvent['type'],
    share: number,
    delays: number[],
    more: Occurrence['more'] = {},
  ): Occurrence => {
    const happenedMs = fromMs + Math.round((adMs * share) / speed);
    const backdated = behavior === 'backdated' ? { statedMs: happenedMs - 20 * hourMs } : {};
    return {
      type,
      happenedMs,
      ...backdated,
      more,
      sentMs: delays.map((delay) => sentAt(happenedMs, delay)),
    };
  };
  const sentAt = (happenedMs: number, delay: number): number => {
    // A cheat does not wait. Otherwise, five seconds would really pass for the service.
    const cheats = speed > 1;
    const ms = happenedMs + (cheats ? 0 : delay) + laterMs + latencyMs;
    return Math.max(decideMs + 1, Math.ceil(ms / 500) * 500);
  };
  const visible = { ratio: behavior === 'hidden' ? 0.3 : 1, ms: 1_000 };
  return [
    at('start', 0, sends.start),
    at('first_quartile', 0.25, sends.quartiles),
    at('midpoint', 0.5, sends.quartiles),
    ...(behavior === 'unseen' ? [] : [at('impression', 0.4, sends.seen, { visible })]),
    at('complete', 1, sends.complete, { watched_ms: adMs }),
  ];
}

/** The minimum time between the decision and the end of an ad view. */
const minWatchMs = adMs * 0.95;

const passedAtComplete = (occurrences: Occurrence[], decideMs: number): number =>
  Math.min(...(occurrences.at(-1)?.sentMs ?? [])) - decideMs;

function expectation(
  plan: WatchPlan,
  occurrences: Occurrence[],
  decideMs: number,
  kill: Window,
  parallel: boolean,
): Track['expected'] {
  const { behavior, placement } = plan;
  if (isCheat(plan)) {
    const first = (type: AdEvent['type']) =>
      Math.min(
        ...occurrences.flatMap((occurrence) => (occurrence.type === type ? occurrence.sentMs : [])),
      );
    const reportedStart = behavior !== 'backdated' && first('start') < first('complete');
    // Without a reported start, the service has no evidence of cheating if enough time has passed since the decision.
    const passedMs = passedAtComplete(occurrences, decideMs);
    return passedMs >= minWatchMs && !reportedStart ? 'either' : 'not earned';
  }
  if (behavior !== 'honest' && behavior !== 'offline') return 'not earned';
  if (placement === 'double-coins' && kill.toMs > kill.fromMs) {
    const whileKilled = (ms: number) => ms >= kill.fromMs && ms <= kill.toMs;
    const sent = occurrences.flatMap(({ sentMs }) => sentMs);
    const firstComplete = Math.min(...(occurrences.at(-1)?.sentMs ?? []));
    if (firstComplete > kill.fromMs && firstComplete < kill.toMs) return 'not earned';
    if (sent.some(whileKilled) || whileKilled(decideMs)) return 'either';
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
  sentAt: number,
): Promise<void> {
  const { decision, plan } = track;
  if (!decision) return;
  const token = chooseToken(
    plan,
    decision.token,
    playerTracks.find((other) => other !== track)?.decision?.token,
  );
  // If the page is killed in the meantime, it does not receive the response.
  const page = track.device.page();
  const response = await world.report(
    {
      ...event,
      occurred_at: new Date(event.occurred_at).toISOString(),
      decision_id: decision.id,
      token,
    },
    new Date(sentAt).toISOString(),
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
  if (behavior === 'foreign-token') return other ?? `${token}x`;
  if (behavior !== 'edited-token') return token;
  // The last claim is the user reference.
  return token.replace(/~[^~]*(?=\.[^.]*$)/, '~thief');
}
