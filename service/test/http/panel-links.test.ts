import { createHash, randomBytes } from 'node:crypto';
import type { Problem } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { password } from './panel-client.ts';
import { PanelSetup } from './panel-setup.ts';

const dayMs = 24 * 60 * 60_000;

const panel = new PanelSetup();
const { clock, openBrowser } = panel;
const parseToken = (inviteUrl: string) => new URL(inviteUrl).hash.replace('#/setup?token=', '');
const invite = async (email: string, role = 'viewer') => {
  const { body } = await panel.owner.send<{ id: string; invite_url: string }>(
    'POST',
    '/panel/api/users',
    { email, name: 'N', role },
  );
  return { id: body.id, token: parseToken(body.invite_url) };
};

test('an e-mail address that a user has, however it is written, is refused for another', async () => {
  const user = { email: 'taken@example.com', name: 'N', role: 'viewer' };
  expect((await panel.owner.send('POST', '/panel/api/users', user)).status).toBe(201);
  for (const email of ['taken@example.com', 'Taken@Example.COM', 'owner@example.com']) {
    const { status, body } = await panel.owner.send<Problem>('POST', '/panel/api/users', {
      ...user,
      email,
    });
    expect([email, status, body.errors]).toEqual([
      email,
      409,
      [{ pointer: '/email', message: 'is taken' }],
    ]);
  }
});

test('a setup link from an earlier release, whose token contains no account, works once', async () => {
  const { id } = await invite('early@example.com');
  const token = randomBytes(32).toString('base64url');
  await panel.database.query('UPDATE user_links SET hash = $1 WHERE user_id = $2', [
    createHash('sha256').update(token).digest('hex'),
    id,
  ]);
  const setUp = () =>
    openBrowser().send('POST', '/panel/api/setup', {
      token,
      email: 'early@example.com',
      name: 'Early',
      password,
    });
  expect((await setUp()).status).toBe(200);
  expect((await setUp()).status).toBe(404);
});

test('an invitation link is single-use, expires after a day and works only for its e-mail address', async () => {
  const { token } = await invite('link@example.com');
  const setup = await openBrowser().send('GET', `/panel/api/setup?token=${token}`);
  expect(setup.body).toEqual({ email: 'link@example.com', name: 'N', role: 'viewer' });
  expect((await openBrowser().signIn('link@example.com')).status).toBe(401);
  expect((await openBrowser().setUp(token, 'other@example.com')).status).toBe(422);
  expect((await openBrowser().setUp(token, 'Link@Example.com')).status).toBe(200);
  expect((await openBrowser().setUp(token, 'link@example.com')).status).toBe(404);

  const lateInvitation = await invite('late@example.com');
  clock.advance(dayMs);
  expect((await openBrowser().setUp(lateInvitation.token, 'late@example.com')).status).toBe(404);
  expect(
    (await openBrowser().send('GET', `/panel/api/setup?token=${lateInvitation.token}`)).status,
  ).toBe(404);
  // The owner's session has expired too.
  await panel.owner.signIn('owner@example.com');
});

test.each([
  ['aaaaaaaaaaaa', 'repeats itself'],
  ['passwordpassword', 'repeats itself'],
  ['password123456', 'similar to a common password'],
  ['qwertyuiopasdf', 'similar to a common password'],
  ['weak@example.com', 'contains your e-mail address or name'],
])('the password %s is rejected with “%s”', async (weakPassword, reason) => {
  const { body: users } = await panel.owner.send<{ data: { id: string; email: string }[] }>(
    'GET',
    '/panel/api/users?limit=100',
  );
  const existingUser = users.data.find(({ email }) => email === 'weak@example.com');
  const token = existingUser
    ? parseToken(
        (
          await panel.owner.send<{ invite_url: string }>(
            'POST',
            `/panel/api/users/${existingUser.id}/link`,
          )
        ).body.invite_url,
      )
    : (await invite('weak@example.com')).token;
  const setupResponse = await openBrowser().send('POST', '/panel/api/setup', {
    token,
    email: 'weak@example.com',
    name: 'N',
    password: weakPassword,
  });
  const changeResponse = await panel.owner.send('POST', '/panel/api/account/password', {
    current: password,
    next: weakPassword.replace('weak@', 'owner@'),
  });
  expect([setupResponse.status, changeResponse.status]).toEqual([422, 422]);
  expect(setupResponse.body.errors?.[0]).toMatchObject({
    pointer: '/password',
    message: expect.stringContaining(reason) as string,
  });
  expect(changeResponse.body.errors?.[0]?.pointer).toBe('/next');
});

test('a first-owner link cannot create a second owner', async () => {
  expect(await panel.runningService.service.users.links.makeForFirstOwner()).toBeUndefined();
});
