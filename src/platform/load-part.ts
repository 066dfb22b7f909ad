import type { Clock } from './clock.ts';
import { reportUncaught } from './guard.ts';
import { listen } from './native.ts';
import { browserConnectivity } from './page.ts';

/** Delay before the first retry, in milliseconds. Each later delay is twice as long. */
const firstDelayMs = 500;
const maxDelayMs = 300_000;
/** Number of failures after which the developer is told. By then, more than seven seconds have passed. */
const failuresUntilReport = 5;

/**
 * Loads a part of the SDK that is not in its main file, and resolves to one of the part's exports. Retries until that
 * succeeds, because a feature must not stay off until the page is reloaded. Rejects only if `signal` aborts.
 *
 * @param importPart - Contains the `import()` itself, because bundlers look for it.
 */
export async function loadPart<Part extends object, Name extends keyof Part & string>(
  importPart: () => Promise<Part>,
  name: Name,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Part[Name]> {
  let url: string | undefined;
  for (let failures = 0; !signal.aborted;) {
    try {
      const part = await (url ? importFrom<Part>(url, failures) : importPart());
      if (!signal.aborted && (!url || Object.hasOwn(part, name))) return part[name];
      // The bundler exports the part in its own way. The file has loaded, so the bundler's `import()` works now.
      url = '';
    } catch (error) {
      failures += 1;
      url ??= findUrl(error);
      if (failures === failuresUntilReport) reportUncaught(describeFailure(name, error));
      await waitForRetry(firstDelayMs * 2 ** (failures - 1), clock, signal);
    }
  }
  throw signal.reason;
}

/**
 * Imports the file under a URL that the page has not used yet. Firefox before 155 remembers a failed import: another
 * import of the same URL fails without a request.
 */
const importFrom = <Part>(url: string, retry: number): Promise<Part> =>
  import(
    /* @vite-ignore */ /* webpackIgnore: true */ `${url}${url.includes('?') ? '&' : '?'}retry=${retry}`
  ) as Promise<Part>;

/** Returns the URL of the file that failed to load. Only the browser knows it; Safari does not tell. */
const findUrl = (error: unknown): string | undefined =>
  /[a-z][\w+.-]*:\/\/\S+/i.exec(String(error))?.[0];

const describeFailure = (name: string, error: unknown): Error =>
  new Error(
    `trueward: part of the SDK (${name}) failed to load and will be tried again: ${String(error)}. If your game was ` +
      'deployed again after this page was opened, the file no longer exists: reload the page.',
  );

/** Resolves after `ms` milliseconds, or earlier when the network is available again or `signal` aborts. */
function waitForRetry(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      cancelTimer();
      stopListening();
      stopAbort();
      resolve();
    };
    const cancelTimer = clock.after(Math.min(ms, maxDelayMs), finish);
    const stopListening = browserConnectivity.onOnline(finish);
    const stopAbort = listen(signal, 'abort', finish);
    if (signal.aborted) finish();
  });
}
