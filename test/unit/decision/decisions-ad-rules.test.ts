import { expect, test } from 'vitest';
import type { AdLimit, Decision, DecisionRequest } from '../../../protocol/wire.ts';
import type { LoadedCreative } from '../../../src/creative/renderer.ts';
import { createAdRules } from '../../../src/decision/ad-rules.ts';
import { createDecisions } from '../../../src/decision/decisions.ts';
import type { Call, Guard, ServiceResult } from '../../../src/transport/service-client.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createTestPage, decisionPorts } from '../../support/ports.ts';
import { filledDecision, getDecisionId, neverAborted, stubWindowSize } from './decisions-setup.ts';

stubWindowSize();

const createStorage = () => {
  const stored = new Map<string, string>();
  return {
    stored,
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
};

/** Opens the game's page. The service answers every request with an ad and the rules. */
function openPage(
  clock: ManualClock,
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  {
    rules = [],
    isReachable = true,
    adFree = [],
    isConsentKnown = true,
    user = {},
    answer = {},
  }: {
    rules?: AdLimit[];
    isReachable?: boolean;
    adFree?: string[];
    isConsentKnown?: boolean;
    user?: { childDirected?: boolean; segments?: string[]; userRef?: string };
    answer?: Partial<Decision>;
  } = {},
) {
  const requests: DecisionRequest[] = [];
  const log = { changes: 0 };
  const page = createTestPage();
  const ports = {
    ...decisionPorts(clock),
    lifecycle: page,
    isConsentKnown: () => isConsentKnown,
    isReachable: () => isReachable,
    onChange: () => void (log.changes += 1),
    profile: () => ({
      user,
      consent: undefined,
      simulate: undefined,
      player: { ref: 'p', adFree },
    }),
  };
  const adRules = createAdRules({ ...ports, name: 'game', storage: () => storage });
  const decisions = createDecisions({
    ...ports,
    adRules,
    loadTimeoutMs: 5_000,
    client: {
      async call<T>(_path: string, _guard: Guard<T>, { body }: Call) {
        const request = body as DecisionRequest;
        requests.push(request);
        const { placement, session } = request;
        const decision: Decision = {
          ...filledDecision(`dec_${requests.length}`),
          placement,
          format: placement === 'revive' ? 'rewarded' : 'interstitial',
          ...(session?.rules_version !== '1' && { ad_rules: { version: '1', rules } }),
          ...answer,
        };
        return { kind: 'ok', body: decision } as ServiceResult<T>;
      },
    },
    loadCreative: async () => ({ destroy() {} }) as unknown as LoadedCreative,
  });
  const show = async (placement: string): Promise<unknown> => {
    const format = placement === 'revive' ? ('rewarded' as const) : ('interstitial' as const);
    const id = getDecisionId(await decisions.take(placement, neverAborted, { format }));
    if (typeof id === 'string') decisions.onImpression(id);
    return id;
  };
  return { decisions, adRules, requests, log, page, show };
}

const rules: AdLimit[] = [
  { formats: ['interstitial'], gap_s: 120 },
  { formats: ['interstitial'], gap_s: 60, gap_after: ['rewarded'] },
];

test('availability is exact without a request, offline and over a reload', async () => {
  const clock = createManualClock();
  const storage = createStorage();
  const first = openPage(clock, storage, { rules });
  expect(await first.show('level-end')).toBe('dec_1');
  const held = {
    available: false,
    outcome: 'frequency_capped',
    reason: 'frequency_capped',
    retryAt: new Date(clock.now() + 120_000),
  };
  expect(first.decisions.availability('level-end')).toEqual(held);
  expect(await first.show('level-end')).toMatchObject({ outcome: 'frequency_capped' });
  expect(await first.decisions.preload('level-end', neverAborted)).toEqual(held);
  expect(first.requests).toHaveLength(1);

  await clock.advance(50_000);
  first.adRules.destroy();
  const second = openPage(clock, storage, { rules, isReachable: false });
  expect(second.decisions.availability('level-end')).toEqual(held);
  const { changes } = second.log;
  await clock.advance(69_999);
  expect(second.decisions.availability('level-end')).toEqual(held);
  expect(second.log.changes).toBe(changes);
  await clock.advance(1);
  expect(second.log.changes).toBe(changes + 1);
  expect(second.decisions.availability('level-end').outcome).toBe('offline');
  expect(second.requests).toEqual([]);
});

test('a preloaded ad waits too, and stays loaded', async () => {
  const clock = createManualClock();
  const { decisions, requests, show } = openPage(clock, createStorage(), { rules });
  expect(await decisions.preload('level-end', neverAborted)).toEqual({ available: true });
  expect(await show('revive')).toBe('dec_2');
  expect(decisions.isLoaded('level-end')).toBe(false);
  expect(await show('level-end')).toMatchObject({ retryAt: new Date(clock.now() + 60_000) });
  expect(decisions.availability('revive')).toEqual({ available: true });
  // It is requested again after a minute, so that a kill switch takes effect.
  await clock.advance(59_999);
  expect(decisions.isLoaded('level-end')).toBe(false);
  await clock.advance(1);
  expect(await show('level-end')).toBe('dec_3');
  expect(requests).toHaveLength(3);
});

test('requests report the session, and its ads only if there are rules', async () => {
  const clock = createManualClock();
  const none = openPage(clock, createStorage());
  await clock.advance(1_500);
  await none.show('level-end');
  await clock.advance(120_000);
  const some = openPage(clock, createStorage(), { rules });
  await some.show('level-end');
  await clock.advance(120_000);
  await some.show('level-end');
  expect(none.requests.map(({ session }) => session)).toEqual([{ age_s: 1.5 }]);
  expect(some.requests.map(({ session }) => session)).toEqual([
    { age_s: 0 },
    {
      age_s: 120,
      rules_version: '1',
      ads: [{ id: 'dec_1', format: 'interstitial', placement: 'level-end', ago_s: 120 }],
    },
  ]);
});

test('requests say how many players the device has named within a day', async () => {
  const clock = createManualClock();
  const storage = createStorage();
  const name = async (userRef: string): Promise<number | undefined> => {
    const { adRules, requests, show } = openPage(clock, storage, { user: { userRef } });
    await show('revive');
    adRules.destroy();
    return requests[0]?.session?.players;
  };
  expect([await name('ann'), await name('ann'), await name('ben'), await name('ann')]).toEqual([
    1, 1, 2, 2,
  ]);
  for (let index = 0; index < 20; index += 1) await name(`guest-${index}`);
  expect(await name('guest-20')).toBe(10);
  await clock.advance(86_400_000);
  expect(await name('ann')).toBe(1);
  expect([...storage.stored.values()].join('')).not.toContain('ann');
});

test('an impression counts once, and for a day', async () => {
  const clock = createManualClock();
  const rule: AdLimit = { formats: ['interstitial'], max_per_hour: 2 };
  const { decisions, requests, show } = openPage(clock, createStorage(), { rules: [rule] });
  const id = await show('level-end');
  decisions.onImpression(String(id));
  expect(decisions.availability('level-end').available).toBe(true);
  await clock.advance(86_399_000);
  await show('level-end');
  expect(requests.at(-1)?.session?.ads).toMatchObject([{ id, ago_s: 86_399 }]);
  await clock.advance(1_000);
  await show('level-end');
  expect(requests.at(-1)?.session?.ads).toMatchObject([{ ago_s: 1 }]);
});

test('rules that arrive with an ad apply to it', async () => {
  const clock = createManualClock();
  const first = { formats: ['interstitial'] as AdLimit['formats'], first_after_s: 60 };
  const { show, requests } = openPage(clock, createStorage(), { rules: [first] });
  expect(await show('level-end')).toMatchObject({ retryAt: new Date(clock.now() + 60_000) });
  await clock.advance(60_000);
  expect(await show('level-end')).toBe('dec_2');
  expect(requests).toHaveLength(2);
});

test('what the service knows from other devices holds this player back, not the next one', async () => {
  const clock = createManualClock();
  const issuedAtMs = Date.parse(filledDecision('dec_1').issued_at);
  const answer = { next_ad_at: { interstitial: new Date(issuedAtMs + 45_000).toISOString() } };
  const { show, decisions } = openPage(clock, createStorage(), { answer });
  expect(await show('revive')).toBe('dec_1');
  const retryAt = new Date(clock.now() + 45_000);
  expect(await show('level-end')).toMatchObject({ outcome: 'frequency_capped', retryAt });
  await clock.advance(44_999);
  expect(decisions.availability('level-end')).toMatchObject({ available: false, retryAt });
  await clock.advance(1);
  expect(decisions.availability('level-end')).toEqual({ available: true });
  expect(await show('revive')).toBe('dec_2');
  expect(decisions.availability('level-end').available).toBe(false);
  decisions.forget();
  expect(decisions.availability('level-end')).toEqual({ available: true });
});

test.each<[object, string[] | undefined, boolean]>([
  [{}, undefined, false],
  [{ segments: ['new', 'x'] }, undefined, true],
  [{ segments: ['new'] }, ['old'], false],
  [{}, ['old', 'new'], true],
  [{ segments: [' new\t'] }, undefined, true],
  [{}, ['\u200Enew', 'old'], true],
  // The service doesn’t learn a child’s segments either.
  [{ segments: ['new'], childDirected: true }, ['new'], false],
])(
  'a rule for new players: of the user %j and a call’s %j, held is %s',
  async (user, own, held) => {
    const rule: AdLimit = { formats: ['interstitial'], segments: ['new'], gap_s: 60 };
    const page = openPage(createManualClock(), createStorage(), { user, rules: [rule] });
    expect(await page.show('level-end')).toBe('dec_1');
    const options = own && { segments: own };
    expect(page.decisions.availability('level-end', options).available).toBe(!held);
  },
);

test('a new session starts after 30 minutes of absence, and nothing is stored before consent', async () => {
  const clock = createManualClock();
  const storage = createStorage();
  const first = { formats: ['interstitial'] as AdLimit['formats'], max_per_session: 1 };
  const { show, decisions, page } = openPage(clock, storage, { rules: [first] });
  expect(await show('level-end')).toBe('dec_1');
  await clock.advance(3_600_000);
  expect(decisions.availability('level-end')).toEqual({
    available: false,
    outcome: 'frequency_capped',
    reason: 'frequency_capped',
  });
  page.emit('hidden');
  await clock.advance(1_799_999);
  expect(decisions.availability('level-end').available).toBe(false);
  await clock.advance(1);
  page.emit('visible');
  expect(decisions.availability('level-end').available).toBe(true);

  const unasked = createStorage();
  openPage(clock, unasked, { isConsentKnown: false });
  await clock.advance(120_000);
  expect(unasked.stored.size).toBe(0);
});

test('whatever the browser’s storage does or contains, ads work', async () => {
  for (const text of ['', '{', 'null', '[]', '{"at":1}', JSON.stringify({ at: 'x', ads: 7 })]) {
    const { show } = openPage(createManualClock(), { getItem: () => text, setItem() {} });
    expect(await show('level-end')).toBe('dec_1');
  }
  const broken = (): never => {
    throw new Error('SecurityError');
  };
  const clock = createManualClock();
  const { show } = openPage(clock, { getItem: broken, setItem: broken }, { rules });
  expect(await show('level-end')).toBe('dec_1');
  expect(await show('level-end')).toMatchObject({ retryAt: new Date(clock.now() + 120_000) });
});

test('an ad-free player sees no interstitial, without a request, and may still watch rewarded ads', async () => {
  const clock = createManualClock();
  const adFree = ['interstitial', 'banner'];
  const { show, decisions, requests } = openPage(clock, createStorage(), { adFree });
  expect(await show('level-end')).toEqual({ outcome: 'ad_free', reason: 'ad_free' });
  expect(await decisions.preload('shop', neverAborted, { format: 'banner' })).toMatchObject({
    outcome: 'ad_free',
  });
  expect(requests).toEqual([]);
  expect(await show('revive')).toBe('dec_1');
});

const stored = {
  at: 0,
  age: 0,
  away: 0,
  ads: [],
  limits: { version: '1', rules: [] },
  formats: { revive: 'rewarded' },
  waits: {},
  players: [],
  named: 0,
};
const seen = { id: 'dec_1', format: 'rewarded', placement: 'revive', ago: 60_000 };
/** A rule for rewarded ads that allows one now, unless `change` holds it back. */
const holdRevive = (change: object) => ({
  ...stored,
  limits: { version: '1', rules: [{ formats: ['rewarded'], gap_s: 60 }] },
  ...change,
});
test('what is stored holds an ad back in the next page', () => {
  const storage = createStorage();
  const clock = createManualClock();
  const memory = { ...holdRevive({ ads: [{ ...seen, ago: 20_000 }] }), at: clock.now() };
  storage.setItem('game', JSON.stringify(memory));
  const { decisions } = openPage(clock, storage);
  const retryAt = new Date(clock.now() + 40_000);
  expect(decisions.availability('revive')).toMatchObject({ available: false, retryAt });
});

test.each<[string, unknown]>([
  ['no JSON', '{'],
  ['another kind of value', 7],
  ['null', null],
  ...Object.keys(stored).flatMap((name): [string, unknown][] =>
    [null, 'x', 7, [null], [{}], {}].map((value) => [
      `${name}: ${JSON.stringify(value)}`,
      { ...stored, [name]: value },
    ]),
  ),
  [
    'a wait that is no number',
    {
      ...stored,
      limits: { version: '1', rules: [{ formats: ['rewarded'], max_per_day: 5 }] },
      waits: { rewarded: 'soon' },
    },
  ],
  ...['id', 'format', 'placement', 'ago'].map((name): [string, unknown] => [
    `an ad without its ${name}`,
    {
      ...stored,
      ads: [{ id: 'dec_1', format: 'rewarded', placement: 'a', ago: 5, [name]: undefined }],
    },
  ]),
  ['an ad in the far future', holdRevive({ ads: [{ ...seen, ago: -1e15 }] })],
  [
    'a session from the far future',
    holdRevive({
      limits: { version: '1', rules: [{ formats: ['rewarded'], first_after_s: 60 }] },
      age: -1e15,
    }),
  ],
  ['an endless wait', holdRevive({ waits: { rewarded: 1e15 } })],
  ['a rule without formats', { ...stored, limits: { version: '1', rules: [{}] } }],
])('storage with %s neither throws nor holds an ad back for ever', async (_, value) => {
  const clock = createManualClock();
  const storage = createStorage();
  storage.setItem('game', typeof value === 'string' ? value : JSON.stringify(value));
  const { decisions, requests } = openPage(clock, storage);
  expect(decisions.availability('revive')).toMatchObject({ available: true });
  expect((await decisions.take('revive', neverAborted)) as object).toHaveProperty('creative');
  // The service would refuse anything else.
  for (const ad of requests[0]?.session?.ads ?? [])
    expect(Object.keys(ad)).toEqual(['id', 'format', 'placement', 'ago_s']);
  expect(clock.timers()).toBeLessThan(5);
});
