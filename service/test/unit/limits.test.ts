import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { createUserTokens } from '../../src/access/user-tokens.ts';
import type { DecisionState, RecordedEvent } from '../../src/decision/decision-state.ts';
import {
  checkArrival,
  checkImpression,
  impressionEvidence,
} from '../../src/reward/check-events.ts';
import { copyCaptions, copyIcon, type MediaDeps } from '../../src/demand/intake/copy-media.ts';
import { shortText } from '../../src/demand/vast/values.ts';
import { findEarly } from '../../src/reward/early-events.ts';
import { parseAddress } from '../../src/http/client-address.ts';
import { ProblemError, toProblemResponse } from '../../src/http/problem.ts';
import type { FieldError } from '../../src/platform/domain-error.ts';
import { maxNames, scanJson } from '../../src/http/request-bodies.ts';
import { normalizeDomain, normalizeLanguage, normalizeSegment } from '../../src/platform/names.ts';
import { hasTooManyParameters } from '../../src/reward/network-call.ts';
import { applyChange, maxBalance, type WalletChange } from '../../src/wallet/wallet.ts';
import { createEvent } from './fixtures.ts';

// Each limit that decides about rewards, money or who a player is, or that bounds a text from outside: the last value that it allows, and the next one.

const decision = {
  id: 'dec_1',
  format: 'rewarded',
  mediaFormat: 'image',
  issuedAtMs: 0,
  expiresAtMs: 600_000,
  lateAtMs: 900_000,
  requiredMs: 10_000,
  invalidReason: null,
  rewardState: 'none',
  servedAtMs: null,
} as DecisionState;

const arrive = (type: RecordedEvent['type'], atMs: number) =>
  checkArrival(createEvent(type, atMs), decision, false);

const isSeen = (mediaFormat: 'image' | 'video' | 'html', ratio: number, ms: number) =>
  impressionEvidence({ mediaFormat }, createEvent('impression', 0, { visible: { ratio, ms } }));

const visible = { ratio: 1, ms: 1_000 };
const findImpression = (receivedAtMs: number) =>
  checkImpression(decision, [createEvent('impression', receivedAtMs, { visible })]);

const isEarly = (event: RecordedEvent) => {
  const batch = { events: [event], finalEvents: new Set<string>(), botEvents: new Set<string>() };
  return findEarly(batch, new Map([['dec_1', decision]]), new Map()).size > 0;
};

const change = (balance: number, delta: number, more: Partial<WalletChange> = {}) => {
  const held = { type: 'coins', balance, activeUntilMs: null, version: 1 };
  const id = 'entry';
  return applyChange([held], { id, kind: 'grant', type: 'coins', delta, ...more }, 0);
};
const activeForS = (durationS: number, maxActiveS?: number) =>
  (change(0, 0, { durationS, maxActiveS })?.holding.activeUntilMs ?? 0) / 1_000;

const rules = { accountId: 'acc_1', loopback: false, signal: new AbortController().signal };
const createMediaDeps = (properties: object): MediaDeps =>
  ({
    fetchMedia: async () => ({ body: Buffer.from('WEBVTT'), sha256: 'hash' }),
    storeFile: async () => ({ name: 'file' }),
    probe: async (body: Buffer) => ({ body, sha256: 'hash', properties }),
    publicUrl: () => 'https://ads.example',
  }) as unknown as MediaDeps;
const countCaptions = async (...languages: string[]) =>
  (
    await copyCaptions(
      createMediaDeps({}),
      languages.map((language) => ({ url: '', language })),
      rules,
    )
  ).length;
const isIcon = (width: number, height: number) =>
  copyIcon(createMediaDeps({ type: 'image/png', width, height }), 'https://a.example/', rules).then(
    () => true,
    () => false,
  );
/** A valid language tag of this length, from 13 on. */
const longLanguage = (length: number) => `de-x-${'aaaaaaa-'.repeat(9)}`.slice(0, length - 1) + 'a';

const nowS = 1_800_000_000;
const verifyToken = async (expS: number) => {
  const secret = 'a secret';
  const tokens = createUserTokens({
    database: { query: async () => [{ sealed: secret }] },
    box: { open: (sealed: string) => sealed },
    clock: { nowMs: () => nowS * 1_000, monotonicMs: () => 0 },
  } as unknown as Parameters<typeof createUserTokens>[0]);
  const token = await new SignJWT({ sub: 'player-1', exp: expS })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret));
  return tokens.verify({ accountId: 'acc_1', environment: 'live' }, token);
};

const describe = (message: string, errors: FieldError[] = []) =>
  toProblemResponse(new ProblemError('invalid_request', message, { errors }), 'req_1').document;
const bytesOf = (message: string) => Buffer.byteLength(JSON.stringify({ pointer: '/a', message }));
const manyNames = (count: number) =>
  Buffer.from(`{${Array.from({ length: count }, (_, index) => `"name ${index}":0`).join(',')}}`);

test.each<[string, (excess: number) => boolean | Promise<boolean>]>([
  ['an event’s late window', (ms) => arrive('complete', 900_000 + ms) === 'late'],
  ['the time for starting an ad', (ms) => arrive('start', 600_000 + ms) === 'expired'],
  ['the time for an impression', (ms) => arrive('impression', 660_000 + ms) === 'expired'],
  ['the visible share', (percent) => !isSeen('image', 0.5 - percent / 100, 60_000)],
  ['an image’s visible time', (ms) => !isSeen('image', 1, 1_000 - ms)],
  ['HTML’s visible time', (ms) => !isSeen('html', 1, 1_000 - ms)],
  ['a video’s visible time', (ms) => !isSeen('video', 1, 2_000 - ms)],
  ['an impression’s earliest arrival', (ms) => findImpression(1_000 - ms) === undefined],
  ['an impression’s latest arrival', (ms) => findImpression(660_000 + ms) === undefined],
  ['an early completion', (ms) => isEarly(createEvent('complete', 9_500 - ms))],
  ['an early impression', (ms) => isEarly(createEvent('impression', 1_000 - ms, { visible }))],
  ['a balance that is spent', (amount) => change(5, -5 - amount) === undefined],
  [
    'the largest balance',
    (amount) => change(maxBalance - 1, 1 + amount)?.entry.delta !== 1 + amount,
  ],
  ['a timed reward, by default a week', (s) => activeForS(604_800 + s) < 604_800 + s],
  ['a timed reward’s own limit', (s) => activeForS(100 + s, 100) < 100 + s],
  ['an old user token', async (s) => !(await verifyToken(nowS - 59 - s))],
  ['a name in a VAST document', (more) => shortText('x'.repeat(200 + more))?.length !== 200 + more],
  ['a user token’s lifetime', async (s) => !(await verifyToken(nowS + 86_460 + s))],
  [
    'the language of captions',
    async (more) => (await countCaptions(longLanguage(35 + more))) === 0,
  ],
  [
    'an ad’s captions',
    async (more) =>
      (await countCaptions(...Array.from({ length: 16 + more }, (_, n) => `de-x-a${n}`))) <
      16 + more,
  ],
  ['an icon’s width', async (pixels) => !(await isIcon(1_024 + pixels, 1_024))],
  ['an icon’s height', async (pixels) => !(await isIcon(1_024, 1_024 + pixels))],
  ['an icon’s smallest width', async (pixels) => !(await isIcon(1 - pixels, 1))],
  ['an icon’s smallest height', async (pixels) => !(await isIcon(1, 1 - pixels))],
  ['a domain’s text', (more) => normalizeDomain('a.example/'.padEnd(2_048 + more)) === undefined],
  ['a segment', (more) => normalizeSegment('a'.repeat(64 + more)) === undefined],
  ['a language’s text', (more) => normalizeLanguage('pt_BR.'.padEnd(64 + more, 'a')) === undefined],
  ['an address’s text', (more) => parseAddress('fe80::1%'.padEnd(100 + more, 'a')) === undefined],
  ['a network’s parameters', (more) => hasTooManyParameters({ query: 'a&'.repeat(99 + more) })],
  [
    'a network’s empty parameters',
    (more) => hasTooManyParameters({ query: '&'.repeat(99 + more) }),
  ],
  ['a problem’s detail', (more) => describe('a'.repeat(1_000 + more)).detail.endsWith('…')],
  [
    'a field error’s message',
    (more) =>
      describe('', [
        { pointer: '/a', message: 'a'.repeat(500 + more) },
      ]).errors?.[0]?.message.endsWith('…') ?? true,
  ],
  [
    // 20 errors would be smaller than 12,288 bytes without their long characters.
    'the bytes of all field errors',
    (more) => {
      const message = '€'.repeat(500);
      const last = {
        pointer: '/a',
        message: 'a'.repeat(12_288 - 8 * bytesOf(message) - bytesOf('') + more),
      };
      const errors = [...Array(8).fill({ pointer: '/a', message }), last];
      return describe('', errors).errors?.length !== 9;
    },
  ],
  ['the names in a body', (more) => scanJson(manyNames(maxNames + more)).names > maxNames],
])('holds exactly: %s', async (_, exceeds) => {
  expect([await exceeds(0), await exceeds(1)]).toEqual([false, true]);
});
