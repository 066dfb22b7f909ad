import { occupyPage } from '../ad-break/occupy-page.ts';
import { toRewardResult } from '../ad-break/reward-result.ts';
import type { BreakDeps, BreakRequest, NextAd } from '../ad-break/run-ad-break.ts';
import type { FilledDecision, ReadyAd } from '../decision/request-ad.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { RewardReport, ShowResult } from '../outcome.ts';
import { runWithTimeout } from '../platform/clock.ts';
import { callGuarded, has, reportUncaught } from '../platform/guard.ts';
import type { PortalAdapter } from './adapter.ts';
import type { Hold } from './hold-game.ts';
import { runPortalAd } from './run-portal-ad.ts';

export interface ShowPageAdDeps extends BreakDeps {
  hold: Hold;
  /** Ends when the ads are destroyed. */
  signal: AbortSignal;
  adapter: PortalAdapter;
  onShown(decisionId: string): void;
  /** Reports that the ad SDK has no ad, so that the next decision is another one. */
  reportNoAd(decision: FilledDecision, detail: string): void;
}

/** How a call ends if the ad SDK has said that it has no ad. One that says nothing may still show it. */
const withoutAd = /^(?:no_fill|frequency_capped|ad_blocked|blocked|not_ready|offline|error)$/;

/**
 * Lets an ad SDK in the page show its ad, and reports what can be known of it: that it began, how it ended, and that it
 * was watched. If the ad SDK has no ad after all, requests one more ad, and shows that, unless the game's own server has
 * requested this one. The game is held all the time.
 */
export async function showPageAd(
  deps: ShowPageAdDeps,
  request: BreakRequest,
  ad: ReadyAd,
  nextAd: NextAd,
): Promise<ShowResult> {
  const { adapter, clock, hold, rewards } = deps;
  const { decision, player } = ad;
  const { kind, placement } = request;
  const decisionId = decision.id;
  let hasStarted = false;

  /** What later events wait for, so that the reward is stored before its completion, and the completion before them. */
  let stored: Promise<unknown> | undefined;
  const report = (type: NewAdEvent['type'], detail?: string): Promise<void> =>
    deps
      .enqueue(
        { type, decision_id: decisionId, token: decision.token, ...(detail && { detail }) },
        stored,
      )
      .catch(reportUncaught);

  const release = hold();
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    release();
    callGuarded(request.onClose);
  };

  /** Reports how an ad ended that had begun. A reward has been reported by then. */
  function reportEnd({ outcome, detail = outcome }: ShowResult): void {
    if (!hasStarted) return;
    if (outcome === 'dismissed') void report('skip');
    if (outcome === 'error' || outcome === 'stalled') void report('error', detail.slice(0, 256));
    if (outcome === 'completed' && kind === 'interstitial') void report('complete');
    void report('close');
  }

  /** Reports the completion once the reward is stored on the device, and waits for the confirmation. */
  async function earn(tracking: Promise<unknown>): Promise<Partial<ShowResult>> {
    stored = tracking;
    const completed = report('complete');
    // If storage hangs, the game must not be kept waiting.
    const limitMs = deps.confirmationTimeoutMs + 500;
    const confirmed = await runWithTimeout(clock, limitMs, undefined, async () => {
      await completed;
      await rewards.setWatched(decisionId);
      return rewards.confirmation(decisionId, deps.confirmationTimeoutMs);
    });
    const known: RewardReport =
      typeof confirmed === 'object' ? confirmed : { decisionId, state: 'pending' };
    const { evidence } = known;
    const result = toRewardResult(known);
    return {
      ...(result.outcome === 'pending' && decision.reward && { reward: decision.reward }),
      ...result,
      ...(result.outcome === 'rewarded' && evidence !== undefined && { evidence }),
      decisionId,
    } as Partial<ShowResult>;
  }

  /** The game is given back in any case. */
  async function run(): Promise<ShowResult> {
    const shown = await runPortalAd(
      {
        clock,
        hold,
        destroyed: deps.signal,
        connect: async () => adapter,
        portalPlacement: placement,
        decisionId,
        occupy() {
          const late = occupyPage(request);
          return typeof late === 'function' ? late : undefined;
        },
        track() {
          const tracking = rewards.track(decision, player).catch(reportUncaught);
          return () => earn(tracking);
        },
        onShown() {
          void report('start');
          deps.onShown(decisionId);
        },
        onEnd: reportEnd,
      },
      {
        ...request,
        onStart() {
          hasStarted = true;
          request.onStart?.();
        },
        onClose() {
          // Otherwise, another ad may follow.
          if (hasStarted) close();
        },
      },
    );
    const { detail, outcome } = shown;
    if (hasStarted || !withoutAd.test(outcome)) {
      if (outcome === 'timeout') void report('error', outcome);
      return { ...shown, decisionId };
    }
    deps.reportNoAd(decision, detail ?? outcome);
    if (ad.isProvided) return { ...shown, decisionId };
    const next = await nextAd.obtain();
    return has(next, 'creative')
      ? nextAd.show({ ...request, onOpen: release, onClose: close }, next)
      : next;
  }
  return run().finally(close);
}
