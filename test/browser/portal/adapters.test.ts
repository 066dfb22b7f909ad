import { afterEach, describe, expect, it } from 'vitest';
import type { PortalBehavior } from '../../../demo/src/portals/stage.ts';
import type { Outcome } from '../../../src/outcome.ts';
import type { PortalName } from '../../../src/platform/find-portal.ts';
import { eventually } from '../../support/eventually.ts';
import { createPortalPage, isSilent, type PortalTestPage } from './portal-set.ts';

let page: PortalTestPage;
afterEach(() => page.destroy());

type Refusal = Exclude<PortalBehavior['answer'], 'ad' | 'silence' | 'exception'>;

/** What a portal tells apart. `closed`: the player has closed the ad early. */
const outcomes: Record<PortalName, Record<Refusal | 'closed', Outcome>> = {
  crazygames: {
    closed: 'error',
    no_fill: 'no_fill',
    capped: 'frequency_capped',
    blocked: 'ad_blocked',
    failure: 'error',
  },
  poki: {
    closed: 'dismissed',
    no_fill: 'no_fill',
    capped: 'no_fill',
    blocked: 'no_fill',
    failure: 'error',
  },
  gamedistribution: {
    closed: 'dismissed',
    no_fill: 'no_fill',
    capped: 'frequency_capped',
    blocked: 'ad_blocked',
    failure: 'error',
  },
  gamesnacks: {
    closed: 'dismissed',
    no_fill: 'no_fill',
    capped: 'frequency_capped',
    blocked: 'error',
    failure: 'error',
  },
  google_h5: {
    closed: 'dismissed',
    no_fill: 'no_fill',
    capped: 'frequency_capped',
    blocked: 'error',
    failure: 'error',
  },
  yandex: {
    closed: 'dismissed',
    no_fill: 'no_fill',
    capped: 'no_fill',
    blocked: 'no_fill',
    failure: 'error',
  },
  facebook: {
    closed: 'dismissed',
    no_fill: 'no_fill',
    capped: 'frequency_capped',
    blocked: 'blocked',
    failure: 'error',
  },
  youtube: {
    closed: 'dismissed',
    no_fill: 'no_fill',
    capped: 'error',
    blocked: 'error',
    failure: 'error',
  },
};
/** YouTube does not say when an ad begins, so its silence counts as an ad that does not end. */
const silence: Record<string, [Outcome, number]> = {
  youtube: ['stalled', 300_000],
  facebook: ['stalled', 300_000],
};
/** An ad that these only offer is not taken anymore once nobody waits for it. */
const offersAds = ['gamesnacks', 'google_h5'];

describe.each(Object.keys(outcomes) as PortalName[])('the adapter for %s', (name) => {
  const orders = ['documented', 'at once', 'twice', 'reward last'] as const;

  it('ends every call with its outcome, gives the game back, and stores each reward once', async () => {
    page = createPortalPage(name);
    const { behavior, game, granted } = page;
    let calls = 0;
    const expectCall = async (
      expected: Outcome,
      rewards: number,
      kind: 'rewarded' | 'interstitial' = 'rewarded',
    ): Promise<void> => {
      granted.length = 0;
      calls += 1;
      const label = JSON.stringify({ ...behavior, kind });
      const { outcome, reward, evidence } = await page.show(kind);
      expect({ label, outcome }).toEqual({ label, outcome: expected });
      expect({ label, reward, evidence }).toEqual({
        label,
        ...(expected === 'rewarded' && {
          reward: { type: 'lives', amount: 1 },
          evidence: 'client_attested',
        }),
      });
      await eventually(() =>
        expect({ label, granted: granted.length }).toEqual({ label, granted: rewards }),
      );
      expect({ label, ...game }).toMatchObject({ label, holds: 0, opened: calls, closed: calls });
    };

    for (const order of orders) {
      behavior.order = order;
      await expectCall('completed', 0, 'interstitial');
      if (order !== 'reward last') await expectCall('rewarded', 1);
    }
    behavior.order = 'reward last';
    granted.length = 0;
    calls += 1;
    const late = await page.show();
    expect(late.outcome).toMatch(/^(?:rewarded|dismissed|no_fill)$/);
    await eventually(() => expect(granted).toHaveLength(1));

    behavior.order = 'documented';
    for (const [answer, expected] of Object.entries(outcomes[name])) {
      behavior.answer = answer === 'closed' ? 'ad' : (answer as Refusal);
      behavior.play = async () => answer !== 'closed';
      await expectCall(expected, 0);
    }
    behavior.answer = 'exception';
    await expectCall('error', 0);
    await expectCall('error', 0, 'interstitial');
  });

  it('gives the game back from a portal that does not answer, and holds it for an ad that comes late', async () => {
    page = createPortalPage(name);
    const { behavior, clock, game, granted, standIn } = page;
    behavior.answer = 'silence';
    const [outcome, limitMs] = silence[name] ?? ['timeout', 15_000];
    const showing = page.show();
    await eventually(() => expect(game.holds).toBe(1));
    await eventually(() =>
      expect(page.portal.availability('revive').outcome).toBe('already_showing'),
    );
    // Until the portal has been asked.
    await clock.advance(limitMs - 1);
    expect(game).toMatchObject({ holds: 1, closed: 0 });
    await clock.advance(1);
    expect((await showing).outcome).toBe(outcome);
    expect(game).toMatchObject({ holds: 0, closed: 1 });

    let watched = (): void => undefined;
    behavior.play = () => new Promise((resolve) => (watched = () => resolve(true)));
    standIn.wake();
    const isShown = !offersAds.includes(name) && outcome === 'timeout';
    await clock.advance(0);
    expect(game.holds).toBe(isShown ? 1 : 0);
    if (isShown) expect((await page.show()).outcome).toBe('already_showing');
    watched();
    await eventually(() => expect(granted).toHaveLength(offersAds.includes(name) ? 0 : 1));
    await eventually(() => expect(game).toMatchObject({ holds: 0, closed: 1 }));
    // The next ad is shown as usual.
    behavior.answer = 'ad';
    behavior.play = async () => true;
    expect((await page.show()).outcome).toBe('rewarded');
  });

  it('passes on the portal’s pauses, its sound, its language and its player, and what the game tells it', async () => {
    page = createPortalPage(name);
    const { behavior, game, page: portalPage, portal, standIn } = page;
    await eventually(() => expect(portal.availability('revive').available).toBe(true));
    if (['gamedistribution', 'gamesnacks', 'yandex', 'youtube'].includes(name)) {
      standIn.pause();
      standIn.pause();
      expect(game.holds).toBe(1);
      standIn.resume();
      expect(game.holds).toBe(0);
      // GameDistribution ends its ads with the same event.
      if (name !== 'gamedistribution') {
        behavior.play = async () => {
          standIn.pause();
          return true;
        };
        expect((await page.show()).outcome).toBe('rewarded');
        expect(game.holds).toBe(1);
        standIn.resume();
      }
      expect(game.holds).toBe(0);
    }
    if (['crazygames', 'gamesnacks', 'youtube'].includes(name)) {
      const sound = document.body.appendChild(document.createElement('audio'));
      standIn.setMuted(true);
      expect(portalPage.muted).toBe(true);
      expect(isSilent(sound)).toBe(true);
      standIn.setMuted(false);
      expect(isSilent(sound)).toBe(false);
      sound.remove();
    }
    const speaks = ['crazygames', 'poki', 'yandex', 'facebook', 'youtube'].includes(name);
    await eventually(() =>
      expect(portalPage.language?.slice(0, 2)).toBe(speaks ? 'de' : undefined),
    );
    const knowsPlayers = ['crazygames', 'poki', 'yandex', 'facebook'].includes(name);
    expect(await portal.playerToken()).toBe(knowsPlayers ? `${name}-token` : undefined);
    portal.loadingFinished();
    portal.gameplayStart();
    portal.gameplayStop();
    const hears = ['crazygames', 'poki', 'yandex'].includes(name);
    const finishes = !['gamedistribution', 'google_h5'].includes(name);
    await eventually(() =>
      expect(standIn.told.filter((told) => told !== 'init')).toEqual([
        ...(finishes ? ['loadingFinished'] : []),
        ...(hears ? ['gameplayStart', 'gameplayStop'] : []),
      ]),
    );
    const preloads = ['gamedistribution', 'gamesnacks', 'google_h5', 'facebook'].includes(name);
    await portal.preload('revive');
    expect(portal.isLoaded('revive')).toBe(preloads);
    behavior.play = async () => true;
    expect((await page.show()).outcome).toBe('rewarded');
    expect(portal.isLoaded('revive')).toBe(false);
  });

  it('loads ahead what the portal can, and says at once if there is nothing', async () => {
    page = createPortalPage(name);
    const { behavior, granted, portal } = page;
    const load = async (placement: string): Promise<boolean> => {
      await portal.preload(placement);
      return portal.isLoaded(placement);
    };
    // Without a reward, it is an interstitial.
    expect(await load('pause')).toBe(['gamedistribution', 'facebook'].includes(name));
    expect((await page.show('interstitial', { placement: 'pause' })).outcome).toBe('completed');
    if (!offersAds.includes(name)) return;
    for (const answer of ['no_fill', 'capped', 'blocked', 'failure', 'exception'] as const) {
      behavior.answer = answer;
      expect([answer, await load('revive')]).toEqual([answer, false]);
    }
    behavior.answer = 'ad';
    expect([await load('revive'), granted]).toEqual([true, []]);
    expect((await page.show()).outcome).toBe('rewarded');
  });
});
