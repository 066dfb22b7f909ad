import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { createSessions } from '../../src/access/sessions.ts';
import { password } from './panel-client.ts';
import { PanelSetup, summarize } from './panel-setup.ts';

const minuteMs = 60_000;

const panel = new PanelSetup();
const { clock, openBrowser, signInAs } = panel;
const { advance } = clock;
const signInWithPassword = async (email: string) => {
  const client = openBrowser();
  await client.signIn(email);
  return client;
};
const createCookie = (token: string) => ({ cookie: `trueward_session=${token}` });

test('the session cookie is HttpOnly and same-site, and only its hash is stored', async () => {
  const { headers } = await openBrowser().signIn('owner@example.com');
  const [name, value, ...attributes] = (headers.getSetCookie()[0] ?? '').split(/[=;]\s?/);
  expect(name).toBe('trueward_session');
  const [accountId, random] = (value ?? '').split('.');
  expect(accountId).toMatch(/^acc_/);
  expect(Buffer.from(random ?? '', 'base64url')).toHaveLength(32);
  expect(attributes).toEqual(
    expect.arrayContaining(['HttpOnly', 'SameSite', 'Strict', 'Path', '/', 'Expires']),
  );
  const storedRows = await panel.database.query<{ hash: string }>('SELECT hash FROM sessions');
  expect(storedRows.map(({ hash }) => hash)).not.toContain(value);
});

test('every session statement specifies the account, so it runs on a single shard', async () => {
  const { database } = panel;
  const statements: string[] = [];
  const recordingDatabase: Database = {
    ...database,
    query: (text, params) => {
      statements.push(text);
      return database.query(text, params);
    },
  };
  const [user] = await database.query<{ accountId: string; id: string }>(
    `SELECT account_id AS "accountId", id FROM users WHERE email = 'owner@example.com'`,
  );
  if (!user) throw new Error('The owner is missing.');
  const sessions = createSessions(recordingDatabase, clock);
  const token = await sessions.begin(recordingDatabase, user);
  expect(await sessions.find(token)).toMatchObject({ user: { email: 'owner@example.com' } });
  expect(await sessions.find(token.replace('acc_', 'acc_x'))).toBeUndefined();
  await sessions.end(recordingDatabase, token);
  expect(await sessions.find(token)).toBeUndefined();
  const unscopedStatements = statements.filter(
    (text) => !/account_id = \$|INTO sessions/.test(text),
  );
  expect([statements.length, unscopedStatements]).toEqual([6, []]);
});

test('a further sign-in ends the session that was used least recently', async () => {
  const { database } = panel;
  const viewer = await signInAs('viewer');
  const [user] = await database.query<{ accountId: string; id: string }>(
    'SELECT account_id AS "accountId", id FROM users WHERE id = $1',
    [viewer.id],
  );
  if (!user) throw new Error('The viewer is missing.');
  const sessions = createSessions(database, clock);
  const tokens: string[] = [];
  for (let index = 0; index < 50; index += 1) {
    advance(1_000);
    tokens.push(await sessions.begin(database, user));
  }
  // The session of the first sign-in has ended. The next one is used again.
  expect((await viewer.send('GET', '/panel/api/session')).status).toBe(401);
  advance(2 * minuteMs);
  expect(await sessions.find(tokens[0] ?? '')).toBeDefined();
  await sessions.begin(database, user);
  const found = await Promise.all(tokens.map((token) => sessions.find(token, { touch: false })));
  expect(found.flatMap((session, index) => (session ? [] : [index]))).toEqual([1]);
  expect((await panel.owner.send('GET', '/panel/api/session')).status).toBe(200);
});

test('a session token from an earlier release, which contains no account, is still valid', async () => {
  const token = randomBytes(32).toString('base64url');
  const now = new Date(clock.nowMs());
  await panel.database.query(
    `INSERT INTO sessions (account_id, hash, user_id, seen_at, expires_at, confirmed_at)
      SELECT account_id, $1, id, $2, $3, $2 FROM users WHERE email = 'owner@example.com'`,
    [createHash('sha256').update(token).digest('hex'), now, new Date(clock.nowMs() + minuteMs)],
  );
  const readSession = () =>
    openBrowser().send('GET', '/panel/api/session', undefined, createCookie(token));
  expect(await readSession()).toMatchObject({
    status: 200,
    body: { user: { email: 'owner@example.com' } },
  });
  const { database } = panel;
  await createSessions(database, clock).end(database, token);
  expect((await readSession()).status).toBe(401);
});

test('a sign-in replaces the session in the cookie, which prevents session fixation', async () => {
  const attackerBrowser = openBrowser();
  await attackerBrowser.signIn('owner@example.com');
  const victimBrowser = openBrowser();
  const response = await victimBrowser.send(
    'POST',
    '/panel/api/session',
    { email: 'owner@example.com', password },
    { cookie: attackerBrowser.cookie() },
  );
  expect(response.status).toBe(200);
  expect(victimBrowser.cookie()).not.toBe(attackerBrowser.cookie());
  expect((await attackerBrowser.send('GET', '/panel/api/session')).status).toBe(401);
  const unknownSession = await openBrowser().send('GET', '/panel/api/session', undefined, {
    cookie: 'trueward_session=an-invented-one',
  });
  expect(summarize(unknownSession)).toEqual([401, 'authentication_required']);
});

test('a request with a key is not let in by the session beside it', async () => {
  expect((await panel.owner.send('GET', '/v1/keys')).status).toBe(200);
  for (const authorization of ['Bearer nobody', 'Basic b3duZXI6b3duZXI=', '']) {
    const { status } = await panel.owner.send('GET', '/v1/keys', undefined, { authorization });
    expect([authorization, status]).toEqual([authorization, 401]);
  }
});

test("changes require the session's CSRF token and the same origin", async () => {
  const otherBrowser = openBrowser();
  await otherBrowser.signIn('owner@example.com');
  for (const headers of [
    { 'trueward-csrf': undefined },
    { 'trueward-csrf': otherBrowser.csrf() },
    { origin: undefined },
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    const responses = [
      await panel.owner.send('POST', '/v1/kill-switches', {}, headers),
      await panel.owner.send('DELETE', '/panel/api/session', undefined, headers),
    ];
    expect(responses.map(summarize)).toEqual([
      [403, 'csrf_failed'],
      [403, 'csrf_failed'],
    ]);
  }
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    const response = await panel.owner.send('GET', '/v1/keys', undefined, headers);
    expect(summarize(response), JSON.stringify(headers)).toEqual([403, 'csrf_failed']);
  }
  const signInResponse = await openBrowser().send(
    'POST',
    '/panel/api/session',
    { email: 'owner@example.com', password },
    { origin: 'https://evil.example' },
  );
  expect(summarize(signInResponse)).toEqual([403, 'csrf_failed']);
});

test('signing out ends the session on the server', async () => {
  const client = openBrowser();
  await client.signIn('owner@example.com');
  const cookie = client.cookie();
  expect((await client.send('DELETE', '/panel/api/session')).status).toBe(204);
  expect(client.cookie()).toBe('trueward_session=');
  const response = await client.send('GET', '/panel/api/session', undefined, { cookie });
  expect(summarize(response)).toEqual([401, 'authentication_required']);
});

test('the cookie expires after the maximum session duration', async () => {
  const { headers } = await openBrowser().signIn('owner@example.com');
  const expires = /Expires=([^;]+)/.exec(headers.getSetCookie()[0] ?? '')?.[1] ?? '';
  expect(Date.parse(expires)).toBe(clock.nowMs() + 12 * 60 * minuteMs);
});

test('a session ends after two hours of inactivity or twelve hours in total', async () => {
  const client = await signInWithPassword('owner@example.com');
  advance(119 * minuteMs);
  expect((await client.send('GET', '/panel/api/session')).status).toBe(200);
  advance(121 * minuteMs);
  expect((await client.send('GET', '/panel/api/session')).status).toBe(401);
  const activeClient = await signInWithPassword('owner@example.com');
  for (let hour = 1; hour < 12; hour += 1) {
    advance(60 * minuteMs);
    expect((await activeClient.send('GET', '/v1/placements')).status).toBe(200);
  }
  advance(60 * minuteMs);
  expect((await activeClient.send('GET', '/v1/placements')).status).toBe(401);
  panel.owner = await signInWithPassword('owner@example.com');
});
