import { createHash, randomBytes } from 'node:crypto';
import type { AuditEntry, Placement } from '@trueward/protocol/wire';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { createSessions } from '../../src/access/sessions.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import {
  createPanelClient,
  password,
  type PanelClient,
  signInAs,
  signInOwner,
} from './panel-client.ts';
import { ownRowsBy } from '../neighbor.ts';

const minuteMs = 60_000;

let runningService: InProcessService;
let owner: PanelClient;
const clock = createManualClock(Date.parse('2030-01-01T00:00:00Z'));
const advance = (ms: number) => clock.set(clock.nowMs() + ms);
beforeAll(async () => {
  // The tests act as a trusted proxy so that they can sign in from several IPs.
  runningService = await startInProcess(
    { RATE_LIMITS: 'off', TRUSTED_PROXIES: '127.0.0.1' },
    { clock },
  );
  owner = await signInOwner(runningService);
});
afterAll(() => runningService.stop());

const openBrowser = () => createPanelClient(runningService.url);
const createCookie = (token: string) => ({ cookie: `trueward_session=${token}` });
const summarize = ({ status, body }: { status: number; body?: { code?: string } }) => [
  status,
  body?.code,
];

test("the audit log names the session's user", async () => {
  const list = await owner.send<{ data: Placement[] }>('GET', '/v1/placements');
  expect([list.status, list.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const [placement] = list.body.data;
  await owner.send('PATCH', `/v1/placements/${placement?.id}`, { status: 'paused' });
  const entries = await owner.send<{ data: AuditEntry[] }>('GET', '/v1/audit-entries');
  expect(entries.body.data[0]).toMatchObject({
    actor: 'owner@example.com',
    action: 'placement.updated',
    target_id: placement?.id,
  });
});

test('the audit log has every change to a user', async () => {
  const person = { email: 'audited@example.com', name: 'Audited', role: 'viewer' };
  const { body } = await owner.send<{ id: string }>('POST', '/panel/api/users', person);
  const path = `/panel/api/users/${body.id}`;
  const responses = [
    await owner.send('PATCH', path, { role: 'operator' }),
    await owner.send('POST', `${path}/link`, {}),
    await owner.send('DELETE', path),
  ];
  expect(responses.map(({ status }) => status < 300)).toEqual([true, true, true]);
  const entries = await owner.send<{ data: AuditEntry[] }>(
    'GET',
    `/v1/audit-entries?target_id=${body.id}`,
    undefined,
    { 'trueward-environment': 'live' },
  );
  expect(entries.body.data.map(({ action }) => action).toSorted()).toEqual([
    'user.invited',
    'user.link_made',
    'user.removed',
    'user.updated',
  ]);
});

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
  const storedRows = await runningService.service.database.query<{ hash: string }>(
    'SELECT hash FROM sessions',
  );
  expect(storedRows.map(({ hash }) => hash)).not.toContain(value);
});

test('every session statement specifies the account, so it runs on a single shard', async () => {
  const { database } = runningService.service;
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
  const { database } = runningService.service;
  const viewer = await signInAs(runningService, owner, 'viewer');
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
  expect((await owner.send('GET', '/panel/api/session')).status).toBe(200);
});

test('a session token from an earlier release, which contains no account, is still valid', async () => {
  const token = randomBytes(32).toString('base64url');
  const now = new Date(clock.nowMs());
  await runningService.service.database.query(
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
  const { database } = runningService.service;
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
      await owner.send('POST', '/v1/kill-switches', {}, headers),
      await owner.send('DELETE', '/panel/api/session', undefined, headers),
    ];
    expect(responses.map(summarize)).toEqual([
      [403, 'csrf_failed'],
      [403, 'csrf_failed'],
    ]);
  }
  const crossOriginResponse = await owner.send('GET', '/v1/keys', undefined, {
    origin: 'https://evil.example',
  });
  expect(summarize(crossOriginResponse)).toEqual([403, 'csrf_failed']);
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

test('unknown e-mail addresses and wrong passwords get the same response', async () => {
  await signInAs(runningService, owner, 'viewer');
  const wrongPassword = { password: 'not the password' };
  const unknownResponse = await openBrowser().signIn('nobody@example.com', wrongPassword);
  const knownEmailResponse = await openBrowser().signIn('owner@example.com', wrongPassword);
  expect(summarize(knownEmailResponse)).toEqual([401, 'sign_in_failed']);
  expect({ ...unknownResponse.body, request_id: '' }).toEqual({
    ...knownEmailResponse.body,
    request_id: '',
  });

  await Promise.all(
    [2, 3, 4, 5].map(() => openBrowser().signIn('owner@example.com', wrongPassword)),
  );
  const lockedResponse = await openBrowser().signIn('OWNER@example.com ');
  expect(summarize(lockedResponse)).toEqual([429, 'rate_limited']);
  expect(lockedResponse.headers.get('retry-after')).toBe('30');
  advance(31_000);
  expect((await openBrowser().signIn('owner@example.com', wrongPassword)).status).toBe(401);
  const longerLockout = await openBrowser().signIn('owner@example.com');
  expect(longerLockout.headers.get('retry-after')).toBe('60');
  advance(61_000);
  expect((await openBrowser().signIn('owner@example.com')).status).toBe(200);
  expect((await openBrowser().signIn('owner@example.com', wrongPassword)).status).toBe(401);
});

const ownAttempts = ownRowsBy('subject');

/** Unlocks everybody. A process trusts a lock that it has read for five seconds. */
async function unlockAll(database: Database): Promise<void> {
  await database.query(`DELETE FROM sign_in_attempts WHERE ${ownAttempts}`);
  advance(5_000);
}

/** Signs in from the given IP. */
const signInFrom = (ip: string, email: string, secret = password, code?: string) =>
  openBrowser().send(
    'POST',
    '/panel/api/session',
    { email, password: secret, ...(code === undefined ? {} : { code }) },
    { 'x-forwarded-for': ip },
  );

test('failed sign-ins from one IP lock the user out only from that IP', async () => {
  const { database } = runningService.service;
  await unlockAll(database);
  const email = 'owner@example.com';
  for (let guess = 0; guess < 5; guess += 1) await signInFrom('192.0.2.66', email, 'a guess');
  const lockedResponse = await signInFrom('192.0.2.66', email);
  expect(summarize(lockedResponse)).toEqual([429, 'rate_limited']);
  expect(lockedResponse.body).toMatchObject({
    detail: 'Too many failed attempts: try again in 30 seconds.',
  });
  expect((await signInFrom('192.0.2.1', email)).status).toBe(200);

  // An IPv6 client controls its whole /64.
  for (let guess = 1; guess <= 5; guess += 1)
    await signInFrom(`2001:db8::${guess}`, email, 'a guess');
  expect((await signInFrom('2001:db8::6', email)).status).toBe(429);
});

test('failed sign-ins from many IPs throttle only unknown IPs', async () => {
  const { database } = runningService.service;
  await unlockAll(database);
  const email = 'owner@example.com';
  expect((await signInFrom('192.0.2.1', email)).status).toBe(200);
  await signInFrom('198.51.100.1', email, 'a guess');
  // Simulates failed sign-ins from 48 other IPs.
  await database.query(
    `UPDATE sign_in_attempts SET failures = 49 WHERE known_until IS NULL AND ${ownAttempts}`,
  );
  expect((await signInFrom('198.51.100.2', email, 'a guess')).status).toBe(401);
  const unknownIpResponse = await signInFrom('203.0.113.1', email, 'a guess');
  expect(summarize(unknownIpResponse)).toEqual([429, 'rate_limited']);
  expect(unknownIpResponse.headers.get('retry-after')).toBe('5');
  expect((await signInFrom('192.0.2.1', email)).status).toBe(200);
  await unlockAll(database);
});

test('an IP with failed sign-ins for many e-mail addresses is throttled', async () => {
  const { database } = runningService.service;
  await openBrowser().signIn('none@example.com', { password: 'guess' });
  await database.query(`UPDATE sign_in_attempts SET failures = 19 WHERE ${ownAttempts}`);
  await openBrowser().signIn('one@example.com', { password: 'guess' });
  const throttledResponse = await openBrowser().signIn('two@example.com', { password: 'guess' });
  expect(summarize(throttledResponse)).toEqual([429, 'rate_limited']);
  await unlockAll(database);
});

test('an IP that guesses costs four statements per guess, and none once it is locked', async () => {
  const { database } = runningService.service;
  const { query } = database;
  let statements = 0;
  database.query = (text, params) => {
    if (/sign_in_(?:attempts|names)/.test(text)) statements += 1;
    return query.call(database, text, params) as never;
  };
  for (let guess = 0; guess < 60; guess += 1)
    await signInFrom('198.51.100.77', `nobody-${guess}@example.com`, 'a guess');
  database.query = query;
  // Twenty guesses: the IP, the user at this IP, the user, and whether there is such a user. Then the lock is read once,
  // and it is checked whether the user is known at this IP.
  expect(statements).toBe(20 * 4 + 3);
  await unlockAll(database);
});

const signInWithPassword = async (email: string) => {
  const client = openBrowser();
  await client.signIn(email);
  return client;
};

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
  owner = await signInWithPassword('owner@example.com');
});

test('after two-factor enrollment, each sign-in requires a new one-time code', async () => {
  const client = await signInAs(runningService, owner, 'viewer');
  const { body: session } = await client.send<{ user: { email: string } }>(
    'GET',
    '/panel/api/session',
  );
  const { email } = session.user;
  const enrollment = await client.send<{ secret: string; otpauth_url: string }>(
    'POST',
    '/panel/api/account/codes',
  );
  expect(enrollment.body.otpauth_url).toMatch(/^otpauth:\/\/totp\/Trueward:/);
  const app = new TOTP({ secret: Secret.fromBase32(enrollment.body.secret) });
  const code = () => app.generate({ timestamp: clock.nowMs() });
  expect((await openBrowser().signIn(email)).status).toBe(200);
  const wrongCodeResponse = await client.send('POST', '/panel/api/account/codes/confirm', {
    code: '000000',
  });
  expect(summarize(wrongCodeResponse)).toEqual([422, 'invalid_request']);
  const validCodeResponse = await client.send('POST', '/panel/api/account/codes/confirm', {
    code: code(),
  });
  expect(validCodeResponse.status).toBe(204);

  expect(summarize(await openBrowser().signIn(email))).toEqual([401, 'code_required']);
  expect(summarize(await openBrowser().signIn(email, { code: code() }))).toEqual([
    401,
    'sign_in_failed',
  ]);
  advance(minuteMs);
  const validCode = code();
  const signInResponse = await openBrowser().signIn(email, { code: validCode });
  expect(signInResponse.body.user.code_enabled).toBe(true);
  expect(summarize(await openBrowser().signIn(email, { code: validCode }))).toEqual([
    401,
    'sign_in_failed',
  ]);

  const disableCodes = (body: object) => client.send('DELETE', '/panel/api/account/codes', body);
  expect(summarize(await disableCodes({ password: 'a guess' }))).toEqual([422, 'invalid_request']);
  expect((await disableCodes({ password })).status).toBe(204);
  expect((await openBrowser().signIn(email)).status).toBe(200);
  const [row] = await runningService.service.database.query<{ secret: string | null }>(
    'SELECT codes_secret AS secret FROM users WHERE email = $1',
    [email],
  );
  expect(row?.secret).toBeNull();
});

test('a sign-in without the required one-time code does not count as a failed attempt', async () => {
  const { database } = runningService.service;
  await unlockAll(database);
  const client = await signInAs(runningService, owner, 'viewer');
  const { body } = await client.send<{ user: { email: string } }>('GET', '/panel/api/session');
  const { email } = body.user;
  const enrollment = await client.send<{ secret: string }>('POST', '/panel/api/account/codes');
  const app = new TOTP({ secret: Secret.fromBase32(enrollment.body.secret) });
  const code = () => app.generate({ timestamp: clock.nowMs() });
  await client.send('POST', '/panel/api/account/codes/confirm', { code: code() });

  for (let failure = 0; failure < 4; failure += 1)
    expect((await signInFrom('192.0.2.9', email, 'a typo')).status).toBe(401);
  advance(minuteMs);
  for (let times = 0; times < 3; times += 1)
    expect(summarize(await signInFrom('192.0.2.9', email))).toEqual([401, 'code_required']);
  // A wrong code counts as a failed attempt. A missing code does not reset the failure count.
  expect((await signInFrom('192.0.2.9', email, password, '000000')).status).toBe(401);
  expect(summarize(await signInFrom('192.0.2.9', email))).toEqual([429, 'rate_limited']);
  advance(31_000);
  expect(summarize(await signInFrom('192.0.2.9', email))).toEqual([401, 'code_required']);
  expect((await signInFrom('192.0.2.9', email, password, code())).status).toBe(200);
});

test('changing the password requires the old password and ends all other sessions', async () => {
  const client = await signInAs(runningService, owner, 'operator');
  const { body } = await client.send<{ user: { email: string } }>('GET', '/panel/api/session');
  const otherSession = await signInWithPassword(body.user.email);
  const change = (currentPassword: string, newPassword: string) =>
    client.send('POST', '/panel/api/account/password', {
      current: currentPassword,
      next: newPassword,
    });
  expect(summarize(await change('a guess', 'another long password'))).toEqual([
    422,
    'invalid_request',
  ]);
  expect(summarize(await change(password, 'short'))).toEqual([422, 'invalid_request']);
  expect((await change(password, 'another long password')).status).toBe(200);
  expect((await otherSession.send('GET', '/panel/api/session')).status).toBe(401);
  expect((await client.send('GET', '/panel/api/session')).status).toBe(200);
  expect((await openBrowser().signIn(body.user.email)).status).toBe(401);
});

test('changes to users apply immediately, and the last owner cannot be removed', async () => {
  const secondOwner = await signInAs(runningService, owner, 'owner');
  const patch = (id: string, body: object, headers = {}) =>
    owner.send('PATCH', `/panel/api/users/${id}`, body, headers);
  expect((await patch(secondOwner.id, { role: 'viewer' }, { 'if-match': '"99"' })).status).toBe(
    412,
  );
  expect((await patch(secondOwner.id, { role: 'viewer' })).status).toBe(200);
  expect(summarize(await secondOwner.send('GET', '/panel/api/users'))).toEqual([
    403,
    'role_not_permitted',
  ]);
  const { body } = await owner.send<{ user: { id: string } }>('GET', '/panel/api/session');
  expect(summarize(await patch(body.user.id, { role: 'viewer' }))).toEqual([409, 'conflict']);
  const remove = (id: string) => owner.send('DELETE', `/panel/api/users/${id}`);
  expect(summarize(await remove(body.user.id))).toEqual([409, 'conflict']);
  expect((await remove(secondOwner.id)).status).toBe(204);
  expect((await secondOwner.send('GET', '/panel/api/session')).status).toBe(401);
});
