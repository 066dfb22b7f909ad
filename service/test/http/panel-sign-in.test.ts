import { Secret, TOTP } from 'otpauth';
import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { ownRowsBy } from '../neighbor.ts';
import { password } from './panel-client.ts';
import { PanelSetup, summarize } from './panel-setup.ts';

const minuteMs = 60_000;

// The tests act as a trusted proxy so that they can sign in from several IPs.
const panel = new PanelSetup({ TRUSTED_PROXIES: '127.0.0.1' });
const { clock, openBrowser, signInAs } = panel;
const { advance } = clock;

test('unknown e-mail addresses and wrong passwords get the same response', async () => {
  await signInAs('viewer');
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
  const { database } = panel;
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
  const { database } = panel;
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

test('a session that guesses the password is locked out of all that needs it', async () => {
  await unlockAll(panel.database);
  const client = await signInAs('viewer');
  const confirm = (secret: string) =>
    client.send('POST', '/panel/api/session/confirmation', { password: secret });
  for (let guess = 0; guess < 5; guess += 1)
    expect(summarize(await confirm('a guess'))).toEqual([422, 'invalid_request']);
  const next = 'purple elephant drinks tea';
  for (const response of [
    await confirm(password),
    await client.send('POST', '/panel/api/account/password', { current: password, next }),
    await client.send('DELETE', '/panel/api/account/codes', { password }),
  ])
    expect(summarize(response)).toEqual([429, 'rate_limited']);
  advance(31_000);
  expect((await confirm(password)).status).toBe(204);
});

test('an IP with failed sign-ins for many e-mail addresses is throttled', async () => {
  const { database } = panel;
  await openBrowser().signIn('none@example.com', { password: 'guess' });
  await database.query(`UPDATE sign_in_attempts SET failures = 19 WHERE ${ownAttempts}`);
  await openBrowser().signIn('one@example.com', { password: 'guess' });
  const throttledResponse = await openBrowser().signIn('two@example.com', { password: 'guess' });
  expect(summarize(throttledResponse)).toEqual([429, 'rate_limited']);
  await unlockAll(database);
});

test('an IP that guesses costs four statements per guess, and none once it is locked', async () => {
  const { database } = panel;
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

test('after two-factor enrollment, each sign-in requires a new one-time code', async () => {
  const client = await signInAs('viewer');
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
  advance(2 * minuteMs);
  // The clock of a phone may be off by one step of half a minute, not by two.
  const codeOff = (steps: number) =>
    app.generate({ timestamp: clock.nowMs() + (steps * minuteMs) / 2 });
  for (const steps of [-2, 2])
    expect(summarize(await openBrowser().signIn(email, { code: codeOff(steps) }))).toEqual([
      401,
      'sign_in_failed',
    ]);
  expect((await openBrowser().signIn(email, { code: codeOff(-1) })).status).toBe(200);
  const validCode = code();
  const signInResponse = await openBrowser().signIn(email, { code: validCode });
  expect(signInResponse.body.user.code_enabled).toBe(true);
  expect(summarize(await openBrowser().signIn(email, { code: validCode }))).toEqual([
    401,
    'sign_in_failed',
  ]);

  // The code of a phone whose clock is ahead can't be used again when its time has come.
  const nextCode = codeOff(1);
  expect((await openBrowser().signIn(email, { code: nextCode })).status).toBe(200);
  advance(minuteMs / 2);
  expect(summarize(await openBrowser().signIn(email, { code: nextCode }))).toEqual([
    401,
    'sign_in_failed',
  ]);

  // A session that wants to use a power needs a new code too.
  const confirm = (more: object) =>
    client.send('POST', '/panel/api/session/confirmation', { password, ...more });
  expect(summarize(await confirm({}))).toEqual([403, 'confirmation_required']);
  expect(summarize(await confirm({ code: '000000' }))).toEqual([422, 'invalid_request']);
  expect(summarize(await confirm({ code: validCode }))).toEqual([422, 'invalid_request']);
  advance(minuteMs);
  expect((await confirm({ code: code() })).status).toBe(204);

  const disableCodes = (body: object) => client.send('DELETE', '/panel/api/account/codes', body);
  expect(summarize(await disableCodes({ password: 'a guess' }))).toEqual([422, 'invalid_request']);
  expect((await disableCodes({ password })).status).toBe(204);
  expect((await openBrowser().signIn(email)).status).toBe(200);
  const [row] = await panel.database.query<{ secret: string | null }>(
    'SELECT codes_secret AS secret FROM users WHERE email = $1',
    [email],
  );
  expect(row?.secret).toBeNull();
});

test('a sign-in without the required one-time code does not count as a failed attempt', async () => {
  const { database } = panel;
  await unlockAll(database);
  const client = await signInAs('viewer');
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
