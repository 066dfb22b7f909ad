import type { Clock } from '../platform/clock.ts';
import { native } from '../platform/native.ts';
import { isHostFiltered } from '../transport/reach-service.ts';

/** Browsers add a resource's timing shortly after its response. */
const timingDelayMs = 50;

/**
 * Finds out why an element could not load a file. Elements don't say it, so the file is requested once more with
 * `fetch`, which filter lists treat as a different type of request.
 *
 * @param unknownCode - The code to return if the reason is not known.
 * @param options - `timeline`: the performance timeline of the page that contains the element.
 * @returns `blocked` if a browser extension or a network filter blocked the element's request, `media_missing` if the
 *   server does not have the file, `media_network` if it does not respond, or `unknownCode`.
 */
export async function findLoadFailure(
  url: string,
  unknownCode: string,
  {
    clock,
    signal,
    timeline = performance,
  }: { clock: Clock; signal: AbortSignal; timeline?: Performance | undefined },
): Promise<string> {
  if (!/^https?:/i.test(new URL(url, location.href).href)) return unknownCode;
  const { fetch } = native;
  const request = { method: 'HEAD', cache: 'no-store', credentials: 'omit', signal } as const;
  try {
    const { ok } = await fetch(url, request);
    if (!ok) return 'media_missing';
  } catch {
    // The server may respond, but without CORS headers.
    return fetch(url, { ...request, mode: 'no-cors' }).then(
      () => unknownCode,
      async () => {
        if (signal.aborted) return unknownCode;
        return (await isHostFiltered({ clock, fetch }, url, signal)) ? 'blocked' : 'media_network';
      },
    );
  }
  await new Promise<void>((resolve) => clock.after(timingDelayMs, resolve));
  const timings = [performance, timeline].flatMap(
    (entries) => entries.getEntriesByName(url) as PerformanceResourceTiming[],
  );
  const wasAnswered = ({ responseStart }: PerformanceResourceTiming) => responseStart > 0;
  const isFetch = ({ initiatorType }: PerformanceResourceTiming) => initiatorType === 'fetch';
  const own = timings.filter((timing) => !isFetch(timing));
  // Servers of other origins hide their times unless they send `Timing-Allow-Origin`, as the service does.
  const areTimesVisible = timings.some((timing) => isFetch(timing) && wasAnswered(timing));
  return areTimesVisible && own.length > 0 && !own.some(wasAnswered) ? 'blocked' : unknownCode;
}
