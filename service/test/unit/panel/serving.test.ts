import type {
  Advertiser,
  Creative,
  HouseAd,
  KillSwitch,
  Placement,
  Source,
} from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import {
  findPlacementProblem,
  findServingProblems,
  type ServingFacts,
} from '../../../panel/src/ads/serving.ts';

const served: ServingFacts = {
  houseAd: { status: 'active', phase: 'running', placements: ['revive'] },
  creative: {
    advertiser_id: 'adv_1',
    source_id: 'src_1',
    review: { status: 'approved' },
  } as Creative,
  source: { name: 'House', status: 'active' } as Source,
  placements: [{ name: 'revive', status: 'active' } as Placement],
  advertisers: ['meadow.example', 'lantern.example', 'meadow.example'].map(
    (domain, index) => ({ id: `adv_${index + 1}`, domain }) as Advertiser,
  ),
  killSwitches: [
    { scope: 'placement', target_id: 'lobby' } as KillSwitch,
    { scope: 'advertiser', target_id: 'adv_2' } as KillSwitch,
  ],
};
const creative = (status: Creative['review']['status']): Partial<ServingFacts> => ({
  creative: { ...served.creative, review: { status } } as Creative,
});
const stop = (scope: KillSwitch['scope'], id: string): Partial<ServingFacts> => ({
  killSwitches: [{ scope, target_id: id, reason: 'a bug' } as KillSwitch],
});
const houseAd = (change: Partial<HouseAd>): Partial<ServingFacts> => ({
  houseAd: { ...served.houseAd, ...change },
});

test.each<[string, Partial<ServingFacts>, string[]]>([
  ['served', {}, []],
  ['not known yet', { creative: undefined, source: undefined, killSwitches: undefined }, []],
  ['waiting for review', creative('pending_review'), ['pending_review']],
  ['rejected', creative('rejected'), ['rejected']],
  ['suspended', creative('suspended'), ['suspended']],
  ['of a paused source', { source: { name: 'A', status: 'paused' } as Source }, ['source paused']],
  [
    'on a paused placement',
    { placements: [{ name: 'revive', status: 'paused' } as Placement] },
    ['placement paused'],
  ],
  ['on a stopped placement', stop('placement', 'revive'), ['stopped']],
  [
    'on a stopped placement and on another one',
    { ...stop('placement', 'lobby'), ...houseAd({ placements: ['lobby', 'revive'] }) },
    [],
  ],
  [
    'on a stopped placement and on a paused one',
    {
      ...stop('placement', 'lobby'),
      ...houseAd({ placements: ['lobby', 'revive'] }),
      placements: [{ name: 'revive', status: 'paused' } as Placement],
    },
    ['stopped', 'placement paused'],
  ],
  ['of a stopped advertiser', stop('advertiser', 'adv_1'), ['stopped']],
  ['of an advertiser whose domain is stopped', stop('advertiser', 'adv_3'), ['stopped']],
  ['of a stopped source', stop('source', 'src_1'), ['stopped']],
  ['paused', { ...creative('rejected'), ...houseAd({ status: 'paused', phase: 'paused' }) }, []],
  ['ended', { ...creative('rejected'), ...houseAd({ phase: 'ended' }) }, []],
  [
    'edited, with two problems',
    { ...creative('rejected'), ...stop('source', 'src_1'), houseAd: { placements: ['revive'] } },
    ['rejected', 'stopped'],
  ],
])('a house ad that is %s', (_name, change, states) => {
  const problems = findServingProblems({ ...served, ...change });
  expect(problems.map(({ state }) => state)).toEqual(states);
  for (const { text } of problems) expect(text).toMatch(/^[A-Z].*\.$/);
});

test.each<[string, Partial<Placement>, string[], string[], string | undefined]>([
  ['with a house ad', {}, ['revive'], [], undefined],
  ['with a source', {}, [], ['revive'], undefined],
  ['with ads elsewhere', {}, ['lobby'], ['lobby'], 'no ads'],
  ['paused', { status: 'paused' }, [], [], undefined],
  ['stopped', { name: 'lobby' }, ['lobby'], [], 'stopped'],
])('a placement %s', (_name, change, houseAds, sources, state) => {
  const problem = findPlacementProblem(
    { name: 'revive', status: 'active', ...change },
    houseAds.map((name) => ({ placements: [name] }) as HouseAd),
    sources.map((name) => ({ placements: [name] }) as Source),
    served.killSwitches ?? [],
  );
  expect(problem?.state).toBe(state);
});
