import { expect, test } from 'vitest';
import type { AdLimit, Decision } from '../../../protocol/wire.ts';
import { createAdRules } from '../../../src/decision/ad-rules.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createTestPage } from '../../support/ports.ts';

// What a device remembers of the session and its ads, in the page and in the browser's storage.

const formats: Readonly<Record<string, Decision['format']>> = {
  'level-end': 'interstitial',
  shop: 'interstitial',
  revive: 'rewarded',
  lobby: 'banner',
};
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const createStorage = () => {
  const stored = new Map<string, string>();
  const storage = {
    stored,
    reads: 0,
    isFull: false,
    getItem(key: string) {
      storage.reads += 1;
      return stored.get(key) ?? null;
    },
    setItem(key: string, value: string) {
      if (storage.isFull) throw new Error('QuotaExceededError');
      stored.set(key, value);
    },
  };
  return storage;
};
type TestStorage = ReturnType<typeof createStorage>;

/** Opens a page of the game. The service has told it `rules`. */
function openPage(
  clock: ManualClock,
  storage: TestStorage,
  rules?: AdLimit[],
  isConsentKnown = true,
) {
  const consent = { isKnown: isConsentKnown };
  const lifecycle = createTestPage();
  const load = createAdRules({
    name: 'game',
    clock,
    lifecycle,
    isConsentKnown: () => consent.isKnown,
    storage: () => storage,
    onChange: () => {},
  });
  let count = 0;
  const learn = (change: Partial<Decision>): void =>
    load.learn({
      id: 'dec_0',
      status: 'no_fill',
      placement: 'level-end',
      format: 'interstitial',
      issued_at: new Date(clock.now()).toISOString(),
      expires_at: new Date(clock.now()).toISOString(),
      ...change,
    });
  if (rules) learn({ ad_rules: { version: '1', rules } });
  return {
    load,
    lifecycle,
    consent,
    learn,
    see(placement: string): string {
      const id = `${placement}-${(count += 1)}`;
      load.take({ id, placement, format: formats[placement] ?? 'interstitial' });
      load.onImpression(id);
      return id;
    },
    waitMs: (placement = 'level-end') => load.waitMs(placement, [], formats[placement]),
    ads: () => load.session().ads ?? [],
  };
}

const gap: AdLimit[] = [{ formats: ['interstitial'], gap_s: 120 }];

test('of more ads than a request may report, the oldest are dropped', async () => {
  const clock = createManualClock();
  const page = openPage(clock, createStorage(), gap);
  const ids: string[] = [];
  for (let count = 0; count < 102; count += 1) {
    ids.push(page.see('level-end'));
    await clock.advance(1_000);
  }
  expect(page.ads().map(({ id }) => id)).toEqual(ids.slice(2));
  expect(page.waitMs()).toBe(119_000);
});

test('many banners do not displace what the device knows of other ads', async () => {
  const clock = createManualClock();
  const storage = createStorage();
  const rules: AdLimit[] = [{ formats: ['interstitial'], max_per_day: 1 }];
  const page = openPage(clock, storage, rules);
  page.see('level-end');
  for (let count = 0; count < 150; count += 1) {
    await clock.advance(30_000);
    page.see('lobby');
  }
  const waitMs = dayMs - 150 * 30_000;
  expect([page.waitMs(), openPage(clock, storage).waitMs()]).toEqual([waitMs, waitMs]);
  // A request reports the newest.
  expect(page.ads().map(({ ago_s: agoS }) => agoS)).toEqual(
    Array.from({ length: 100 }, (_, index) => 30 * (99 - index)),
  );
  expect(storage.stored.get('game')?.length).toBeLessThan(20_000);
});

test.each([
  [30, 90],
  [90, 30],
])(
  'a rule for any format (%s s) and one for interstitials (%s s) both apply',
  (anyGapS, ownGapS) => {
    const rules: AdLimit[] = [
      { formats: ['rewarded', 'interstitial', 'banner'], gap_s: anyGapS },
      { formats: ['interstitial'], gap_s: ownGapS },
    ];
    for (const order of [rules, rules.toReversed()]) {
      const page = openPage(createManualClock(), createStorage(), order);
      page.see('level-end');
      expect([page.waitMs(), page.waitMs('revive')]).toEqual([90_000, anyGapS * 1_000]);
    }
  },
);

// Chromium lets pages in the background run for a few seconds every two minutes, and Android every fifteen.
test.each([
  [120_000, 10, false],
  [120_000, 20, true],
  [900_000, 1, false],
  [900_000, 3, true],
])(
  'a hidden page that runs again every %s ms ends the session after half an hour (%s times: %s)',
  async (everyMs, times, isNew) => {
    const clock = createManualClock();
    const rules: AdLimit[] = [{ formats: ['interstitial'], max_per_session: 1 }];
    const { lifecycle, load, see, waitMs } = openPage(clock, createStorage(), rules);
    await clock.advance(60_000);
    see('level-end');
    lifecycle.emit('hidden');
    lifecycle.emit('frozen');
    for (let count = 0; count < times; count += 1) {
      await clock.advance(everyMs);
      lifecycle.emit('returned');
      lifecycle.emit('frozen');
    }
    lifecycle.emit('returned');
    lifecycle.emit('visible');
    expect([load.session().age_s === 0, waitMs()]).toEqual([isNew, isNew ? 0 : Infinity]);
    load.destroy();
  },
);

test.each([-dayMs, -hourMs, -1, 0])(
  'a clock set back by %s ms makes an ad neither earlier nor later than its rule, by the time on the page',
  async (changeMs) => {
    const clock = createManualClock();
    const storage = createStorage();
    const page = openPage(clock, storage, [
      { formats: ['interstitial'], first_after_s: 60, gap_s: 120 },
    ]);
    await clock.advance(20_000);
    clock.setWallTime(clock.now() + changeMs);
    // The session's start.
    expect(page.waitMs()).toBe(40_000);
    await clock.advance(40_000);
    expect(page.waitMs()).toBe(0);
    page.see('level-end');
    await clock.advance(50_000);
    clock.setWallTime(clock.now() + changeMs);
    expect(page.waitMs()).toBe(70_000);
    // While the page is closed, the clock is all there is. It is set back, so no time seems to have passed since.
    page.learn({});
    page.load.destroy();
    clock.setWallTime(clock.now() + changeMs);
    const reloaded = openPage(clock, storage);
    expect(reloaded.waitMs()).toBe(70_000);
    await clock.advance(69_999);
    expect(reloaded.waitMs()).toBe(1);
    await clock.advance(1);
    expect(reloaded.waitMs()).toBe(0);
    expect(reloaded.load.session().age_s).toBe(180);
  },
);

test('before consent is known, nothing is read or stored; then the session goes on', async () => {
  const clock = createManualClock();
  const storage = createStorage();
  const earlier = openPage(clock, storage, gap);
  earlier.see('level-end');
  earlier.load.destroy();
  const before = storage.stored.get('game');
  await clock.advance(10_000);
  storage.reads = 0;

  const page = openPage(clock, storage, undefined, false);
  expect(page.waitMs()).toBe(0);
  await clock.advance(50_000);
  expect([storage.reads, storage.stored.get('game')]).toEqual([0, before]);
  page.consent.isKnown = true;
  expect(page.waitMs()).toBe(60_000);
  expect(page.load.session()).toMatchObject({ age_s: 60, ads: [{ id: 'level-end-1', ago_s: 60 }] });
});

test('two tabs count each other’s ads, and neither erases them', async () => {
  const clock = createManualClock();
  const storage = createStorage();
  const rules: AdLimit[] = [{ formats: ['interstitial'], max_per_session: 3, gap_s: 120 }];
  const [first, second] = [openPage(clock, storage, rules), openPage(clock, storage)];
  expect([first.see('level-end'), first.waitMs(), second.waitMs()]).toEqual([
    'level-end-1',
    120_000,
    120_000,
  ]);
  // Both record that the player is here.
  await clock.advance(120_000);
  expect([first.waitMs(), second.waitMs()]).toEqual([0, 0]);
  second.see('shop');
  expect([first.waitMs(), second.waitMs()]).toEqual([120_000, 120_000]);
  await clock.advance(120_000);
  first.see('level-end');
  expect([first.waitMs(), second.waitMs()]).toEqual([Infinity, Infinity]);
  expect(first.ads()).toEqual(second.ads());
  expect(first.ads()).toHaveLength(3);
});

test('in a browser whose storage has become full, the page still remembers its ads', async () => {
  const clock = createManualClock();
  const storage = createStorage();
  const page = openPage(clock, storage, gap);
  await clock.advance(60_000);
  storage.isFull = true;
  page.see('level-end');
  expect(page.waitMs()).toBe(120_000);
  // The player’s presence is stored every minute.
  await clock.advance(60_000);
  expect([page.waitMs(), openPage(clock, storage).waitMs()]).toEqual([60_000, 0]);
  storage.isFull = false;
  await clock.advance(60_000 - 1);
  page.learn({});
  expect([page.waitMs(), openPage(clock, storage).waitMs()]).toEqual([1, 1]);
  // Games that start over clear what is stored.
  storage.stored.clear();
  expect(page.waitMs()).toBe(1);
});

test('a session of more than a week is reported as one of a week, the most that a request may say', () => {
  const clock = createManualClock();
  const storage = createStorage();
  openPage(clock, storage, gap).load.destroy();
  const memory = JSON.parse(storage.stored.get('game') ?? '') as object;
  storage.setItem('game', JSON.stringify({ ...memory, age: 8.5 * dayMs }));
  expect(openPage(clock, storage).load.session().age_s).toBe(604_800);
});
