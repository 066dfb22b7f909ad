import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSingleSignOn } from '../../src/access/single-sign-on.ts';
import { insertUser } from '../../src/access/user.ts';
import { checkSingleSignOn } from '../../src/program/cli/doctor-machine.ts';
import { addAccount } from '../add-account.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../openid-provider.ts';
import { signInOwner } from './panel-client.ts';

let provider: OpenIdProvider;
let running: InProcessService;
beforeAll(async () => {
  provider = await startOpenIdProvider();
  running = await startInProcess({
    RATE_LIMITS: 'off',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: 'Studio ID',
  });
  await signInOwner(running);
});
afterAll(async () => {
  await running.stop();
  provider.stop();
});
beforeEach(() => {
  provider.person = { email: 'owner@example.com', isVerified: true };
});

/** A browser that follows redirects and keeps cookies, which it sends to the origin that set them. */
function openBrowser() {
  const cookies = new Map<string, Map<string, string>>();
  const visited: string[] = [];
  async function load(url: string, headers: Record<string, string> = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = cookies.get(origin) ?? new Map<string, string>();
    cookies.set(origin, jar);
    visited.push(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: {
        ...headers,
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }
  return {
    cookies,
    visited,
    load,
    /** Opens a page and follows redirects. Returns the page of the panel at which they end. */
    async follow(start: string): Promise<string> {
      let url = start;
      for (let hops = 0; hops < 20; hops += 1) {
        const response = await load(url);
        const location = response.headers.get('location');
        if (location === null)
          throw new Error(`${url}: ${response.status} ${await response.text()}`);
        url = new URL(location, url).href;
        const panel = `${running.url}/panel/#`;
        if (url.startsWith(panel)) return url.slice(panel.length);
      }
      throw new Error(`Too many redirects: ${visited.join('\n')}`);
    },
    /** Who is signed in, according to the service. */
    async readUser(): Promise<string> {
      const response = await load(`${running.url}/panel/api/session`);
      const body = (await response.json()) as { user?: { email: string }; code?: string };
      return body.user?.email ?? body.code ?? '';
    },
  };
}

const start = (query: Record<string, string> = {}) =>
  `${running.url}/panel/api/single-sign-on/start?${new URLSearchParams(query)}`;

/** Signs in at the provider. Returns the panel's page that is shown at the end, and who is signed in. */
async function signIn(query: Record<string, string> = {}): Promise<[string, string]> {
  const browser = openBrowser();
  return [await browser.follow(start(query)), await browser.readUser()];
}

test('a user signs in at the provider and comes back to the page', async () => {
  const response = await fetch(`${running.url}/panel/api/single-sign-on`);
  expect(await response.json()).toEqual({ provider: { name: 'Studio ID' } });
  // Players' ids have any printable characters.
  for (const page of ['/house-ads?filter=%7B%7D', "/decisions?player=a+b*~!'()"])
    expect(await signIn({ page })).toEqual([page, 'owner@example.com']);
});

test.each([
  [
    'nobody here has the address',
    { email: 'stranger@example.com', isVerified: true },
    'unknown_user',
  ],
  [
    'the address is not verified',
    { email: 'owner@example.com', isVerified: false },
    'unverified_email',
  ],
  ['the provider does not tell', { email: 'owner@example.com' }, 'unverified_email'],
  ['the person gives up', { email: 'owner@example.com', cancels: true }, 'cancelled'],
])('nobody is signed in if %s', async (_name, person, reason) => {
  provider.person = person;
  const [page, user] = await signIn();
  expect([new URLSearchParams(page.split('?')[1]).get('reason'), user]).toEqual([
    reason,
    'authentication_required',
  ]);
});

test.each([
  ['which a provider does not tell', undefined, true],
  ['which it confirms', true, true],
  ['which it denies', false, false],
])('if every address is trusted, one of %s is', async (_name, isVerified, isTrusted) => {
  provider.person = { email: 'owner@example.com', isVerified };
  const signOn = createSingleSignOn({
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    name: 'Any',
    assumesVerifiedEmail: true,
  });
  const redirectUrl = `${running.url}/panel/api/single-sign-on/callback`;
  const { url, pending } = await signOn.begin({ redirectUrl, isFresh: false });
  const browser = openBrowser();
  // The service has not begun this sign-in, so it refuses what the provider sends back, and the code is still unused.
  expect(await browser.follow(url.href)).toBe('/login?reason=expired');
  const returned = browser.visited.find((visited) => visited.startsWith(redirectUrl)) ?? '';
  const result = signOn.finish(new URL(returned), pending);
  await (isTrusted
    ? expect(result).resolves.toMatchObject({ email: 'owner@example.com' })
    : expect(result).rejects.toMatchObject({ reason: 'unverified_email' }));
});

test('a page of another site, and pages outside the panel, are refused', async () => {
  for (const page of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a"><b>', '']) {
    const response = await fetch(start({ page }));
    expect([page, response.status]).toEqual([page, 422]);
  }
  const response = await fetch(start(), {
    headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    redirect: 'manual',
  });
  expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
});

test.each(['//evil.example', 'https://evil.example', '/\\evil.example', '/a"><b>', 7])(
  'a cookie that names the page %j leads to the first page of the panel',
  async (page) => {
    const browser = openBrowser();
    const response = await browser.load(start());
    const jar = browser.cookies.get(running.url);
    const text = Buffer.from(jar?.get('trueward_sign_in') ?? '', 'base64url').toString();
    const kept = { ...(JSON.parse(text) as object), page };
    jar?.set('trueward_sign_in', Buffer.from(JSON.stringify(kept)).toString('base64url'));
    expect(await browser.follow(response.headers.get('location') ?? '')).toBe('/');
  },
);

/** Signs in up to the provider's redirect back, and returns its URL. */
async function startSignIn(): Promise<{
  browser: ReturnType<typeof openBrowser>;
  callback: string;
}> {
  const browser = openBrowser();
  await browser.follow(start());
  const callback = browser.visited.find((url) => url.includes('/callback?')) ?? '';
  return { browser, callback };
}

test('a returned URL signs in the browser that started, once', async () => {
  const { browser, callback } = await startSignIn();
  expect(callback).not.toBe('');
  // Again in the same browser, in another one, and in one that waits for a sign-in of its own.
  expect(await browser.follow(callback)).toBe('/login?reason=expired');
  const other = openBrowser();
  expect(await other.follow(callback)).toBe('/login?reason=expired');
  await other.load(start());
  expect(await other.follow(callback)).toBe('/login?reason=expired');
  expect(await other.readUser()).toBe('authentication_required');
});

test('of two tabs in which a sign-in begins, the later one signs in', async () => {
  const browser = openBrowser();
  const [first, second] = [await browser.load(start()), await browser.load(start())];
  const [firstUrl = '', secondUrl = ''] = [first, second].map(
    ({ headers }) => headers.get('location') ?? '',
  );
  expect(await browser.follow(firstUrl)).toBe('/login?reason=expired');
  expect(await browser.follow(secondUrl)).toBe('/');
  expect(await browser.readUser()).toBe('owner@example.com');
});

test.each([
  ['nothing', ''],
  ['no JSON', 'bm90aGluZw'],
  ['null', Buffer.from('null').toString('base64url')],
  ['foreign types', Buffer.from('{"state":1,"nonce":{},"verifier":[]}').toString('base64url')],
  ['a lot', 'A'.repeat(3_000)],
])('a cookie with %s starts nothing', async (_name, cookie) => {
  const { callback } = await startSignIn();
  const response = await fetch(callback, {
    redirect: 'manual',
    headers: { cookie: `trueward_sign_in=${cookie}` },
  });
  expect(response.headers.get('location')).toBe(`${running.url}/panel/#/login?reason=expired`);
});

test('an invitation is accepted by signing in, and the user counts as an owner', async () => {
  const { database, makeId } = running.service;
  const accountId = makeId('account');
  await addAccount(database, accountId);
  const ids = [makeId('user'), makeId('user')];
  for (const [index, name] of ['invited', 'helper'].entries()) {
    const user = { accountId, id: ids[index] ?? '', email: `${name}@example.com`, name };
    await insertUser(database, { ...user, role: 'owner', password: null, createdAtMs: 0 });
  }
  provider.person = { email: ' Invited@Example.com', isVerified: true };
  const browser = openBrowser();
  await browser.follow(start());
  expect(await browser.readUser()).toBe('invited@example.com');
  const rows = await database.query<{ id: string; isIn: boolean }>(
    'SELECT id, last_sign_in_at IS NOT NULL AS "isIn" FROM users WHERE account_id = $1 ORDER BY email',
    [accountId],
  );
  expect(rows.filter(({ isIn }) => isIn).map(({ id }) => id)).toEqual([ids[0]]);
});

test('a person with several accounts chooses one of them', async () => {
  const { database, makeId } = running.service;
  const accountIds = [makeId('account'), makeId('account')];
  for (const accountId of accountIds) {
    await addAccount(database, accountId);
    const user = { accountId, id: makeId('user'), email: 'both@example.com', name: 'Both' };
    await insertUser(database, { ...user, role: 'owner', password: null, createdAtMs: 0 });
  }
  provider.person = { email: 'both@example.com', isVerified: true };
  const [page, user] = await signIn({ page: '/keys' });
  const parameters = new URLSearchParams(page.split('?')[1]);
  expect([parameters.get('reason'), parameters.get('page'), user]).toEqual([
    'account_required',
    '/keys',
    'authentication_required',
  ]);
  const offered = parameters.get('accounts')?.split(',') ?? [];
  expect(offered.toSorted()).toEqual(accountIds.toSorted());
  expect(await signIn({ account: offered[1] ?? '' })).toEqual(['/', 'both@example.com']);
});

test('dangerous changes need credentials that were entered at the provider a short time ago', async () => {
  const invite = async (browser: ReturnType<typeof openBrowser>) => {
    const session = await browser.load(`${running.url}/panel/api/session`);
    const { csrf_token: csrf } = (await session.json()) as { csrf_token: string };
    const jar = browser.cookies.get(running.url);
    const response = await fetch(`${running.url}/panel/api/users`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: running.url,
        'trueward-csrf': csrf,
        cookie: [...(jar ?? [])].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      body: JSON.stringify({ email: `${Math.random()}@example.com`, name: 'New', role: 'viewer' }),
    });
    return ((await response.json()) as { code?: string }).code ?? response.status;
  };
  const browser = openBrowser();
  await browser.follow(start());
  // The provider didn't say when credentials were entered.
  expect(await invite(browser)).toBe('confirmation_required');
  await browser.follow(start({ fresh: 'true', page: '/users' }));
  expect(await invite(browser)).toBe(201);
});

test('credentials count as entered when the provider says, and never later than now', async () => {
  const { signIn: signOn, sessions } = running.service.users;
  const nowMs = Date.now();
  const readConfirmation = async (authenticatedAtMs: number | undefined) => {
    const identity = { email: 'owner@example.com', authenticatedAtMs, ip: '192.0.2.1' };
    const result = await signOn.bySingleSignOn(identity);
    const token = 'sessionToken' in result ? result.sessionToken : '';
    return (await sessions.find(token))?.confirmedAtMs;
  };
  expect(await readConfirmation(undefined)).toBe(0);
  expect(await readConfirmation(nowMs - 60_000)).toBe(nowMs - 60_000);
  expect(await readConfirmation(nowMs + 86_400_000)).toBeLessThan(nowMs + 43_200_000);
});

test('a provider that is down is named as the cause, and is tried again', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const settings = {
    issuer: `http://127.0.0.1:${port}`,
    clientId: 'trueward',
    clientSecret: undefined,
    name: 'Down',
    assumesVerifiedEmail: false,
  };
  const signOn = createSingleSignOn(settings);
  const [finding] = await checkSingleSignOn({
    singleSignOn: settings,
  });
  expect(finding).toMatchObject({ state: 'fail', text: expect.stringContaining('OIDC_ISSUER') });
  expect(await checkSingleSignOn(running.config)).toMatchObject([{ state: 'ok' }]);
  expect(await checkSingleSignOn({})).toEqual([]);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const beginning = signOn.begin({ redirectUrl: 'http://127.0.0.1/', isFresh: false });
    await expect(beginning).rejects.toMatchObject({ reason: 'provider_failed' });
  }
});
