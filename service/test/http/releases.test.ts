/**
 * What the releases before and after this tree sign and say, without building them: `upgrade.full.test.ts`
 * runs the one before. It is recorded by `service/test/upgrade/record.ts`.
 */
import { readFileSync } from 'node:fs';
import type { Problem } from '@trueward/protocol/wire';
import { verifyWebhook } from 'trueward/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDecisionTokens } from '../../src/decision/token.ts';
import { openSecretBox } from '../../src/key/master-key.ts';
import { readServiceSecret } from '../../src/key/service-secrets.ts';
import { createMac } from '../../src/platform/mac.ts';
import { play } from '../upgrade/play.ts';
import type { Recorded } from '../upgrade/record.ts';
import { type Game, startGame } from './reward-game.ts';

const recorded = JSON.parse(
  readFileSync(new URL('../upgrade/recorded.json', import.meta.url), 'utf8'),
) as Recorded;

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

test('tokens of the release before say here what they say there, and the ones that are issued here it reads', () => {
  const tokens = createDecisionTokens(recorded.tokens.key);
  for (const { claims, text } of recorded.tokens.signed) {
    expect(tokens.verify(text)).toEqual(claims);
    expect(tokens.sign(claims)).toBe(text);
  }
});

/** Values are of the moment; what a client goes by is not. */
const fixed = new Set(['status', 'state', 'placement', 'format', 'reward', 'min_watch_ms']);

/** The paths of a JSON document with what is at each: its type, or its value where a client goes by it. */
function outline(value: unknown, path = '', name = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null || fixed.has(name))
    return [[path, fixed.has(name) ? JSON.stringify(value) : typeof value]];
  return Object.entries(value).flatMap(([key, member]) => outline(member, `${path}/${key}`, key));
}

test('clients of the release before are answered here as they are there, and earn their reward', async () => {
  const { clock, client, url } = game;
  const played = await play(recorded.steps, {
    url,
    key: client.publishable,
    nowMs: clock.nowMs,
    pass: (ms) => clock.set(clock.nowMs() + ms),
  });
  for (const [index, { status, answer }] of recorded.steps.entries()) {
    const here = played[index];
    expect([index, here?.status]).toEqual([index, status]);
    // More may be said here, and nothing less.
    expect(outline(here?.answer)).toEqual(expect.arrayContaining(outline(answer)));
  }
  expect(played.at(-1)?.answer).toMatchObject({ state: 'earned' });
});

test('webhooks of the release before are verified here', async () => {
  const { secret, headers, body } = recorded.webhook;
  const now = () => Number(headers['service-timestamp']) * 1_000;
  const event = await verifyWebhook(body, headers, secret, { now });
  expect(event).toMatchObject({ type: 'decision.rewarded', data: { placement: 'revive' } });
});

/** What the processes of an installation sign tokens with. */
const tokenKey = (): Promise<string> => {
  const { service, config, clock } = game;
  return readServiceSecret(service.database, openSecretBox(config), clock, 'decision_token');
};

test('a token as the next release issues it earns its reward here', async () => {
  const key = await tokenKey();
  const decision = await game.decide('of two releases');
  const claims = createDecisionTokens(key).verify(decision.token);
  if (!claims) throw new Error('The token was issued a moment ago.');
  const token = createDecisionTokens(key, 2).sign(claims);
  expect(token).not.toBe(decision.token);
  expect(await game.watch({ ...decision, token })).toMatchObject({ state: 'earned' });
});

test('events with a token that only a later release reads are put off, and a forged one is refused', async () => {
  const { client, event, decide } = game;
  const decision = await decide('of a later release');
  const body = `9~${decision.id}`;
  const send = (mac: string) => {
    const events = [event({ ...decision, token: `${body}.${mac}` }, 'start')];
    const sent_at = new Date(game.clock.nowMs()).toISOString();
    return client.call<Problem>('POST', '/v1/events', client.publishable, { sent_at, events });
  };
  const later = await send(createMac(await tokenKey())(body));
  expect([later.status, later.body.code]).toEqual([503, 'unavailable']);
  expect(later.headers.get('retry-after')).toBe('5');
  const forged = await send(createMac('another key')(body));
  expect(forged.body).toMatchObject({ results: [{ status: 'rejected', code: 'token_invalid' }] });
});
