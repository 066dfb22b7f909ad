import { type Ads, type AdsOptions, createAds } from '../../../src/index.ts';
import { createStubService, makeKey, type StubService } from '../../support/stub-service.ts';
import type { SdkWatch } from '../watch-sdk.ts';

export const serviceUrl = 'https://ads.test';

/** Returns the beginning of the names under which the SDK stores a game's data. */
export const storageName = (key: string): string =>
  `trueward:sandbox_${key.split('_')[2]}@${new URL(serviceUrl).host}`;

/** A promise that never resolves. Rejects if the signal aborts, like `fetch()`. */
export const never = (given?: unknown, init?: RequestInit): Promise<never> =>
  new Promise((_resolve, reject) => {
    const signal = given instanceof AbortSignal ? given : init?.signal;
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

/** Starts ads whose requests, events and stored values the watch records. */
export function startAdsWith(
  watch: SdkWatch,
  given: {
    options?: Partial<AdsOptions>;
    /** Requests whose path begins with this text get no answer until `answer()` is called. */
    held?: string;
    /** Requests whose path begins with this text fail. */
    broken?: string;
    respond?: StubService['respond'] | undefined;
    /** Another tab holds the lock with this name. */
    locked?: string;
  },
): { ads: Ads; answer(): void } {
  const service = createStubService();
  if (given.respond) service.respond = given.respond;
  const waiting: (() => void)[] = [];
  const starts = (path: string, prefix: string | undefined): boolean =>
    prefix !== undefined && path.startsWith(prefix);
  const publishableKey = makeKey();
  if (given.locked !== undefined)
    void navigator.locks.request(`${storageName(publishableKey)}:${given.locked}`, () => never());
  const ads = createAds({
    publishableKey,
    serviceUrl,
    userRef: 'player-1',
    async fetch(input, init) {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      watch.act(`request ${pathname}`);
      if (starts(pathname, given.broken)) throw new TypeError('Failed to fetch');
      if (starts(pathname, given.held))
        await Promise.race([
          never(input, init),
          new Promise<void>((resolve) => waiting.push(resolve)),
        ]);
      if (pathname === '/v1/wallet/spends') return charge(init);
      return service.fetch(input, init);
    },
    ...given.options,
  });
  for (const event of ['open', 'start', 'close', 'result', 'reward', 'change', 'spend'] as const)
    ads.on(event, () => watch.act(`event ${event}`));
  return { ads, answer: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

/** The service's answer to a spend. */
const charge = (init?: RequestInit): Response =>
  Response.json({ ...(JSON.parse(init?.body as string) as object), balance: 5, version: 1 });
