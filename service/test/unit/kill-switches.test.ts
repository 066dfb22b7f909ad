import type { Advertiser } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { isAdKilled } from '../../src/decision/kill-switches.ts';
import { type AnyResource, compileSnapshot } from '../../src/decision/snapshot.ts';
import { createPlacement } from './fixtures.ts';

test.each<[string, object, object, boolean]>([
  ['a placement by its name', { scope: 'placement', target_id: 'revive' }, {}, true],
  ['a placement by its id', { scope: 'placement', target_id: createPlacement().id }, {}, true],
  ['another placement', { scope: 'placement', target_id: 'lobby' }, {}, false],
  ['a source', { scope: 'source', target_id: 'src_1' }, {}, true],
  ['another source', { scope: 'source', target_id: 'src_2' }, {}, false],
  ['an advertiser', { scope: 'advertiser', target_id: 'adv_1' }, {}, true],
  [
    'another advertiser with the same domain',
    { scope: 'advertiser', target_id: 'adv_2' },
    {},
    true,
  ],
  ['an advertiser with another domain', { scope: 'advertiser', target_id: 'adv_3' }, {}, false],
  ['something else of that id', { scope: 'advertiser', target_id: 'src_1' }, {}, false],
  [
    'an ad without a placement',
    { scope: 'placement', target_id: 'revive' },
    { placement: null },
    false,
  ],
  [
    'a source until a second later',
    { scope: 'source', target_id: 'src_1', expires_at: '2026-01-01T00:00:01.000Z' },
    {},
    true,
  ],
  [
    'a source until now',
    { scope: 'source', target_id: 'src_1', expires_at: '2026-01-01T00:00:00.000Z' },
    {},
    false,
  ],
])('a kill switch for %s stops an ad: %o %o → %s', (_, killSwitch, ad, expected) => {
  const document = { id: 'kill_1', state: 'on', actor: 'a test', ...killSwitch };
  const snapshot = compileSnapshot([
    { kind: 'placement', document: createPlacement() },
    ...['meadow.example', 'meadow.example', 'lantern.example'].map((domain, index) => ({
      kind: 'advertiser' as const,
      document: { id: `adv_${index + 1}`, domain } as Advertiser,
    })),
    { kind: 'killSwitch', document } as unknown as AnyResource,
  ]);
  const running = { placement: 'revive', sourceId: 'src_1', advertiserId: 'adv_1', ...ad };
  expect(isAdKilled(snapshot, running, Date.parse('2026-01-01T00:00:00Z'))).toBe(expected);
});
