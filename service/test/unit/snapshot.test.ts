import type { Source } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { type AnyResource, compileSnapshot } from '../../src/decision/snapshot.ts';
import { createAdResources, createPlacement } from './fixtures.ts';

const createSource = (id: string, overrides: Partial<Source> = {}): AnyResource => ({
  kind: 'source',
  document: {
    id,
    environment: 'sandbox',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    name: id,
    kind: 'vast',
    tag_url: 'https://ads.example/v',
    placements: ['revive'],
    status: 'active',
    ...overrides,
  },
});

const listSources = (resources: AnyResource[], name = 'revive') =>
  compileSnapshot(resources)
    .placements.get(name)
    ?.sources.map(({ id }) => id);

test('a placement’s active external sources are sorted by priority and age', () => {
  const revive: AnyResource = { kind: 'placement', document: createPlacement() };
  const sources = [
    createSource('src_4', { priority: 7 }),
    createSource('src_3'),
    createSource('src_2', { priority: 1 }),
    createSource('src_1', { priority: 5 }),
    createSource('src_paused', { status: 'paused' }),
    createSource('src_elsewhere', { placements: ['shop'] }),
    createSource('src_nowhere', { placements: [] }),
  ];
  expect(listSources([revive, ...createAdResources('a'), ...sources])).toEqual([
    'src_2',
    'src_1',
    'src_3',
    'src_4',
  ]);
});

test('a source’s unset fields get default values', () => {
  const { placements } = compileSnapshot([
    { kind: 'placement', document: createPlacement() },
    createSource('src_1', { timeout_ms: 300 }),
  ]);
  expect(placements.get('revive')?.sources[0]).toMatchObject({
    priority: 5,
    currency: 'USD',
    cpm_micros: 0,
    timeout_ms: 300,
    review: 'manual',
    impression_on: 'verified',
    tracking_window_s: 1_800,
    child_directed: false,
    header_profile: 'iab',
  });
});

test('an external creative is found by its source and key', () => {
  const [creative, ...otherResources] = createAdResources('a', {
    creative: { source_key: 'key-1' },
  }).toSorted((x) => (x.kind === 'creative' ? -1 : 1));
  if (creative?.kind !== 'creative') throw new Error('Expected a creative.');
  const newerCreative: AnyResource = {
    kind: 'creative',
    document: { ...creative.document, id: 'crv_b', alt: 'newer' },
  };
  const { findExternalCreative } = compileSnapshot([
    creative,
    newerCreative,
    ...otherResources,
    ...createAdResources('c'),
  ]);
  const match = findExternalCreative('src_a', 'key-1');
  expect(match).toMatchObject({
    creative: { id: 'crv_a' },
    clientCreative: { id: 'crv_a' },
    advertiserName: 'a',
    advertiserDomain: 'shop.a.example',
  });
  expect(match?.categories.has('advertiser-1')).toBe(true);
  expect(Object.keys(match?.clientCreative ?? {})).not.toContain('source_key');
  expect(findExternalCreative('src_c', 'key-1')).toBeUndefined();
  expect(findExternalCreative('src_a', '')).toBeUndefined();
});
