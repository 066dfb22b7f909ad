import type { Decision } from '../../protocol/wire.ts';
import { findShownAd, occupyPage } from '../ad-break/occupy-page.ts';
import type { BreakKind, BreakRequest } from '../ad-break/run-ad-break.ts';
import type { PortalPage, PreloadOptions } from '../ads.ts';
import type { Decisions } from '../decision/decisions.ts';
import type { RequestOptions } from '../options.ts';
import type { Availability, Outcome, Reward, ShowResult } from '../outcome.ts';
import { type Clock, createDeadline, type Deadline, runWithTimeout } from '../platform/clock.ts';
import type { PortalName } from '../platform/find-portal.ts';
import { callGuarded, copyOwn, has, messageOf, reportUncaught, toText } from '../platform/guard.ts';
import { loadPart } from '../platform/load-part.ts';
import { listen } from '../platform/native.ts';
import type { Rewards } from '../reward/rewards.ts';
import type { PortalAdapter } from './adapter.ts';
import { adapters } from './adapters/index.ts';
import { createHold, type HoldDeps } from './hold-game.ts';
import { mutePage } from './mute-page.ts';
import { NotConnected, runPortalAd, startLimitMs } from './run-portal-ad.ts';

/** How long a placement counts as unavailable after a call without an ad, in milliseconds. */
const restMs = 30_000;

export interface PortalDeps extends HoldDeps {
  portal: PortalName | PortalAdapter;
  portalRewards?: Record<string, Reward> | undefined;
  portalPlacements?: Record<string, string> | undefined;
  clock: Clock;
  rewards: Pick<Rewards, 'settle' | 'track'>;
  /** Returns why the player may see no ad now. */
  findHold: Decisions['findHold'];
  /** Counts an ad that has begun. */
  onShown(ad: Pick<Decision, 'format' | 'id' | 'placement'>): void;
  newId(): string;
  /** How long the result may wait until a reward is stored, in milliseconds. */
  confirmationTimeoutMs: number;
  /** Ends when the ads are destroyed. */
  signal: AbortSignal;
  onChange(): void;
}

/** A page that belongs to a portal: its ads, and what the game and the portal tell each other. */
export interface Portal extends Pick<
  PortalPage,
  'playerToken' | 'gameplayStart' | 'gameplayStop' | 'loadingFinished'
> {
  run(request: BreakRequest): Promise<ShowResult>;
  availability(placement: string, options?: RequestOptions): Availability;
  isLoaded(placement: string): boolean;
  preload(placement: string, signal?: AbortSignal, options?: PreloadOptions): Promise<Availability>;
}

/** A time in which no ad is offered. */
interface Rest {
  outcome: Outcome;
  until: Deadline;
  retryAt: Date;
  /** Cancels the timer that announces its end. */
  cancel(): void;
}

/**
 * Connects a page to its portal, whose ads are then the only ones. What the portal does to the game is written to
 * `page`.
 */
export function connectPortal(
  deps: PortalDeps,
  page: Pick<PortalPage, 'language' | 'muted'>,
): Portal {
  const { clock, newId, onChange, portal, rewards, signal } = deps;
  const hold = createHold(deps);
  const name = typeof portal === 'string' ? portal : portal.name;
  const portalRewards = copyOwn(deps.portalRewards);
  const portalPlacements = copyOwn(deps.portalPlacements);
  const findPlacement = (placement: string): string =>
    toText(portalPlacements[placement] ?? placement);
  const mistake = findMistake(portal);
  if (mistake) reportUncaught(new TypeError(`trueward: ${mistake}`));
  /** Why a placement's ads, or all of them (`''`), are unavailable for now. */
  const rests = new Map<string, Rest>();
  const loadedPlacements = new Set<string>();
  let isDisabled = false;
  let ready: PortalAdapter | undefined;
  let connecting: Promise<PortalAdapter> | undefined;

  function rest(placement: string, outcome: Outcome): void {
    rests.get(placement)?.cancel();
    rests.set(placement, {
      outcome,
      until: createDeadline(clock, restMs),
      retryAt: new Date(clock.now() + restMs),
      cancel: clock.after(restMs, onChange),
    });
    onChange();
  }
  /** Cancels the timer that announces when the ad rules let a placement's next ad through. */
  const holds = new Map<string, () => void>();
  listen(signal, 'abort', () => {
    holds.forEach((cancel) => cancel());
    rests.forEach(({ cancel }) => cancel());
  });
  const findRest = (placement: string) => {
    const resting = rests.get(placement);
    return resting?.until.passed() === false ? resting : undefined;
  };

  async function loadAdapter(): Promise<PortalAdapter> {
    const adapter =
      typeof portal === 'string'
        ? (await loadPart(adapters[portal], 'createAdapter', { clock, signal }))(portal)
        : portal;
    await adapter.load();
    return adapter;
  }

  /** Connects within the time limit. After a failure, another attempt is made only when ads may be offered again. */
  async function attempt(): Promise<PortalAdapter> {
    let detail = `${name}'s SDK was not ready within ${startLimitMs / 1_000} seconds.`;
    const adapter = await runWithTimeout(clock, startLimitMs, signal, () =>
      loadAdapter().catch((error: unknown) => {
        detail = messageOf(error);
        throw error;
      }),
    );
    if (typeof adapter === 'object') return adapter;
    connecting = undefined;
    if (adapter === 'aborted') throw new NotConnected({ outcome: adapter });
    // Nearly always, an ad blocker has blocked the portal's script.
    const outcome = adapter === 'failed' ? 'ad_blocked' : adapter;
    rest('', outcome);
    const reason = adapter === 'failed' ? 'load_failed' : 'load_timeout';
    throw new NotConnected({ outcome, reason, detail });
  }

  async function connect(): Promise<PortalAdapter> {
    if (mistake)
      throw new NotConnected({ outcome: 'error', reason: 'option_invalid', detail: mistake });
    const resting = findRest('');
    if (resting) {
      const { outcome, retryAt } = resting;
      throw new NotConnected({ outcome, reason: 'load_failed', retryAt });
    }
    const adapter = await (connecting ??= attempt());
    if (!ready) welcome((ready = adapter));
    return adapter;
  }

  /** Follows what the portal does to the game. */
  function welcome(adapter: PortalAdapter): void {
    let release: (() => void) | undefined;
    let unmute: (() => void) | undefined;
    const end = (): void => {
      release?.();
      unmute?.();
      release = unmute = undefined;
    };
    const setMuted = (isMuted: boolean): void => {
      if (page.muted === isMuted || signal.aborted) return;
      page.muted = isMuted;
      unmute?.();
      unmute = isMuted ? mutePage() : undefined;
      onChange();
    };
    callGuarded(() => {
      const stop = adapter.pauseSignals?.({
        pause: () => {
          if (!signal.aborted) release ??= hold();
        },
        resume() {
          release?.();
          release = undefined;
        },
        mute: () => setMuted(true),
        unmute: () => setMuted(false),
      });
      listen(signal, 'abort', () => {
        end();
        if (typeof stop === 'function') callGuarded(stop as () => void);
      });
    });
    void askAdapter(() => adapter.language?.()).then((tag) => {
      if (tag === undefined) return;
      // Facebook and others write it as `de_DE`.
      page.language = tag.replaceAll('_', '-');
      onChange();
    });
  }

  /** Asks the adapter for a text. Resolves with undefined if it has none, fails, or does not answer in time. */
  async function askAdapter(ask: () => unknown): Promise<string | undefined> {
    const answer = await runWithTimeout(clock, startLimitMs, signal, async () => ({
      text: await ask(),
    }));
    return typeof answer === 'object' && typeof answer.text === 'string' && answer.text !== ''
      ? answer.text
      : undefined;
  }

  function findReward(placement: string): Reward | ShowResult {
    const reward = portalRewards[placement];
    const { amount, type } = Object(reward) as Partial<Reward>;
    if (typeof type === 'string' && Number.isFinite(amount))
      return { type, amount: Number(amount) };
    const detail =
      `Pass the placement's reward to createAds(): \`portalRewards: { ${JSON.stringify(placement)}: ` +
      `{ type: 'coins', amount: 25 } }\`. Got ${JSON.stringify(reward) ?? 'none'}.`;
    return { outcome: 'invalid_placement', reason: 'reward_unknown', detail };
  }

  function trackReward(adapter: PortalAdapter, placement: string, reward: Reward) {
    const decisionId = `${adapter.name}-${newId()}`;
    const evidence = 'client_attested';
    const tracking = rewards
      .track({ id: decisionId, placement, reward, token: '' })
      .catch(reportUncaught);
    return async () => {
      // If storage hangs, the game must not be kept waiting.
      await runWithTimeout(clock, deps.confirmationTimeoutMs, undefined, async () => {
        await tracking;
        await rewards.settle([{ id: decisionId, state: 'earned', evidence }]);
        return true;
      });
      return { decisionId, reward, evidence };
    };
  }

  async function run(request: BreakRequest): Promise<ShowResult> {
    const { kind, placement } = request;
    const reward = kind === 'rewarded' ? findReward(placement) : undefined;
    if (reward && has(reward, 'outcome')) return reward;
    const held = findHold(placement, { ...request, format: kind });
    if (held) return held;
    const result = await runPortalAd(
      {
        clock,
        hold,
        destroyed: signal,
        connect,
        portalPlacement: findPlacement(placement),
        occupy() {
          const late = occupyPage(request);
          return typeof late === 'function' ? late : undefined;
        },
        track: (adapter) => trackReward(adapter, placement, reward as Reward),
        onShown: () => deps.onShown({ id: newId(), format: kind, placement }),
      },
      request,
    );
    note(placement, result);
    return result;
  }

  /** Remembers what a result says about the next ad. */
  function note(placement: string, { outcome }: ShowResult): void {
    loadedPlacements.delete(placement);
    if (outcome === 'blocked') isDisabled = true;
    if (/^(?:no_fill|frequency_capped|ad_blocked|not_ready|offline|timeout|error)$/.test(outcome))
      rest(placement, outcome);
  }

  /** Returns the kind of ad that a placement has, as far as the options tell. */
  const findKind = (placement: string): BreakKind =>
    portalRewards[placement] === undefined ? 'interstitial' : 'rewarded';

  /** Returns why the player may see no ad now, and announces when that ends. */
  const findHold: typeof deps.findHold = (placement, options) => {
    const held = deps.findHold(placement, options);
    holds.get(placement)?.();
    holds.delete(placement);
    if (held?.retryAt)
      holds.set(placement, clock.after(Math.max(Number(held.retryAt) - clock.now(), 1), onChange));
    return held;
  };

  function availability(placement: string, options?: RequestOptions): Availability {
    if (findShownAd()) return { available: false, outcome: 'already_showing' };
    if (mistake) return { available: false, outcome: 'error', reason: 'option_invalid' };
    if (isDisabled) return { available: false, outcome: 'blocked' };
    const held = findHold(placement, { ...options, format: findKind(placement) });
    if (held) return { available: false, ...held };
    const resting = findRest('') ?? findRest(placement);
    if (resting) return { available: false, outcome: resting.outcome, retryAt: resting.retryAt };
    const reward = findReward(placement);
    // After a failure, the next call connects again.
    return (ready ?? rests.has(''))
      ? { available: true, ...(has(reward, 'type') && { reward }) }
      : { available: false, outcome: 'not_ready' };
  }

  const signalGame = (name: 'gameplayStart' | 'gameplayStop' | 'loadingFinished') => (): void =>
    void connect().then(
      (adapter) => callGuarded(() => adapter[name]?.()),
      // Without its SDK, the portal is not interested.
      () => undefined,
    );

  connect().then(onChange, onChange);

  return {
    run,
    availability,
    isLoaded: (placement) => loadedPlacements.has(placement),
    async preload(placement, callSignal = signal, { decision, format } = {}) {
      if (decision !== undefined)
        return { available: false, outcome: 'error', reason: 'portal_only' };
      const kind = format === undefined || format === 'banner' ? findKind(placement) : format;
      const isLoaded = await runWithTimeout(clock, startLimitMs, callSignal, async () => {
        const adapter = await connect();
        const answer = await adapter.preload?.(kind, findPlacement(placement));
        return answer === true;
      });
      if (isLoaded === true) loadedPlacements.add(placement);
      return availability(placement);
    },
    playerToken: () => askAdapter(async () => (await connect()).playerToken?.()),
    gameplayStart: signalGame('gameplayStart'),
    gameplayStop: signalGame('gameplayStop'),
    loadingFinished: signalGame('loadingFinished'),
  };
}

/** Returns what is wrong with the option `portal`, or undefined if it can be used. */
function findMistake(portal: unknown): string | undefined {
  const { load, name, show } = Object(portal) as Partial<PortalAdapter>;
  const isValid =
    typeof portal === 'string'
      ? Object.hasOwn(adapters, portal)
      : typeof name === 'string' && typeof load === 'function' && typeof show === 'function';
  if (isValid) return undefined;
  const names = Object.keys(adapters).join(', ');
  const actual = typeof portal === 'string' ? JSON.stringify(portal.slice(0, 40)) : typeof portal;
  return `the option \`portal\` must be auto, ${names}, or an adapter with a name, load() and show(); got ${actual}.`;
}
