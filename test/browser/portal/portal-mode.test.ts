import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Ads,
  createAds,
  type EarnedReward,
  type PortalAdsOptions,
} from '../../../src/index.ts';
import type { PortalAdapter } from '../../../src/portal/adapter.ts';
import { mutePage } from '../../../src/portal/mute-page.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';
import { createPortalPage, isSilent, type PortalTestPage } from './portal-set.ts';

let ads: Ads | undefined;
let page: PortalTestPage | undefined;
afterEach(() => {
  ads?.destroy();
  page?.destroy();
  ads = page = undefined;
});

const createAdapter = (more: Partial<PortalAdapter> = {}): PortalAdapter => ({
  name: 'myportal',
  load: () => undefined,
  show: async (_kind, _placement, { onStart }) => {
    onStart();
    return 'completed';
  },
  ...more,
});
const portalRewards = { revive: { type: 'coins', amount: 25 } };
const start = (options: Partial<PortalAdsOptions> = {}): Ads =>
  (ads = createAds({ portal: createAdapter(), portalRewards, ...options }));
const never = () => new Promise<never>(() => undefined);

describe('a page on a portal', () => {
  it('shows the portal’s ads without a key or a service, and sends nothing', async () => {
    const sent = vi.fn(() => Promise.reject(new Error('sent')));
    const portalAds = start({ fetch: sent });
    const steps: string[] = [];
    portalAds.on('open', (placement) => steps.push(`open ${placement}`));
    portalAds.on('start', (placement) => steps.push(`start ${placement}`));
    portalAds.on('close', (placement) => steps.push(`close ${placement}`));
    const rewards: EarnedReward[] = [];
    portalAds.on('reward', (reward) => void rewards.push(reward));
    expect(portalAds.availability('revive')).toMatchObject({ outcome: 'not_ready' });
    await eventually(() => expect(portalAds.canShow('revive')).toBe(true));
    const result = await portalAds.showRewarded('revive');
    expect(result).toMatchObject({
      outcome: 'rewarded',
      reward: portalRewards.revive,
      evidence: 'client_attested',
    });
    expect(steps).toEqual(['open revive', 'start revive', 'close revive']);
    await eventually(() => expect(rewards).toHaveLength(1));
    const { decisionId } = result;
    expect(rewards[0]).toMatchObject({
      decisionId,
      placement: 'revive',
      reward: portalRewards.revive,
      evidence: 'client_attested',
    });
    expect((await portalAds.showInterstitial('level-end')).outcome).toBe('completed');
    const banner = portalAds.mountBanner('lobby', document.body);
    expect(await banner.result).toEqual({
      outcome: 'invalid_placement',
      reason: 'portal_only',
    });
    const own = { decision: { id: 'dec_1' } as never };
    expect(await portalAds.preload('revive', own)).toMatchObject({ reason: 'portal_only' });
    expect(await portalAds.showRewarded('gift')).toMatchObject({
      outcome: 'invalid_placement',
      reason: 'reward_unknown',
      detail: expect.stringContaining('portalRewards: { "gift"'),
    });
    expect(portalAds.portal).toMatchObject({ name: 'myportal', muted: false });
    expect(sent).not.toHaveBeenCalled();
  });

  it('has no way into the network, whatever the game calls', async () => {
    const sent = vi.fn(() => Promise.reject(new Error('sent')));
    const user = { userToken: `a.${btoa(JSON.stringify({ sub: 'player-1' }))}.c` };
    const portalAds = start({ fetch: sent, ...user });
    portalAds.setUser(user);
    const calls: [string, () => unknown][] = [
      ['rewardStatus', () => portalAds.rewardStatus('dec_1')],
      ['preload', () => portalAds.preload('revive')],
      ['wallet.refresh', () => portalAds.wallet.refresh()],
      ['wallet.spend', () => portalAds.wallet.spend('coins', 1)],
      ['wallet.createLinkCode', () => portalAds.wallet.createLinkCode()],
      ['wallet.link', () => portalAds.wallet.link('K7QF-2M9X')],
    ];
    for (const [name, call] of calls) {
      await call();
      expect(sent, name).not.toHaveBeenCalled();
    }
  });

  it('shows no interstitial to a player without ads', async () => {
    const claims = { sub: 'player-1', ad_free: true };
    const portalAds = start({ userToken: `a.${btoa(JSON.stringify(claims))}.c` });
    await eventually(() => expect(portalAds.canShow('revive')).toBe(true));
    const none = { outcome: 'ad_free', reason: 'ad_free' };
    expect(portalAds.availability('level-end')).toEqual({ available: false, ...none });
    expect(await portalAds.preload('level-end')).toEqual({ available: false, ...none });
    expect(await portalAds.showInterstitial('level-end')).toEqual(none);
    expect((await portalAds.showRewarded('revive')).outcome).toBe('rewarded');
  });

  it('keeps the ad rules that the device knows from the service', async () => {
    const service = createStubService();
    service.respond = () => ({
      ...picture(200),
      format: 'interstitial',
      ad_rules: { version: '1', rules: [{ formats: ['interstitial'], gap_s: 60 }] },
    });
    const options = {
      publishableKey: createPublishableKey(),
      serviceUrl: 'https://ads.test',
      fetch: service.fetch,
    };
    ads = createAds(options);
    expect((await ads.preload('level-end')).available).toBe(true);
    ads.destroy();
    const portalAds = start(options);
    expect((await portalAds.showInterstitial('level-end')).outcome).toBe('completed');
    const { outcome, retryAt } = await portalAds.showInterstitial('level-end');
    expect(outcome).toBe('frequency_capped');
    const leftS = ((retryAt?.getTime() ?? 0) - Date.now()) / 1_000;
    expect([leftS > 30, leftS <= 60]).toEqual([true, true]);
    const availability = portalAds.availability('level-end');
    expect(availability.outcome).toBe(outcome);
    // Two clocks make the time, between which a busy machine may pause.
    const differenceMs = Number(availability.retryAt) - Number(retryAt);
    expect(Math.abs(differenceMs)).toBeLessThan(5_000);
    expect((await portalAds.showRewarded('revive')).outcome).toBe('rewarded');
  });

  it('announces each time at which a rule lets an ad through, whatever was asked first', async () => {
    const heldMs: Record<string, number> = { 'level-end': 60_000, shop: 10_000, menu: 90_000 };
    page = createPortalPage(createAdapter(), {
      findHold(placement) {
        const leftMs = (heldMs[placement] ?? 0) - (page?.clock.monotonic() ?? 0);
        if (leftMs <= 0 || !page) return undefined;
        const retryAt = new Date(page.clock.now() + leftMs);
        return { outcome: 'frequency_capped', reason: 'frequency_capped', retryAt };
      },
    });
    const { clock, onChange, portal } = page;
    await eventually(() => expect(onChange).toHaveBeenCalled());
    const ask = () => Object.keys(heldMs).map((name) => portal.availability(name).available);
    ask();
    onChange.mockClear();
    for (const atMs of [10_000, 60_000, 90_000]) {
      await clock.advance(atMs - clock.monotonic() - 1);
      expect(onChange).not.toHaveBeenCalled();
      await clock.advance(1);
      expect(onChange).toHaveBeenCalledTimes(1);
      ask();
      onChange.mockClear();
    }
  });

  it('delivers a reward after a crash, once', async () => {
    const crashed = start();
    const failed = vi.fn(() => Promise.reject(new Error('The game crashed.')));
    crashed.on('reward', failed);
    const { decisionId } = await crashed.showRewarded('revive');
    await eventually(() => expect(failed).toHaveBeenCalled());
    crashed.destroy();
    const rewards: string[] = [];
    start().on('reward', (reward) => void rewards.push(reward.decisionId));
    await eventually(() => expect(rewards).toEqual([decisionId]));
    ads?.destroy();
    start().on('reward', (reward) => void rewards.push(reward.decisionId));
    await ads?.rewards();
    expect(rewards).toEqual([decisionId]);
  });

  it('ends when the game aborts the call or destroys the ads, in any phase', async () => {
    for (const show of [never, createAdapter().show] as PortalAdapter['show'][]) {
      const portalAds = start({ portal: createAdapter({ show }) });
      const abort = new AbortController();
      const shown = portalAds.showRewarded('revive', {
        signal: abort.signal,
        onOpen: () => abort.abort(),
      });
      expect((await shown).outcome).toBe('aborted');
      const second = portalAds.showRewarded('revive');
      portalAds.destroy();
      expect((await second).outcome).toMatch(/^(?:aborted|rewarded)$/);
      expect((await portalAds.showRewarded('revive')).outcome).toBe('aborted');
    }
  });
});

it.each<[unknown, unknown]>([
  [null, null],
  [25, 25],
  [{ revive: null }, { toString: 7 }],
  [{ revive: 25 }, 'revive'],
  [{ revive: { type: 'coins' } }, []],
  [{ revive: { type: 'coins', amount: '25' } }, undefined],
  [{ revive: { type: 7, amount: Number.NaN } }, undefined],
])('says what to do about the rewards %j', async (rewards, placements) => {
  const portalAds = start({
    portalRewards: rewards as never,
    portalPlacements: placements as never,
  });
  for (const placement of ['revive', 'toString', '__proto__'])
    expect(await portalAds.showRewarded(placement)).toMatchObject({
      outcome: 'invalid_placement',
      reason: 'reward_unknown',
      detail: expect.stringContaining(`portalRewards: { "${placement}": {`),
    });
  expect((await portalAds.showInterstitial('toString')).outcome).toBe('completed');
});

it.each<[unknown, string]>([
  ['kongregate', 'got "kongregate"'],
  ['toString', 'got "toString"'],
  [{ name: 'mine', show() {} }, 'got object'],
  [() => undefined, 'got function'],
])('explains what is wrong with the portal %j', async (portal, message) => {
  const errors: string[] = [];
  const note = (event: ErrorEvent): void => {
    event.preventDefault();
    errors.push(event.message);
  };
  window.addEventListener('error', note);
  const portalAds = start({ portal: portal as never });
  const result = await portalAds.showRewarded('revive');
  window.removeEventListener('error', note);
  expect(result).toMatchObject({ outcome: 'error', reason: 'option_invalid' });
  expect(result.detail).toMatch(/crazygames, poki.* or an adapter/);
  expect(result.detail).toContain(message);
  expect(errors).toEqual([expect.stringContaining(message)]);
  expect(portalAds.availability('revive')).toMatchObject({ outcome: 'error' });
});

describe('a bad adapter', () => {
  it.each<[string, Partial<PortalAdapter>, object]>([
    [
      'throws',
      {
        show() {
          throw new Error('boom');
        },
      },
      { outcome: 'error', reason: 'portal_failed', detail: 'boom' },
    ],
    ['rejects', { show: () => Promise.reject(new Error('boom')) }, { detail: 'boom' }],
    ['rejects with nothing', { show: () => Promise.reject() }, { outcome: 'error' }],
    [
      'returns nonsense',
      { show: async () => 'yes' as never },
      { reason: 'portal_failed', detail: expect.stringContaining('got yes') },
    ],
    ['returns nothing', { show: async () => undefined as never }, { outcome: 'error' }],
    [
      'returns a name of every object',
      { show: async () => 'toString' as never },
      { outcome: 'error' },
    ],
    ['answers at once', { show: (() => 'no_fill') as never }, { outcome: 'no_fill' }],
    [
      'can’t load',
      { load: () => Promise.reject(new Error('blocked')) },
      { outcome: 'ad_blocked', reason: 'load_failed', detail: 'blocked' },
    ],
    [
      'throws while it loads',
      {
        load() {
          throw new Error('no SDK');
        },
      },
      { outcome: 'ad_blocked', detail: 'no SDK' },
    ],
  ])('that %s ends the call with an outcome', async (_, adapter, expected) => {
    page = createPortalPage(createAdapter(adapter));
    expect(await page.show()).toMatchObject(expected);
    expect(page.game).toMatchObject({ holds: 0, opened: 1, closed: 1 });
    expect(page.granted).toEqual([]);
  });

  it('that never loads holds the game once, and is tried again later', async () => {
    let loads = 0;
    page = createPortalPage(
      createAdapter({ load: () => ((loads += 1) === 1 ? never() : undefined) }),
    );
    const { clock, game, portal } = page;
    const shown = page.show();
    await clock.advance(15_000);
    expect((await shown).outcome).toBe('timeout');
    expect(await page.show()).toMatchObject({ outcome: 'timeout', reason: 'load_failed' });
    expect(portal.availability('revive')).toMatchObject({ available: false, outcome: 'timeout' });
    expect(game).toMatchObject({ holds: 0, closed: 2 });
    await clock.advance(30_000);
    expect(portal.availability('revive').available).toBe(true);
    expect((await page.show()).outcome).toBe('rewarded');
    expect(loads).toBe(2);
  });

  it('that breaks everything else does no harm', async () => {
    const fail = (): never => {
      throw new Error('boom');
    };
    const errors: unknown[] = [];
    const note = (event: ErrorEvent): void => {
      event.preventDefault();
      errors.push(event.error);
    };
    window.addEventListener('error', note);
    page = createPortalPage(
      createAdapter({
        pauseSignals: fail,
        preload: fail,
        playerToken: fail,
        language: fail,
        gameplayStart: fail,
      }),
    );
    await page.portal.preload('revive');
    page.portal.gameplayStart();
    expect(await page.portal.playerToken()).toBeUndefined();
    expect((await page.show()).outcome).toBe('rewarded');
    await eventually(() => expect(errors).toHaveLength(2));
    window.removeEventListener('error', note);
  });
});

describe('the game behind a portal’s ad', () => {
  it.each([['before'], ['after']])(
    'goes on if the SDK is destroyed %s a late ad began',
    async (order) => {
      let begin = (): void => undefined;
      const show: PortalAdapter['show'] = (_kind, _placement, { onStart }) => {
        begin = onStart;
        return never();
      };
      page = createPortalPage(createAdapter({ show }));
      const { clock, game } = page;
      const showing = page.show();
      await eventually(() => expect(game.holds).toBe(1));
      await clock.advance(15_000);
      expect((await showing).outcome).toBe('timeout');
      if (order === 'before') page.destroy();
      begin();
      if (order === 'after') {
        expect(game.holds).toBe(1);
        page.destroy();
      }
      expect(game.holds).toBe(0);
    },
  );

  const press = (type: string, target: EventTarget, code: string): void =>
    void target.dispatchEvent(new KeyboardEvent(type, { code, key: code, bubbles: true }));

  it('receives no input, but a release for every key that was down', async () => {
    const seen: string[] = [];
    const record = (event: Event): void =>
      void seen.push(`${event.type} ${(event as KeyboardEvent).code}`);
    window.addEventListener('keydown', record);
    window.addEventListener('keyup', record);
    const closeAd = document.body.appendChild(document.createElement('button'));
    page = createPortalPage(
      createAdapter({
        async show(_kind, _placement, { onStart }) {
          onStart();
          press('keyup', document.body, 'Before');
          press('keydown', document.body, 'During');
          press('keyup', document.body, 'During');
          press('keydown', closeAd, 'InTheAd');
          return 'completed';
        },
      }),
    );
    press('keydown', document.body, 'Before');
    await page.show('interstitial');
    press('keydown', document.body, 'After');
    window.removeEventListener('keydown', record);
    window.removeEventListener('keyup', record);
    closeAd.remove();
    expect(seen).toEqual(['keydown Before', 'keyup Before', 'keydown After']);
  });

  it.each(['pointer', 'mouse'])(
    'does not hear a %s press in the ad, but the end of one that began before',
    async (kind) => {
      const Kind = kind === 'mouse' ? MouseEvent : PointerEvent;
      const closeAd = document.body.appendChild(document.createElement('button'));
      const inAd: string[] = [];
      const inGame: string[] = [];
      // Engines listen on the window too, for a press that ends outside their canvas.
      const record = ({ type }: Event): void => void inGame.push(type);
      const types = [`${kind}down`, `${kind}up`, `${kind}cancel`, 'click'];
      for (const type of types) {
        window.addEventListener(type, record);
        closeAd.addEventListener(type, () => void inAd.push(type));
      }
      const touch = (type: string): void =>
        void closeAd.dispatchEvent(new Kind(type, { bubbles: true }));
      page = createPortalPage(
        createAdapter({
          async show(_kind, _placement, { onStart }) {
            onStart();
            // The press that has opened the ad ends in it.
            touch(`${kind}up`);
            for (const type of [`${kind}down`, `${kind}up`, 'click']) touch(type);
            return 'completed';
          },
        }),
      );
      await page.show('interstitial');
      for (const type of types) window.removeEventListener(type, record);
      closeAd.remove();
      expect(inAd).toEqual([`${kind}up`, `${kind}down`, `${kind}up`, 'click']);
      expect(inGame).toEqual([kind === 'mouse' ? 'mouseup' : 'pointercancel']);
    },
  );
});

describe('a page that its portal mutes', () => {
  const sounds = ['in the page', 'not in the page'] as const;

  it.each<[string, before: boolean, meanwhile: boolean | undefined, after: boolean]>([
    ['sounds', false, undefined, false],
    ['is muted', true, undefined, true],
    ['is muted meanwhile', false, true, true],
    ['sounds again meanwhile', true, false, false],
  ])('gives back what the game wants: a sound that %s', (_, before, meanwhile, after) => {
    for (const place of sounds) {
      const sound = new Audio();
      if (place === 'in the page') document.body.append(sound);
      sound.muted = before;
      const unmute = mutePage();
      const unmuteForOther = mutePage();
      sound.play().catch(() => undefined);
      expect([isSilent(sound), sound.muted], place).toEqual([true, before]);
      if (meanwhile !== undefined) sound.muted = meanwhile;
      expect([isSilent(sound), sound.muted], place).toEqual([true, meanwhile ?? before]);
      unmute();
      expect(isSilent(sound), place).toBe(true);
      unmuteForOther();
      expect([isSilent(sound), sound.muted], place).toEqual([after, after]);
      sound.muted = !after;
      expect(isSilent(sound), place).toBe(!after);
      sound.remove();
    }
  });
});
