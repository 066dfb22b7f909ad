import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { createPanelClient, password, type PanelClient, signInOwner } from './panel-client.ts';

const dayMs = 24 * 60 * 60_000;

let runningService: InProcessService;
let owner: PanelClient;
const clock = createManualClock(Date.parse('2030-01-01T00:00:00Z'));
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  owner = await signInOwner(runningService);
});
afterAll(() => runningService.stop());

const openBrowser = () => createPanelClient(runningService.url);
const parseToken = (inviteUrl: string) => new URL(inviteUrl).hash.replace('#/setup?token=', '');
const invite = async (email: string, role = 'viewer') => {
  const { body } = await owner.send<{ id: string; invite_url: string }>(
    'POST',
    '/panel/api/users',
    { email, name: 'N', role },
  );
  return { id: body.id, token: parseToken(body.invite_url) };
};

test('a setup link from an earlier release, whose token contains no account, works once', async () => {
  const { id } = await invite('early@example.com');
  const token = randomBytes(32).toString('base64url');
  await runningService.service.database.query(
    'UPDATE user_links SET hash = $1 WHERE user_id = $2',
    [createHash('sha256').update(token).digest('hex'), id],
  );
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
  clock.set(clock.nowMs() + dayMs);
  expect((await openBrowser().setUp(lateInvitation.token, 'late@example.com')).status).toBe(404);
  expect(
    (await openBrowser().send('GET', `/panel/api/setup?token=${lateInvitation.token}`)).status,
  ).toBe(404);
  // The owner's session has expired too.
  await owner.signIn('owner@example.com');
});

test.each([
  ['aaaaaaaaaaaa', 'repeats itself'],
  ['passwordpassword', 'repeats itself'],
  ['password123456', 'similar to a common password'],
  ['qwertyuiopasdf', 'similar to a common password'],
  ['weak@example.com', 'contains your e-mail address or name'],
])('the password %s is rejected with “%s”', async (weakPassword, reason) => {
  const { body: users } = await owner.send<{ data: { id: string; email: string }[] }>(
    'GET',
    '/panel/api/users?limit=100',
  );
  const existingUser = users.data.find(({ email }) => email === 'weak@example.com');
  const token = existingUser
    ? parseToken(
        (
          await owner.send<{ invite_url: string }>(
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
  const changeResponse = await owner.send('POST', '/panel/api/account/password', {
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
  expect(await runningService.service.users.links.makeForFirstOwner()).toBeUndefined();
});
