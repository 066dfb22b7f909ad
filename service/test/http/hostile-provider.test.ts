import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSingleSignOn } from '../../src/access/single-sign-on.ts';

// What an OpenID provider may answer that a real one in a test never does.

interface Answers {
  metadata: object;
  claims: object;
  userInfo: object;
  header: object;
  /** Answers the request for tokens. */
  onToken?(response: ServerResponse): void;
  /** Answers the request for the provider's endpoints. */
  onDiscovery?(response: ServerResponse): void;
}

let answers: Answers;
let server: Server;
let issuer: string;
let nonce: string;
beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    if (url.startsWith('/.well-known/')) {
      if (answers.onDiscovery) return answers.onDiscovery(response);
      return send(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/me`,
        ...answers.metadata,
      });
    }
    if (url === '/me') return send(response, { sub: 'person', ...answers.userInfo });
    if (answers.onToken) return answers.onToken(response);
    const token = [
      { alg: 'RS256', ...answers.header },
      { ...createClaims(), ...answers.claims },
      {},
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return send(response, { access_token: 'access', token_type: 'bearer', id_token: token });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const nowS = () => Math.floor(Date.now() / 1_000);
const createClaims = () => ({
  iss: issuer,
  aud: 'trueward',
  sub: 'person',
  iat: nowS(),
  exp: nowS() + 300,
  nonce,
  email: 'owner@example.com',
  email_verified: true,
});

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const createSignOn = () =>
  createSingleSignOn({
    issuer,
    clientId: 'trueward',
    clientSecret: 'secret',
    name: 'Hostile',
    assumesVerifiedEmail: false,
  });

/** Signs in, from the start to the end. Resolves to the e-mail address, or to why nobody is signed in. */
async function signIn(
  given: Partial<Answers>,
  back: (state: string) => string = returnCode,
  signOn = createSignOn(),
) {
  answers = { metadata: {}, claims: {}, userInfo: {}, header: {}, ...given };
  const redirectUrl = 'http://127.0.0.1/callback';
  try {
    const { pending } = await signOn.begin({ redirectUrl, isFresh: false });
    nonce = pending.nonce;
    const returned = new URL(`${redirectUrl}?${back(pending.state)}`);
    return (await signOn.finish(returned, pending)).email;
  } catch (error) {
    const { reason, message } = error as { reason?: string; message: string };
    return `${reason}: ${message}`;
  }
}
const returnCode = (state: string) => `code=code&state=${state}`;

const claims = (given: object): Partial<Answers> => ({ claims: given });
const minutes = (count: number) => nowS() + 60 * count;

test.each<[string, () => Partial<Answers>]>([
  ['nothing odd', () => ({})],
  ['a clock that is two minutes ahead', () => claims({ nbf: minutes(2), iat: minutes(2) })],
  ['a clock that is two minutes behind', () => claims({ exp: minutes(-2), iat: minutes(-4) })],
  ['a confirmation as a text', () => claims({ email_verified: 'true' })],
  [
    'the address at its user endpoint only',
    () => ({
      claims: { email: undefined, email_verified: undefined },
      userInfo: { email: 'owner@example.com', email_verified: 'true' },
    }),
  ],
])('a provider with %s signs a person in', async (_name, given) => {
  expect(await signIn(given())).toBe('owner@example.com');
});

test.each<[string, () => Partial<Answers>, RegExp]>([
  ['no signature', () => ({ header: { alg: 'none' } }), /"alg"/],
  ['a signature by the client’s secret', () => ({ header: { alg: 'HS256' } }), /"alg"/],
  ['another issuer', () => claims({ iss: 'https://evil.example' }), /"iss"/],
  ['another client', () => claims({ aud: 'other' }), /"aud"/],
  ['further clients', () => claims({ aud: ['trueward', 'other'], azp: 'other' }), /"azp"/],
  ['no nonce', () => claims({ nonce: undefined }), /nonce/],
  ['the nonce of another sign-in', () => claims({ nonce: 'other' }), /nonce/],
  ['an end long ago', () => claims({ exp: minutes(-10) }), /"exp"/],
  ['a beginning in the future', () => claims({ nbf: minutes(10) }), /"nbf"/],
  ['a time that is a text', () => claims({ auth_time: '1' }), /auth_time/],
  ['a time before 1970', () => claims({ auth_time: -1 }), /auth_time/],
])('an ID token with %s is refused, and the log says why', async (_name, given, cause) => {
  const result = await signIn(given());
  expect(result).toMatch(/^provider_failed: /);
  expect(result).toMatch(cause);
});

test.each<[string, object]>([
  ['none', { email: undefined }],
  ['a list', { email: ['owner@example.com'] }],
  ['null', { email: null }],
  ['an empty text', { email: '' }],
  ['a text that can’t be stored', { email: 'owner@example.com\0' }],
  ['half of a character', { email: 'owner@example.com\ud800' }],
  ['a number as confirmation', { email_verified: 1 }],
  ['a denial as a text', { email_verified: 'false' }],
])('an address that is no confirmed one is refused: %s', async (_name, given) => {
  expect(await signIn(claims(given))).toMatch(/^unverified_email: /);
});

test.each<[string, Partial<Answers>, RegExp]>([
  [
    'a page that is a script',
    { metadata: { authorization_endpoint: 'javascript:alert(1)' } },
    /HTTP/,
  ],
  [
    'a page that is no text',
    { metadata: { authorization_endpoint: {} } },
    /authorization_endpoint/,
  ],
  ['no endpoint for tokens', { metadata: { token_endpoint: undefined } }, /token_endpoint/],
  ['another issuer', { metadata: { issuer: 'https://evil.example' } }, /issuer/],
  [
    'an error',
    { onToken: (response) => send(response, { error: 'invalid_client' }, 401) },
    /401|invalid_client/,
  ],
  [
    'an error with a description of several lines',
    {
      onToken: (response) =>
        send(response, { error: 'invalid_grant', error_description: 'Code\nis used' }, 400),
    },
    /invalid_grant Code is used$/,
  ],
  ['a page in HTML', { onToken: (response) => send(response, '<html>', 500) }, /status/],
  [
    'a redirect',
    { onToken: (response) => void response.writeHead(307, { location: '/me' }).end() },
    /status/,
  ],
  [
    'a body without end',
    {
      onDiscovery(response) {
        const chunk = Buffer.alloc(65_536, ' ');
        const write = (): void => {
          while (response.write(chunk));
          response.once('drain', write);
        };
        write();
      },
    },
    /more than 1048576 bytes/,
  ],
])('a provider that answers with %s is named as the cause', async (_name, given, cause) => {
  const result = await signIn(given);
  expect(result).toMatch(/^provider_failed: /);
  expect(result).toMatch(cause);
});

test.each<[string, (state: string) => string, RegExp]>([
  ['two states', (state) => `${returnCode(state)}&state=${state}`, /provider_failed: .*only once/],
  ['two codes', (state) => `code=other&${returnCode(state)}`, /provider_failed: .*only once/],
  ['no code', (state) => `state=${state}`, /provider_failed: .*code/],
  ['a state of another sign-in', () => returnCode('other'), /provider_failed: .*state/],
  ['another issuer', (state) => `${returnCode(state)}&iss=https://evil.example`, /"iss"/],
  ['an ID token', (state) => `${returnCode(state)}&id_token=e30.e30.e30`, /provider_failed: /],
  [
    'an error',
    (state) => `state=${state}&error=login_required`,
    /provider_failed: .*login_required/,
  ],
  ['a refusal', (state) => `state=${state}&error=access_denied`, /^cancelled: /],
])('a browser that comes back with %s is not signed in', async (_name, back, cause) => {
  expect(await signIn({}, back)).toMatch(cause);
});

const es256 = { header: { alg: 'ES256' } };
test.each<[string, Partial<Answers>, Partial<Answers>]>([
  [
    'signs in another way',
    es256,
    { ...es256, metadata: { id_token_signing_alg_values_supported: ['ES256'] } },
  ],
  ['had no page', { metadata: { authorization_endpoint: undefined } }, {}],
  ['named an endpoint that fails', { metadata: { token_endpoint: 'http://127.0.0.1:1/' } }, {}],
  ['could not be read', { onDiscovery: (response) => send(response, '<html>', 503) }, {}],
])('a provider that %s is read again by the next sign-in', async (_name, before, after) => {
  const signOn = createSignOn();
  expect(await signIn(before, returnCode, signOn)).toMatch(/^provider_failed: /);
  expect(await signIn(after, returnCode, signOn)).toBe('owner@example.com');
});
