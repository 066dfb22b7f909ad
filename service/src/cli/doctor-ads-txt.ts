import type { Source } from '@trueward/protocol/wire';
import { type Dispatcher, request } from 'undici';
import { missingAdsTxtLines } from '../resource/ads-txt.ts';
import { type Finding, ok, warn } from './doctor-machine.ts';

/** The text of a domain's ads.txt. */
type LoadAdsTxt = (domain: string) => Promise<string>;

/** Checks that sites name the sellers of these sources in their ads.txt; otherwise, buyers may not bid. */
export async function adsTxtFindings(
  sources: readonly Pick<Source, 'id' | 'name' | 'ads_txt'>[],
  load: LoadAdsTxt,
): Promise<Finding[]> {
  const files = new Map<string, Promise<string>>();
  const fileOf = (domain: string): Promise<string> => {
    const file = files.get(domain) ?? load(domain);
    files.set(domain, file);
    return file;
  };
  return Promise.all(
    sources.map(async ({ id, name, ads_txt: adsTxt }): Promise<Finding> => {
      const { domain = '', lines = [] } = adsTxt ?? {};
      const about = `the source ${id} (${name})`;
      try {
        const missing = missingAdsTxtLines(await fileOf(domain), lines);
        if (missing.length === 0) return ok(`https://${domain}/ads.txt has the lines of ${about}`);
        return warn(
          `https://${domain}/ads.txt lacks lines of ${about}, so buyers may not bid: add ${missing.map((line) => `“${line}”`).join(', ')}`,
        );
      } catch (error) {
        return warn(
          `https://${domain}/ads.txt, which must have the lines of ${about}, cannot be read: ${(error as Error).message}`,
        );
      }
    }),
  );
}

/** Real files have up to some 300 kB. */
const maxBytes = 1_048_576;
const maxRedirects = 3;
const timeoutMs = 5_000;

/** @throws Error when the file cannot be read within five seconds, or is none. */
export async function fetchAdsTxt(url: string, dispatcher: Dispatcher): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  let at = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const { statusCode, headers, body } = await request(at, { dispatcher, signal });
    const location = headers['location'];
    if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
      await body.dump();
      at = new URL(location, at).href;
      continue;
    }
    const type = String(headers['content-type'] ?? '');
    if (statusCode !== 200 || !type.startsWith('text/plain')) {
      await body.dump();
      throw new Error(
        `expected status 200 and text/plain, received ${statusCode} and ${type || 'no content type'}`,
      );
    }
    return readBounded(body);
  }
  throw new Error(`more than ${maxRedirects} redirects`);
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
