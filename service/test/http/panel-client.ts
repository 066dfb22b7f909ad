import type { Problem } from '@trueward/protocol/wire';
import type { InProcessService } from '../in-process.ts';
import type { ApiResponse } from './client.ts';

/** The response to a sign-in. */
interface PanelSession {
  user: { id: string; email: string; name: string; role: string; code_enabled: boolean };
  account: { id: string; name: string };
  csrf_token: string;
  expires_at: string;
}

export const password = 'correct horse battery staple';

/**
 * Simulates the panel in a browser. Stores the cookie and sends the same headers as the page, except that changes apply
 * to any revision by default.
 */
export function createPanelClient(url: string, environment: 'sandbox' | 'live' = 'sandbox') {
  let cookie: string | undefined;
  let csrf = '';

  const send = async <T = Problem>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | undefined> = {},
  ): Promise<ApiResponse<T>> => {
    const allHeaders: Record<string, string | undefined> = {
      ...(cookie === undefined ? {} : { cookie }),
      ...(method === 'GET' ? {} : { origin: url, 'trueward-csrf': csrf }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      'sec-fetch-site': 'same-origin',
      'trueward-environment': environment,
      ...(/^(PATCH|PUT|DELETE)$/.test(method) || /\/(review|callback)(\?|$)/.test(path)
        ? { 'if-match': '*' }
        : {}),
      ...headers,
    };
    const sentHeaders = Object.entries(allHeaders).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const isRawBody = typeof body === 'string' || body instanceof Blob;
    const response = await fetch(url + path, {
      method,
      headers: sentHeaders,
      ...(body === undefined ? {} : { body: isRawBody ? body : JSON.stringify(body) }),
    });
    const [setCookie] = response.headers.getSetCookie();
    if (setCookie !== undefined) cookie = setCookie.split(';')[0];
    const text = await response.text();
    const parsedBody = text.startsWith('{')
      ? (JSON.parse(text) as T & { csrf_token?: string })
      : undefined;
    if (parsedBody?.csrf_token !== undefined) csrf = parsedBody.csrf_token;
    return { status: response.status, headers: response.headers, body: parsedBody as T };
  };

  return {
    send,
    cookie: () => cookie,
    csrf: () => csrf,
    signIn: (email: string, credentials: { password?: string; code?: string } = {}) =>
      send<PanelSession & Problem>('POST', '/panel/api/session', {
        email,
        password,
        ...credentials,
      }),
    setUp: (token: string, email: string) =>
      send<PanelSession & Problem>('POST', '/panel/api/setup', {
        token,
        email,
        name: 'N',
        password,
      }),
  };
}

export type PanelClient = ReturnType<typeof createPanelClient>;

/** Sets up and signs in the first owner of the demo account. */
export async function signInOwner({
  url,
  service,
}: Pick<InProcessService, 'url' | 'service'>): Promise<PanelClient> {
  const client = createPanelClient(url);
  const token = await service.users.links.makeForFirstOwner();
  const response = await client.setUp(token ?? '', 'owner@example.com');
  if (response.status !== 200) throw new Error(`Setup failed: ${JSON.stringify(response.body)}`);
  return client;
}

/** Invites a user and signs the user in. */
export async function signInAs(
  { url }: Pick<InProcessService, 'url'>,
  owner: PanelClient,
  role: 'viewer' | 'operator' | 'owner',
): Promise<PanelClient & { id: string }> {
  const email = `${role}-${Math.random().toString(36).slice(2)}@example.com`;
  const { body } = await owner.send<{ id: string; invite_url: string }>(
    'POST',
    '/panel/api/users',
    { email, name: role, role },
  );
  const client = createPanelClient(url);
  await client.setUp(new URL(body.invite_url).hash.replace('#/setup?token=', ''), email);
  return { ...client, id: body.id };
}
