import { once } from 'node:events';
import { isTestSourceUrl, respondAsTestSource } from '../demand/test-source.ts';
import type { RequestOutside } from './outside-client.ts';

/** Lets the built-in test source respond to the sandbox; all other requests are made. */
export const withTestSource =
  (requestOutside: RequestOutside): RequestOutside =>
  async (outside) => {
    const { url, body, sandbox, signal } = outside;
    if (!sandbox || !isTestSourceUrl(url)) return requestOutside(outside);
    const response = respondAsTestSource(url, body);
    if (!response) {
      if (!signal.aborted) await once(signal, 'abort');
      return { status: 'failed', kind: 'timeout', reason: 'No response in time.' };
    }
    const { httpStatus, text } = response;
    if (httpStatus < 300) return { status: 'ok', httpStatus, text, url };
    const reason = `The response has status ${httpStatus}; expected 200 or 204.`;
    return { status: 'failed', kind: 'error', reason, httpStatus };
  };
