import { describe, expect, test } from 'vitest';
import { disclose, truncateIp } from '../../src/demand/disclose.ts';

const player = { ip: '203.0.113.7', userAgent: 'ua', userId: 'u', language: 'de' };
const grantedConsent = { status: 'granted', tcf_string: 'tcf', gpp_string: 'gpp' } as const;

describe('the player data that a source receives', () => {
  test('is complete if consent was granted', () => {
    expect(disclose({ ...player, consent: grantedConsent, childDirected: false })).toEqual({
      ...player,
      limitAdTracking: false,
      childDirected: false,
      gdpr: true,
      tcfString: 'tcf',
      gppString: 'gpp',
    });
  });

  test.each([
    ['if consent is missing', { childDirected: false }],
    ['if consent was denied', { consent: { status: 'denied' }, childDirected: false }],
    ['if consent is unknown', { consent: { status: 'unknown' }, childDirected: false }],
    ['for a child', { consent: { status: 'granted' }, childDirected: true }],
  ] as const)('includes a truncated IP but no user id %s', (_when, overrides) => {
    expect(disclose({ ...player, ...overrides })).toEqual({
      ip: '203.0.113.0',
      userAgent: 'ua',
      language: 'de',
      limitAdTracking: true,
      childDirected: overrides.childDirected,
    });
  });

  test('includes the consent strings if consent was denied', () => {
    const consent = { ...grantedConsent, status: 'denied' } as const;
    expect(disclose({ consent, childDirected: false })).toMatchObject({ tcfString: 'tcf' });
  });
});

test.each([
  ['203.0.113.255', '203.0.113.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['::ffff:203.0.113.7', '203.0.113.0'],
  ['localhost', undefined],
])('the IP address %s is truncated to %s', (ip, expected) => {
  expect(truncateIp(ip)).toBe(expected);
});
