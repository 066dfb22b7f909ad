import type { Decision } from '../../protocol/wire.ts';
import type { ShowResult } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { loadPart } from '../platform/load-part.ts';
import type { ServiceResult } from '../transport/service-client.ts';
import type { Incident } from './warn-of-mistake.ts';
import type { LogEntry } from './write-log.ts';

/** Writes an entry to the console. */
export type Log = (entry: LogEntry) => void;

type LoadOptions = { clock: Clock; signal: AbortSignal };

const importTools = () => import('./debug-tools.ts');
const callLoaded = <T>(loading: Promise<(value: T) => void>, value: T): void =>
  void loading.then(
    (call) => call(value),
    // The ads were destroyed.
    () => undefined,
  );

/** Loads the log's code. Entries wait until it has loaded, or are discarded once `signal` has aborted. */
export function loadLog(options: LoadOptions): Log {
  const loading = loadPart(importTools, 'writeLog', options);
  // A promise runs its callbacks in order, so the lines appear in the order in which the events occurred.
  return (entry) => callLoaded(loading, entry);
}

/** Returns a function that warns the developer of typical mistakes. Its code is loaded with the first incident. */
export const createWarnings =
  (options: LoadOptions) =>
  (incident: Incident): void =>
    callLoaded(loadPart(importTools, 'warnOfMistake', options), incident);

/** Wraps `fetch` so that each request and its response are logged. */
export const loggedFetch =
  (fetch: typeof globalThis.fetch, log: Log): typeof globalThis.fetch =>
  (input, init) => {
    const response = fetch(input, init);
    log({ type: 'request', input, init, response });
    return response;
  };

/** The history that the debug panel shows. */
export interface AdsRecord {
  /** The latest ad requests, newest first. */
  readonly requests: readonly {
    at: number;
    placement: string;
    response: ServiceResult<Decision>;
  }[];
  /** The latest steps in the last ad break, oldest first. `at` is the monotonic time in milliseconds. */
  readonly timeline: readonly { at: number; step: string }[];
}

/** Keeps a short history for the debug panel, which may be opened at any time. */
export interface Recorder extends AdsRecord {
  /** Records the result of an ad request. */
  onResponse(placement: string, response: ServiceResult<Decision>): void;
  /** Records a step in the current ad break. The `begin` step discards the steps of the previous ad break. */
  note(step: string): void;
  /** Records the result of a call to show an ad. */
  onResult(placement: string, result: ShowResult): void;
}

const maxRequests = 10;
/** Maximum number of steps. An ad break has about 15, but banners add steps without ever beginning a break. */
const maxSteps = 100;

/** Creates a {@link Recorder}, which also passes everything to `log`. */
export function createRecorder(clock: Clock, log?: Log): Recorder {
  const requests: { at: number; placement: string; response: ServiceResult<Decision> }[] = [];
  const timeline: { at: number; step: string }[] = [];
  const addStep = (step: string): void => {
    timeline.push({ at: clock.monotonic(), step });
    if (timeline.length > maxSteps) timeline.shift();
  };
  return {
    requests,
    timeline,
    onResponse(placement, response) {
      requests.unshift({ at: clock.now(), placement, response });
      requests.splice(maxRequests);
      log?.({ type: 'decision', placement, response });
    },
    note(step) {
      if (step === 'begin') timeline.length = 0;
      addStep(step);
      log?.({ type: 'step', step });
    },
    onResult(placement, result) {
      addStep(result.outcome);
      log?.({ type: 'result', placement, result });
    },
  };
}
