/**
 * Tests compatibility with the previous release against a recording (`service/test/upgrade/record.ts`), and with tokens
 * from later releases. `upgrade.full.test.ts` runs the previous release itself.
 */
import { readFileSync } from 'node:fs';
import type { Problem } from '@trueward/protocol/wire';
import { verifyWebhook } from 'trueward/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDecisionTokens } from '../../src/decision/token.ts';
import { openSecretBox, createMac, readServiceSecret } from '../../src/access/secret-box.ts';
import { play } from '../upgrade/play.ts';
import type { Recording } from '../upgrade/record.ts';
import { type Game, startGame } from './reward-game.ts';

const recording = JSON.parse(
  readFileSync(new URL('../upgrade/recorded.json', import.meta.url), 'utf8'),
) as Recording;

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

test('tokens are identical to those from the previous release', () => {
  const tokens = createDecisionTokens(recording.tokens.key);
  for (const { claims, text } of recording.tokens.signed) {
    expect(tokens.verify(text)).toEqual(claims);
    expect(tokens.sign(claims)).toBe(text);
  }
});

/** Members whose values clients depend on. All other values may differ from run to run. */
const fixedMembers = new Set(['status', 'state', 'placement', 'format', 'reward', 'min_watch_ms']);

/** Lists every path in a JSON document with its value, or only its type if clients do not depend on the value. */
function outline(value: unknown, path = '', name = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null || fixedMembers.has(name))
    return [[path, fixedMembers.has(name) ? JSON.stringify(value) : typeof value]];
  return Object.entries(value).flatMap(([key, member]) => outline(member, `${path}/${key}`, key));
}

test('clients from the previous release can earn rewards and get compatible responses', async () => {
  const { clock, client, url } = game;
  const playedSteps = await play(recording.steps, {
    url,
    key: client.publishable,
    nowMs: clock.nowMs,
    advance: (ms) => clock.set(clock.nowMs() + ms),
  });
  for (const [index, { status, answer }] of recording.steps.entries()) {
    const actualStep = playedSteps[index];
    expect([index, actualStep?.status]).toEqual([index, status]);
    // A release may add members to a response but must not remove any.
    expect(outline(actualStep?.answer)).toEqual(expect.arrayContaining(outline(answer)));
  }
  expect(playedSteps.at(-1)?.answer).toMatchObject({ state: 'earned' });
});

test('`verifyWebhook` accepts webhooks signed by the previous release', async () => {
  const { secret, headers, body } = recording.webhook;
  const now = () => Number(headers['service-timestamp']) * 1_000;
  const event = await verifyWebhook(body, headers, secret, { now });
  expect(event).toMatchObject({ type: 'decision.rewarded', data: { placement: 'revive' } });
});

test('processes that create a secret at the same time get the same one', async () => {
  const { service, config, clock } = game;
  const box = openSecretBox(config);
  const makers: ((secret: string) => void)[] = [];
  // Both have seen that there is no secret before either stores one.
  const make = () =>
    new Promise<string>((resolve) => {
      makers.push(resolve);
      if (makers.length === 2) makers.forEach((done, index) => done(`secret ${index}`));
    });
  const read = () => readServiceSecret(service.database, box, clock, 'test_of_releases', make);
  const secrets = await Promise.all([read(), read()]);
  expect([secrets[1], await read()]).toEqual([secrets[0], secrets[0]]);
});

/** Reads the key with which the service signs tokens. */
const readTokenKey = (): Promise<string> => {
  const { service, config, clock } = game;
  return readServiceSecret(service.database, openSecretBox(config), clock, 'decision_token');
};

test('an event with a token from a later release is deferred with 503', async () => {
  const { client, createEvent, decide } = game;
  const decision = await decide('later-release');
  const body = `9~${decision.id}`;
  const send = (mac: string) => {
    const events = [createEvent({ ...decision, token: `${body}.${mac}` }, 'start')];
    const sent_at = new Date(game.clock.nowMs()).toISOString();
    return client.call<Problem>('POST', '/v1/events', client.publishable, { sent_at, events });
  };
  const newerTokenResponse = await send(createMac(await readTokenKey())(body));
  expect([newerTokenResponse.status, newerTokenResponse.body.code]).toEqual([503, 'unavailable']);
  expect(newerTokenResponse.headers.get('retry-after')).toBe('5');
  const forgedTokenResponse = await send(createMac('another key')(body));
  expect(forgedTokenResponse.body).toMatchObject({
    results: [{ status: 'rejected', code: 'token_invalid' }],
  });
});
