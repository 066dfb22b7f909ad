import { describe, expect, test } from 'vitest';
import {
  expandMacros,
  makeRequestMacros,
  findUnknownMacros,
} from '../../../src/demand/vast/macros.ts';
import { inline, nowMs, resolve, vast } from './fixtures.ts';
import { makeAdMacros } from '../../../src/demand/vast/ad.ts';

const moment = { nowMs, random: 0.5 };

describe('macro expansion', () => {
  test.each([
    ['[TIMESTAMP]', '2026-11-22T10%3A00%3A00.000%2B00'],
    ['[CACHEBUSTING]', '55000000'],
    ['[RANDOM]', '55000000'],
    ['[random]', '55000000'],
    ['%5BCACHEBUSTING%5D', '55000000'],
    ['[ERRORCODE]', '303'],
    ['[PLAYERSIZE]', '640,360'],
    ['[DEVICEUA]', 'Mozilla%2F5.0%20(X%26Y)'],
    ['[IFA]', '-1'],
    ['[SOMETHING]', '[SOMETHING]'],
    ['[0]', '[0]'],
    ['[IFA', '[IFA'],
  ])('replaces %s with %s', (macro, expected) => {
    const values = { ERRORCODE: 303, PLAYERSIZE: [640, 360], DEVICEUA: 'Mozilla/5.0 (X&Y)' };
    expect(expandMacros(`https://t.example/?a=${macro}&b=1`, values, moment)).toBe(
      `https://t.example/?a=${expected}&b=1`,
    );
  });

  test.each([
    [0, '10000000'],
    [0.999_999_999_9, '99999999'],
  ])('creates an eight-digit cache buster for the random number %s', (random, expected) => {
    expect(expandMacros('[CACHEBUSTING]', {}, { nowMs, random })).toBe(expected);
  });

  test('ignores macros in other macros’ values', () => {
    const url = expandMacros('https://t.example/?u=[PAGEURL]', { PAGEURL: '[DEVICEIP]' }, moment);
    expect(url).toBe('https://t.example/?u=%5BDEVICEIP%5D');
  });

  test('accepts text that is not well-formed Unicode', () => {
    expect(expandMacros('[DEVICEUA]', { DEVICEUA: '\uD800' }, moment)).toBe('%EF%BF%BD');
  });

  test('reports unknown macros in a configured tag', () => {
    const tag =
      'https://ads.example/?a=[CACHEBUSTER]&b=[CACHEBUSTING]&c=[0]&d=[RANDOM]&e=[CACHEBUSTER]';
    expect(findUnknownMacros(tag)).toEqual(['CACHEBUSTER']);
  });

  test('inserts details about the request', () => {
    const values = makeRequestMacros({
      player: { limitAdTracking: true, childDirected: true, gdpr: true, ip: '203.0.113.0' },
      playerSize: { width: 640, height: 360 },
    });
    const tag =
      '[LIMITADTRACKING]|[REGULATIONS]|[DEVICEIP]|[PLAYERSIZE]|[SERVERSIDE]|[INVENTORYSTATE]|[GDPRCONSENT]|[BREAKMAXADS]|[MEDIAMIME]';
    expect(expandMacros(tag, values, moment)).toBe(
      '1|coppa,gdpr|203.0.113.0|640,360|1|optin|-1|1|video%2Fmp4,video%2Fwebm',
    );
  });

  test('returns -1 for unknown regulations', () => {
    const values = makeRequestMacros({ player: { limitAdTracking: false, childDirected: false } });
    expect(expandMacros('[LIMITADTRACKING] [REGULATIONS]', values, moment)).toBe('0 -1');
  });

  test('is applied to the tag before the tag is requested', async () => {
    const { requestedUrls } = await resolve({}, { macros: { DOMAIN: 'game.example' } });
    expect(requestedUrls).toEqual(['https://ads.example/start']);
  });

  test('inserts the ad’s values into the chain’s trackers', async () => {
    const { result } = await resolve({
      start: vast(
        inline({
          body: '<AdServingId>s 1</AdServingId>',
          creative: '<UniversalAdId idRegistry="ad-id.org">X</UniversalAdId>',
        }),
      ),
    });
    if (!result.ad) throw new Error('Expected an ad.');
    const tracker = '[ADSERVINGID]|[UNIVERSALADID]|[ASSETURI]|[ADTYPE]|[REASON]';
    expect(expandMacros(tracker, makeAdMacros(result.ad), moment)).toBe(
      's%201|ad-id.org%20X|https%3A%2F%2Fcdn.example%2Fad.mp4|video|2',
    );
  });
});
