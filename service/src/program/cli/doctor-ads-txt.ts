import type { Source } from '@trueward/protocol/wire';
import { BodyTooLargeError, requestBounded } from '../../platform/bounded-request.ts';
import type { GuardedAgent } from '../../platform/guarded-agent.ts';
import { missingAdsTxtLines, missingSellers, type Seller } from '../../resource/ads-txt.ts';
import { type Finding, ok, warn } from './doctor-machine.ts';

/** Loads the text of a domain's ads.txt. */
type LoadAdsTxt = (domain: string) => Promise<string>;

type CheckedSource = Pick<Source, 'id' | 'name' | 'ads_txt' | 'publisher_id' | 'supply_chain'>;

/**
 * Checks that the sites' ads.txt files list the sellers for these sources. If they don't, buyers might not bid.
 */
export async function checkAdsTxtFiles(
  sources: readonly CheckedSource[],
  load: LoadAdsTxt,
): Promise<Finding[]> {
  const files = new Map<string, Promise<string>>();
  const loadFile = (domain: string): Promise<string> => {
    const file = files.get(domain) ?? load(domain);
    files.set(domain, file);
    return file;
  };
  return Promise.all(
    sources.map(async (source): Promise<Finding> => {
      const sourceLabel = `the source ${source.id} (${source.name})`;
      if (!source.ads_txt)
        return warn(
          `${sourceLabel} names sellers but has no ads_txt: set it to the site whose ads.txt lists them`,
        );
      const { domain, lines } = source.ads_txt;
      try {
        const file = await loadFile(domain);
        const missingLines = [
          ...missingAdsTxtLines(file, lines).map((line) => `“${line}”`),
          ...missingSellers(file, listSellers(source)).map(describeSeller),
        ];
        if (missingLines.length === 0)
          return ok(`https://${domain}/ads.txt contains the lines for ${sourceLabel}`);
        return warn(
          `https://${domain}/ads.txt is missing lines for ${sourceLabel}, so buyers might not bid: add ${missingLines.join(', ')}`,
        );
      } catch (error) {
        return warn(
          `https://${domain}/ads.txt, which must contain the lines for ${sourceLabel}, cannot be read: ${(error as Error).message}`,
        );
      }
    }),
  );
}

/** Returns the sellers named in bid requests. For the publisher id, the advertising system is unknown. */
const listSellers = ({ publisher_id: publisherId, supply_chain: chain = [] }: CheckedSource) => [
  ...(publisherId === undefined ? [] : [{ seller: publisherId }]),
  ...chain.map(({ asi, sid }) => ({ system: asi, seller: sid })),
];

const describeSeller = ({ system, seller }: Seller): string =>
  system === undefined
    ? `a line with the publisher id ${seller}`
    : `the line for seller ${seller} at ${system}`;

/** The largest real-world files are about 300 kB. */
const maxBytes = 1_048_576;
const maxRedirects = 3;
const timeoutMs = 5_000;

/** @throws Error when the file cannot be read within five seconds, or is not an ads.txt file. */
export async function fetchAdsTxt(url: string, agent: GuardedAgent): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  let currentUrl = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const { status, headers, body, bodyError } = await requestBounded({
      url: currentUrl,
      headers: {},
      agent,
      signal,
      maxBytes,
    });
    const { location } = headers;
    if (status >= 300 && status < 400 && location !== undefined) {
      currentUrl = new URL(location, currentUrl).href;
      continue;
    }
    const type = headers['content-type'] ?? '';
    if (status !== 200 || !type.startsWith('text/plain'))
      throw new Error(
        `expected status 200 and text/plain, received ${status} and ${type || 'no content type'}`,
      );
    if (bodyError instanceof BodyTooLargeError)
      throw new Error(`it is larger than ${maxBytes} bytes`);
    if (bodyError) throw bodyError;
    return body.toString('utf8');
  }
  throw new Error(`more than ${maxRedirects} redirects`);
}
