import { beforeEach, expect, test, vi } from 'vitest';
import { findLoadFailure } from '../../../src/creative/load-failure.ts';
import { native } from '../../../src/platform/native.ts';

// What the page's timeline and one more request say about a file that an element could not load.

const url = 'https://media.test/ad.mp4';
const element = (responseStart: number) => ({ initiatorType: 'video', responseStart });
const fetched = (responseStart: number) => ({ initiatorType: 'fetch', responseStart });
const clock = {
  after: (_ms: number, then: () => void) => (then(), () => undefined),
  monotonic: () => 0,
};

beforeEach(() => {
  vi.stubGlobal('location', { href: 'https://game.test/' });
});

const find = (timings: object[] = [], at = url, signal = new AbortController().signal) =>
  findLoadFailure(at, 'unknown', {
    clock: clock as never,
    signal,
    timeline: { getEntriesByName: () => timings } as never,
  });

test.each<[string, object[], string]>([
  ['only the element’s request got no answer', [element(0), fetched(9)], 'blocked'],
  ['the element’s request got an answer', [element(7), fetched(9)], 'unknown'],
  ['one of the element’s requests got an answer', [element(0), element(7), fetched(9)], 'unknown'],
  ['the page doesn’t list the element’s request', [fetched(9)], 'unknown'],
  ['the server hides its times', [element(0), fetched(0)], 'unknown'],
  ['the page lists nothing', [], 'unknown'],
])('if the server has the file and %s', async (_, timings, expected) => {
  vi.spyOn(native, 'fetch').mockResolvedValue(new Response());
  expect(await find(timings)).toBe(expected);
});

test('if the server doesn’t have the file', async () => {
  vi.spyOn(native, 'fetch').mockResolvedValue(new Response(null, { status: 404 }));
  expect(await find([element(0), fetched(9)])).toBe('media_missing');
});

test('if the server answers only requests that need no CORS', async () => {
  vi.spyOn(native, 'fetch')
    .mockRejectedValueOnce(new TypeError())
    .mockResolvedValue(new Response());
  expect(await find([element(0)])).toBe('unknown');
});

test.each([
  ['goes on', new AbortController().signal, 'media_network'],
  ['has ended', AbortSignal.abort(), 'unknown'],
])('if nothing answers and the ad %s', async (_, signal, expected) => {
  vi.spyOn(native, 'fetch').mockRejectedValue(new TypeError());
  // Filter lists don't contain hosts on the same device.
  expect(await find([element(0)], 'https://127.0.0.1/ad.mp4', signal)).toBe(expected);
});

test('if only the page’s own server answers, the file’s host is blocked', async () => {
  vi.stubGlobal('document', new EventTarget());
  vi.spyOn(native, 'fetch').mockImplementation(async (request) => {
    if (!(request as string).startsWith('https://game.test/')) throw new TypeError();
    return new Response();
  });
  expect(await find([element(0)])).toBe('blocked');
});

test('no request is made for a file that is in the page', async () => {
  const fetch = vi.spyOn(native, 'fetch');
  expect(await find([], 'data:video/mp4,')).toBe('unknown');
  expect(fetch).not.toHaveBeenCalled();
});
