import fc from 'fast-check';

/** How a five-second ad is watched or faked. */
export type Behavior =
  | 'honest'
  | 'offline' // sends all events hours later
  | 'too-late' // sends all events after the late window
  | 'early' // reports a completion before the ad can have ended
  | 'sped-up' // runs the page 16 times as fast
  | 'backdated' // claims an earlier start
  | 'unseen' // reports no impression
  | 'hidden' // reports an impression with too few visible pixels
  | 'edited-token' // names another user in the token
  | 'mismatched-token' // sends the events with another decision's token
  | 'bot'; // identifies itself as a bot

/** One player's ad. Times are in milliseconds on the service's clock. */
export interface WatchPlan {
  behavior: Behavior;
  placement: 'revive' | 'double-coins';
  /** Time between the end of the previous ad and this request. */
  gapMs: number;
  /** Time between the request for the preloaded ad and the start of the ad. */
  preloadedMs: number;
  /** Whether the ad is watched at the same time as the previous ad, in another tab. */
  parallel: boolean;
  /** Delays after which copies of each event are sent. Copies with the same delay are sent in parallel. */
  sendDelays: { start: number[]; quartiles: number[]; seen: number[]; complete: number[] };
  /** Request latency. */
  latencyMs: number;
}

export interface PlayerPlan {
  /** Offset of the device's clock. */
  skewMs: number;
  /** By how much the device's clock is set forward or back during the first ad. */
  jumpMs: number;
  watches: WatchPlan[];
  /** Number of tabs in which the game is open. */
  tabs: number;
  /** Times at which the browser is killed and restarted. */
  kills: number[];
}

export interface BatchPlan {
  players: PlayerPlan[];
  /** When a kill switch stops the `double-coins` placement, and for how long. */
  kill: { atMs: number; forMs: number };
  /** Times at which all connections break, both those from players and those to the database server. */
  cuts: number[];
}

const times = (maxMs: number, step = 500) =>
  fc.integer({ min: 0, max: maxMs / step }).map((count) => count * step);
const delays = fc.array(times(8_000), { minLength: 1, maxLength: 3 });

const behavior: fc.Arbitrary<Behavior> = fc.oneof(
  { weight: 10, arbitrary: fc.constant('honest' as const) },
  {
    weight: 11,
    arbitrary: fc.constantFrom(
      'offline',
      'too-late',
      'early',
      'sped-up',
      'backdated',
      'unseen',
      'hidden',
      'edited-token',
      'mismatched-token',
      'bot',
    ),
  },
);

const watchPlan: fc.Arbitrary<WatchPlan> = fc.record({
  behavior,
  placement: fc.constantFrom('revive', 'double-coins'),
  gapMs: times(10_000).map((ms) => ms + 500),
  preloadedMs: times(30_000),
  parallel: fc.oneof(
    { weight: 4, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  sendDelays: fc.record({ start: delays, quartiles: delays, seen: delays, complete: delays }),
  latencyMs: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 1_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1_000, max: 12_000 }) },
  ),
});

const playerPlan: fc.Arbitrary<PlayerPlan> = fc.record({
  skewMs: fc.constantFrom(0, 0, 250, -90_000, 7_200_000, -31_536_000_000),
  jumpMs: fc.constantFrom(0, 0, 0, 3_600_000, -3_600_000),
  watches: fc.array(watchPlan, { minLength: 1, maxLength: 3 }),
  tabs: fc.constantFrom(1, 1, 2),
  kills: fc.array(times(60_000), { maxLength: 2 }),
});

/** Number of simultaneous players. */
export const playersPerBatch = 50;

/** Plans for many players on one service. Each player's plan is one sequence. */
export const batchPlan: fc.Arbitrary<BatchPlan> = fc.record({
  players: fc.array(playerPlan, { minLength: playersPerBatch, maxLength: playersPerBatch }),
  kill: fc.record({ atMs: times(60_000), forMs: times(15_000) }),
  cuts: fc.array(times(60_000), { maxLength: 3 }),
});
