import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { createSessionCookie } from '../../src/http/authentication/session-access.ts';

/** Returns the `Set-Cookie` header for a new session, and the session that was read from the `cookie` header. */
async function exchangeCookies(publicUrl: string, cookie: string) {
  const app = Fastify();
  const session = createSessionCookie(() => publicUrl);
  app.get('/', async (request, reply) => {
    session.set(reply, 'text', Date.parse('2030-01-01T00:00:00Z'));
    return { read: session.read(request) ?? null };
  });
  const { headers, body } = await app.inject({ url: '/', headers: { cookie } });
  return { set: headers['set-cookie'], read: (JSON.parse(body) as { read: unknown }).read };
}

test('over HTTPS, the cookie is Secure, and a cookie set by a subdomain is ignored', async () => {
  const header = 'trueward_session=planted; other=1; __Host-trueward_session=ours';
  expect(await exchangeCookies('https://play.example', header)).toEqual({
    set: '__Host-trueward_session=text; Path=/; HttpOnly; SameSite=Strict; Secure; Expires=Tue, 01 Jan 2030 00:00:00 GMT',
    read: 'ours',
  });
});

test('over HTTP, the cookie has no prefix or attribute that requires HTTPS', async () => {
  const header = 'nottrueward_session=1; trueward_session=ours';
  expect(await exchangeCookies('http://127.0.0.1:8700', header)).toEqual({
    set: 'trueward_session=text; Path=/; HttpOnly; SameSite=Strict; Expires=Tue, 01 Jan 2030 00:00:00 GMT',
    read: 'ours',
  });
});
