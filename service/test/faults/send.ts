import { type Agent, request } from 'undici';

/** Sends a POST request with a JSON body. Returns undefined if there is no response. */
export async function send(
  dispatcher: Agent,
  url: string,
  key: string,
  body: string,
): Promise<{ status: number; text: string } | undefined> {
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(10_000),
    });
    return { status: response.statusCode, text: await response.body.text() };
  } catch {
    return undefined; // The process or the connection is down.
  }
}
