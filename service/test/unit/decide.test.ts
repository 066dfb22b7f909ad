import type { DecisionRequest, Placement, Policy } from '@trueward/protocol/wire';
import { describe, expect, test } from 'vitest';
import {
  checkRequest,
  decide,
  type DecideInput,
  rejectAd,
  rejectSource,
} from '../../src/decision/decide.ts';
import { selectApplicable } from '../../src/decision/match-policies.ts';
import { type AnyResource, compileSnapshot } from '../../src/decision/snapshot.ts';
import { createAdResources, createKillSwitch, createPlacement, createPolicy } from './fixtures.ts';

const now = Date.parse('2026-06-01T12:00:00.000Z');

interface Case {
  placementChange?: Partial<Placement>;
  resources?: AnyResource[];
  request?: Partial<DecisionRequest>;
  input?: Partial<DecideInput>;
}

function createInput({
  placementChange = {},
  resources = createAdResources('a'),
  request = {},
  input = {},
}: Case): DecideInput {
  const snapshot = compileSnapshot([
    { kind: 'placement', document: createPlacement(placementChange) },
    ...resources,
  ]);
  const entry = snapshot.placements.get('revive');
  if (!entry) throw new Error('The placement is missing.');
  return {
    snapshot,
    entry,
    request: { placement: 'revive', ...request },
    context: {
      childDirected: false,
      hour: 12,
      language: 'pt-BR',
      device: 'mobile',
      segments: ['new', 'guild-7'],
    },
    servedAtMs: [],
    pageAdsAtMs: [],
    ruleEnds: new Map(),
    adFree: [],
    dailyBudgets: new Map(),
    nowMs: now,
    random: 0,
    ...input,
  };
}

const runDecision = (testCase: Case) => decide(createInput(testCase));

const futureTime = '2026-06-01T12:00:01.000Z';
const pastTime = '2026-06-01T11:59:59.000Z';

test('an approved ad is served in an active placement', () => {
  expect(runDecision({})).toMatchObject({
    status: 'filled',
    candidate: { houseAd: { id: 'had_a' } },
    explain: [{ verdict: 'chosen' }],
  });
});

test.each<[string, Case, object]>([
  [
    'a kill switch that targets a placement by id stops its ads',
    { resources: [...createAdResources('a'), createKillSwitch('placement', 'plc_1')] },
    { status: 'no_fill', reason: 'killed' },
  ],
  [
    'a kill switch that targets a placement by name stops its ads',
    { resources: [...createAdResources('a'), createKillSwitch('placement', 'revive')] },
    { reason: 'killed' },
  ],
  [
    'a kill switch that targets an advertiser stops its ads',
    { resources: [...createAdResources('a'), createKillSwitch('advertiser', 'adv_a')] },
    { reason: 'killed' },
  ],
  [
    'a kill switch that targets a source stops its ads',
    { resources: [...createAdResources('a'), createKillSwitch('source', 'src_a')] },
    { reason: 'killed' },
  ],
  [
    'a paused placement serves no ad',
    { placementChange: { status: 'paused' } },
    { status: 'no_fill', reason: 'paused' },
  ],
  [
    'a placement without house ads serves no ad',
    { resources: [] },
    { status: 'no_fill', reason: 'no_candidates', explain: [] },
  ],
  [
    'a paused house ad is not a candidate',
    { resources: createAdResources('a', { houseAd: { status: 'paused' } }) },
    { reason: 'no_candidates' },
  ],
  [
    'a house ad is not served before its start time',
    { resources: createAdResources('a', { houseAd: { starts_at: futureTime } }) },
    { reason: 'no_candidates', explain: [{ verdict: 'out_of_schedule' }] },
  ],
  [
    'a house ad is not served after its end time',
    { resources: createAdResources('a', { houseAd: { ends_at: pastTime } }) },
    { reason: 'no_candidates' },
  ],
  [
    'an ad in a format that the client cannot show is not served',
    { request: { formats: ['video'] } },
    { reason: 'no_candidates', explain: [{ verdict: 'format_not_accepted' }] },
  ],
  [
    'a creative is not served before its approval',
    { resources: createAdResources('a', { creative: { review: { status: 'pending_review' } } }) },
    { reason: 'not_approved' },
  ],
  [
    'a daily cap reached by impressions applies until the next day',
    {
      resources: createAdResources('a', { houseAd: { daily_cap: 2 } }),
      input: { dailyBudgets: new Map([['had_a', { served: 2, allowance: 0 }]]) },
    },
    { reason: 'budget', retryAtMs: Date.parse('2026-06-02T00:00:00.000Z') },
  ],
  [
    'a request can be retried after 10 s if reservations have used up the daily cap',
    {
      resources: createAdResources('a', { houseAd: { daily_cap: 2 } }),
      input: { dailyBudgets: new Map([['had_a', { served: 1, allowance: 0 }]]) },
    },
    { reason: 'budget', retryAtMs: now + 10_000 },
  ],
  [
    'a policy without conditions blocks every ad',
    { resources: [...createAdResources('a'), createPolicy()] },
    { status: 'blocked', reason: 'policy', rule: { id: 'pol_1' } },
  ],
  [
    'a brand-safety policy can block a category',
    {
      resources: [
        ...createAdResources('a'),
        createPolicy({ kind: 'brand_safety', block: { categories: ['creative-1'] } }),
      ],
    },
    { status: 'blocked', reason: 'brand_safety' },
  ],
  [
    'a commercial policy can block a domain',
    {
      resources: [
        ...createAdResources('a'),
        createPolicy({ kind: 'commercial', block: { domains: ['a.example'] } }),
      ],
    },
    { status: 'blocked', reason: 'commercial' },
  ],
])('%s', (_name, testCase, expected) => {
  expect(runDecision(testCase)).toMatchObject(expected);
});

describe('a policy', () => {
  const isFilled = (conditions: object) =>
    runDecision({ resources: [...createAdResources('a'), createPolicy({ when: conditions })] })
      .status === 'filled';

  test.each<[object, boolean]>([
    [{ languages: ['pt'] }, false],
    [{ languages: ['pt-PT', 'en'] }, true],
    [{ devices: ['mobile'] }, false],
    [{ devices: ['desktop'] }, true],
    [{ hours: [12] }, false],
    [{ hours: [11, 13] }, true],
    [{ child_directed: true }, true],
    [{ countries: ['DE'] }, true],
    [{ segments: ['payer', 'new'] }, false],
    [{ segments: ['payer'] }, true],
    [{ devices: ['mobile'], hours: [13] }, true],
  ])('with the conditions %j allows the ad: %s', (conditions, expected) => {
    expect(isFilled(conditions)).toBe(expected);
  });

  test.each([
    ['zh-TW', 'zh-TW', true],
    ['zh-TW', 'zh-Hant-TW', true],
    ['zh-TW', 'zh_Hant_TW', true],
    ['zh-Hant', 'zh-TW', true],
    ['zh-Hant', 'zh-HK', true],
    ['zh-Hant-TW', 'zh-TW', true],
    ['zh-Hans', 'zh-CN', true],
    ['zh-Hans', 'zh', true],
    ['zh', 'zh-Hant-TW', true],
    ['pt-BR', 'pt-Latn-BR', true],
    ['sr-RS', 'sr-Latn-RS', true],
    ['sr-Cyrl', 'sr', true],
    ['zh-Hant', 'zh-CN', false],
    ['zh-TW', 'zh-HK', false],
    ['zh-TW', 'zh', false],
    ['pt-BR', 'pt', false],
    ['sr-Cyrl', 'sr-Latn-RS', false],
    ['xx-unknown', 'xx-unknown', true],
  ])('for the language %s applies to a player with %s: %s', (policyLanguage, language, applies) => {
    const policy = createPolicy({ when: { languages: [policyLanguage] } });
    const { snapshot, context } = createInput({
      resources: [policy],
      input: { context: { childDirected: false, hour: 12, language } },
    });
    const policies = snapshot.placements.get('revive')?.policies ?? [];
    expect(selectApplicable(policies, context).length > 0).toBe(applies);
  });

  test('has no effect on other placements or while it is paused', () => {
    expect(
      runDecision({
        resources: [...createAdResources('a'), createPolicy({ placements: ['other'] })],
      }).status,
    ).toBe('filled');
    expect(
      runDecision({ resources: [...createAdResources('a'), createPolicy({ status: 'paused' })] })
        .status,
    ).toBe('filled');
  });

  test.each<[string, Policy['block']]>([
    ['everything', { everything: true }],
    ['an advertiser', { advertisers: ['adv_a'] }],
    ['a source', { sources: ['src_a'] }],
    ['a domain', { domains: ['a.example'] }],
    ['a category', { categories: ['creative-1'] }],
    ['a format', { formats: ['image'] }],
  ])('that blocks %s blocks it only where its conditions are met', (_, block) => {
    const reject = (devices: ('mobile' | 'desktop')[]) => {
      const input = createInput({
        resources: [...createAdResources('a'), createPolicy({ when: { devices }, block })],
      });
      const [ad] = input.entry.candidates;
      if (!ad) throw new Error('The ad is missing.');
      const source = { id: 'src_a' } as Parameters<typeof rejectSource>[0];
      return {
        house: decide(input).status !== 'filled',
        external:
          !('policies' in checkRequest(input)) ||
          rejectSource(source, input) !== undefined ||
          rejectAd(ad, input) !== undefined,
      };
    };
    expect(reject(['desktop'])).toEqual({ house: false, external: false });
    expect(reject(['mobile'])).toEqual({ house: true, external: true });
  });

  test('does not block other advertisers’ ads', () => {
    const verdict = runDecision({
      resources: [
        ...createAdResources('a'),
        ...createAdResources('b'),
        createPolicy({ name: 'no a', block: { advertisers: ['adv_a'] } }),
      ],
    });
    expect(verdict).toMatchObject({ status: 'filled', candidate: { houseAd: { id: 'had_b' } } });
    expect(verdict.explain.map(({ verdict: text }) => text)).toEqual(['policy: no a', 'chosen']);
  });
});

test('a kill switch takes precedence over a policy until it expires', () => {
  const activeSwitch = createKillSwitch('placement', 'plc_1', futureTime);
  expect(
    runDecision({ resources: [...createAdResources('a'), createPolicy(), activeSwitch] }),
  ).toMatchObject({
    reason: 'killed',
  });
  expect(
    runDecision({
      resources: [...createAdResources('a'), activeSwitch],
      input: { nowMs: now + 1_000 },
    }).status,
  ).toBe('filled');
});

test('the no-fill reason comes from the candidate that passed the most checks', () => {
  const resources = [
    ...createAdResources('a', { houseAd: { ends_at: pastTime } }),
    ...createAdResources('b', { creative: { review: { status: 'rejected' } } }),
    ...createAdResources('c'),
    createKillSwitch('source', 'src_c'),
  ];
  expect(runDecision({ resources })).toMatchObject({ reason: 'not_approved' });
});

test('weights split the traffic among the ads in the highest priority tier', () => {
  const resources = [
    ...createAdResources('low', { houseAd: { priority: 6, weight: 1_000 } }),
    ...createAdResources('one', { houseAd: { weight: 1 } }),
    ...createAdResources('three', { houseAd: { weight: 3 } }),
  ];
  const chosenAds = [0, 0.24, 0.25, 0.5, 0.999].map((random) => {
    const verdict = runDecision({ resources, input: { random } });
    return verdict.status === 'filled' ? verdict.candidate.houseAd.name : verdict.reason;
  });
  expect(chosenAds).toEqual(['one', 'one', 'three', 'three', 'three']);
});

describe('the frequency cap and the cooldown', () => {
  const limits = { frequency_cap: { max: 2, per_s: 60 }, cooldown_s: 10 };
  const createImpressions = (...secondsAgo: number[]) => ({
    servedAtMs: secondsAgo.map((ago) => now - ago * 1_000),
  });

  test.each<[string, number[], object]>([
    ['block during the cooldown', [5], { reason: 'cooldown', retryAtMs: now + 5_000 }],
    ['allow after the cooldown', [10], { status: 'filled' }],
    [
      'block when the frequency cap is reached',
      [20, 50],
      { reason: 'frequency_capped', retryAtMs: now + 10_000 },
    ],
    ['allow an ad once the oldest impression no longer counts', [20, 60], { status: 'filled' }],
    ['return the limit that ends later', [5, 55], { reason: 'cooldown', retryAtMs: now + 5_000 }],
    [
      'accept impressions in any order',
      [50, 20],
      { reason: 'frequency_capped', retryAtMs: now + 10_000 },
    ],
  ])('%s', (_name, secondsAgo, expected) => {
    expect(
      runDecision({ placementChange: limits, input: createImpressions(...secondsAgo) }),
    ).toMatchObject(expected);
  });
});
