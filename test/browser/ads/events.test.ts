import { afterEach, expect, it, vi } from 'vitest';
import {
  type Ads,
  type AdsOptions,
  createAds,
  type EarnedReward,
  noEngine,
} from '../../../src/index.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import {
  createPublishableKey,
  createStubService,
  type StubService,
} from '../../support/stub-service.ts';

const instances: Ads[] = [];
afterEach(() => instances.splice(0).forEach((ads) => ads.destroy()));

const start = (service: StubService, more: Partial<AdsOptions> = {}): Ads => {
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    ...more,
  });
  instances.push(ads);
  return ads;
};

/** Creates a service that does not respond to event batches until `respond` is called. */
const createSlowService = (): { service: StubService; respond: () => void } => {
  const service = createStubService();
  const { fetch } = service;
  const responded = createDeferred<void>();
  service.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname === '/v1/events') await responded.promise;
    return response;
  };
  return { service, respond: () => responded.resolve() };
};

// Must be the first test, because each message is written once per page.
it('in the sandbox, warns once of a reward that no handler receives', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const ads = start(createStubService());
  await ads.showRewarded('revive');
  await ads.showRewarded('revive');
  await eventually(() => expect(warn).toHaveBeenCalledTimes(1));
  expect(String(warn.mock.calls[0]?.[0])).toContain("ads.on('reward'");
});

it('emits `close` when the game resumes and `result` when the call ends', async () => {
  const { service, respond } = createSlowService();
  const ads = start(service);
  const log: string[] = [];
  const closed = createDeferred<void>();
  ads.on('open', (placement) => log.push(`open ${placement}`));
  ads.on('close', (placement) => {
    log.push(`close ${placement}`);
    closed.resolve();
  });
  ads.on('result', (placement, { outcome }) => log.push(`${placement}: ${outcome}`));
  const running = ads.showRewarded('revive', { onClose: () => log.push('onClose') });
  await closed.promise;
  await Promise.resolve();
  expect(log).toEqual(['open revive', 'close revive', 'onClose']);
  respond();
  await running;
  expect(log.slice(3)).toEqual(['revive: rewarded']);
});

it('an error in one handler does not prevent the others from being called', async () => {
  const ads = start(createStubService());
  const errors: unknown[] = [];
  const listener = (event: ErrorEvent) => {
    event.preventDefault();
    errors.push((event.error as Error).message);
  };
  addEventListener('error', listener, { capture: true });
  const log: string[] = [];
  ads.on('open', () => {
    throw new Error('a handler failed');
  });
  ads.once('open', (placement) => log.push(placement));
  await ads.showRewarded('revive');
  await ads.showRewarded('revive');
  removeEventListener('error', listener, { capture: true });
  expect(log).toEqual(['revive']);
  expect(errors).toEqual(['a handler failed', 'a handler failed']);
});

it('keeps delivering a reward until every handler succeeds', async () => {
  const ads = start(createStubService());
  const log: string[] = [];
  const wallet = {
    coins: 0,
    add({ reward }: EarnedReward) {
      this.coins += reward.amount;
    },
  };
  const coinsAtFailure: number[] = [];
  ads.on('reward', wallet.add, wallet);
  ads.on('reward', async ({ decisionId }) => {
    await Promise.resolve();
    if (coinsAtFailure.length === 0) {
      coinsAtFailure.push(wallet.coins);
      throw new Error('the save file is full');
    }
    log.push(decisionId);
  });
  const { decisionId } = await ads.showRewarded('revive');
  await eventually(() => expect(log).toEqual([decisionId]));
  expect(coinsAtFailure).toEqual([50]);
  expect(wallet.coins).toBe(100);
  expect(ads.diagnostics().rewards.handlerErrors).toBe(1);
});

it('keeps a reward until a handler is registered again', async () => {
  const ads = start(createStubService());
  const removedHandler = vi.fn();
  ads.on('reward', removedHandler);
  ads.off('reward', removedHandler);
  const { decisionId } = await ads.showRewarded('revive');
  expect((await ads.rewards()).map((report) => report.decisionId)).toEqual([decisionId]);
  const rewarded = new Promise<EarnedReward>((resolve) => ads.once('reward', resolve));
  expect((await rewarded).decisionId).toBe(decisionId);
  expect(removedHandler).not.toHaveBeenCalled();
});

it('emits `result` but not `close` if there was no ad', async () => {
  const service = createStubService();
  service.respond = () => ({ status: 'no_fill', reason: 'no_candidates' });
  const ads = start(service);
  const log: string[] = [];
  ads.on('close', () => log.push('close'));
  ads.on('result', (placement, { outcome }) => log.push(`${placement}: ${outcome}`));
  await ads.showRewarded('revive');
  expect(log).toEqual(['revive: no_fill']);
});

it('with `keepRunning`, never holds the game', async () => {
  const hold = vi.fn(() => () => undefined);
  const engine = { ...noEngine(), hold };
  await start(createStubService(), { engine }).showRewarded('revive');
  expect(hold).toHaveBeenCalledOnce();
  const ads = start(createStubService(), { engine, keepRunning: true });
  expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
  expect(hold).toHaveBeenCalledOnce();
});

it('emits `result` for calls that can’t show an ad', async () => {
  const service = createStubService();
  const ads = start(service);
  const results: string[] = [];
  ads.on('result', (placement, { outcome }) => results.push(`${placement}: ${outcome}`));
  const first = ads.showRewarded('revive');
  await Promise.all([
    ads.showInterstitial('level-end'),
    ads.showRewarded('coins', { muted: 1 as never }),
  ]);
  expect(results).toEqual(['level-end: already_showing', 'coins: error']);
  await first;
  expect(results.slice(2)).toEqual(['revive: rewarded']);
});

it('while one instance shows an ad, another one offers none', async () => {
  const ads = start(createStubService());
  const other = start(createStubService());
  await other.preload('revive');
  const states: unknown[] = [];
  await ads.showRewarded('revive', {
    onOpen: () => states.push(other.availability('revive').outcome, other.isLoaded('revive')),
  });
  expect(states).toEqual(['already_showing', false]);
  expect([other.canShow('revive'), other.isLoaded('revive')]).toEqual([true, true]);
});

it('returns a boolean from canShow() and the details from availability()', async () => {
  const service = createStubService();
  const now = Date.now();
  service.respond = () => ({
    status: 'no_fill',
    reason: 'cooldown',
    issued_at: new Date(now).toISOString(),
    retry_at: new Date(now + 60_000).toISOString(),
  });
  const ads = start(service);
  expect([ads.canShow('revive'), ads.availability('revive')]).toEqual([true, { available: true }]);
  await ads.preload('revive');
  expect(ads.canShow('revive')).toBe(false);
  const { retryAt, ...rest } = ads.availability('revive');
  expect(rest).toEqual({ available: false, outcome: 'cooldown', reason: 'cooldown' });
  expect(retryAt).toBeInstanceOf(Date);
});

it('shows a second ad while the first one’s reward awaits confirmation', async () => {
  const { service, respond } = createSlowService();
  const ads = start(service, { confirmationTimeoutMs: 60_000 });
  const observations: unknown[] = [];
  const closed = createDeferred<void>();
  const first = ads.showRewarded('revive', {
    onOpen: () => observations.push(ads.availability('revive').outcome, ads.diagnostics().showing),
    onClose: closed.resolve,
  });
  expect(ads.canShow('revive')).toBe(false);
  expect(await ads.showRewarded('coins')).toEqual({
    outcome: 'already_showing',
    detail: 'The ad for revive has not ended.',
  });
  await closed.promise;
  expect(observations).toEqual(['already_showing', 'revive']);
  expect([ads.canShow('revive'), ads.diagnostics().showing]).toEqual([true, null]);
  const reopened = createDeferred<void>();
  const second = ads.showRewarded('revive', { onClose: reopened.resolve });
  expect(ads.availability('revive').outcome).toBe('already_showing');
  await reopened.promise;
  respond();
  const results = await Promise.all([first, second]);
  expect(results.map(({ outcome }) => outcome)).toEqual(['rewarded', 'rewarded']);
});

it('emits `change` when a confirmation arrives and when the reward is delivered', async () => {
  const { service } = createSlowService();
  const { fetch } = service;
  const confirmed = createDeferred<void>();
  service.fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (!pathname.startsWith('/v1/decisions/')) return fetch(input, init);
    await confirmed.promise;
    const reward = { type: 'coins', amount: 50 };
    return Response.json({ id: pathname.split('/').at(-1), state: 'earned', reward });
  };
  const ads = start(service, { confirmationTimeoutMs: 0 });
  const states: string[] = [];
  expect((await ads.showRewarded('revive')).outcome).toBe('pending');
  ads.on('change', () => {
    const { pending, undelivered } = ads.diagnostics().rewards;
    states.push(`${pending} pending, ${undelivered} undelivered`);
  });
  confirmed.resolve();
  await eventually(() => expect(states).toContain('0 pending, 1 undelivered'));
  ads.on('reward', () => undefined);
  await eventually(() => expect(states.at(-1)).toBe('0 pending, 0 undelivered'));
});

it('a handler of `change` that preloads whenever an ad can be shown does not run for ever', async () => {
  const ads = start(createStubService());
  let changes = 0;
  let preloads: Promise<unknown> = Promise.resolve();
  ads.on('change', () => {
    changes += 1;
    if (ads.canShow('revive')) preloads = ads.preload('revive');
  });
  await ads.preload('revive');
  await preloads;
  expect(ads.isLoaded('revive')).toBe(true);
  expect(changes).toBe(1);
});

it('destroy() during an ad emits `close` and nothing else', async () => {
  const ads = start(createStubService());
  const log: string[] = [];
  const started = createDeferred<void>();
  for (const event of ['open', 'close', 'result', 'change'] as const)
    ads.on(event, () => log.push(event));
  ads.on('start', () => started.resolve());
  const running = ads.showRewarded('revive');
  await started.promise;
  log.length = 0;
  ads.destroy();
  dispatchEvent(new Event('online'));
  expect((await running).outcome).toBe('aborted');
  expect(log.filter((event) => event !== 'change')).toEqual(['close']);
});
