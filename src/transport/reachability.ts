import type { Clock } from '../platform/clock.ts';
import type { Connectivity } from '../platform/page.ts';
import type { ServiceClient, ServiceResult } from './service-client.ts';

/**
 * How long the service counts as unreachable after a failed request, in milliseconds. Requests are still sent
 * meanwhile, because only a request can show that the service is reachable again.
 */
const failureMs = 30_000;

/** Whether the service can be reached, as far as this device knows. */
export interface Reachability {
  /**
   * Whether a request may reach the service. The last request counts more than what the browser reports: some browsers
   * report that they are offline although they are not, or the other way around.
   */
  isReachable(): boolean;
  /** Wraps a client. Every answer shows that the service is reachable. */
  watch(client: ServiceClient): ServiceClient;
  /** Records the result of an ad request. */
  note(result: ServiceResult<unknown>): void;
  stop(): void;
}

export interface ReachabilityDeps {
  clock: Clock;
  connectivity: Connectivity;
  /** Calls the listener when the connection is lost. Returns a function that unsubscribes. */
  onOffline(listener: () => void): () => void;
  /** Called when `isReachable()` may have changed. */
  onChange(): void;
}

/** Creates the {@link Reachability}. */
export function createReachability(deps: ReachabilityDeps): Reachability {
  const { clock, connectivity, onChange } = deps;
  /** What the last request showed. Undefined once it is out of date. */
  let reached: boolean | undefined;
  let cancelExpiry: (() => void) | undefined;

  function learn(next: boolean | undefined): void {
    const before = isReachable();
    cancelExpiry?.();
    reached = next;
    cancelExpiry = next === false ? clock.after(failureMs, () => learn(undefined)) : undefined;
    if (isReachable() !== before) onChange();
  }
  function isReachable(): boolean {
    return reached ?? connectivity.isOnline();
  }
  function forget(): void {
    learn(undefined);
    // The browser’s own report has changed.
    onChange();
  }
  const stopListening = [connectivity.onOnline(forget), deps.onOffline(forget)];

  return {
    isReachable,
    watch: (client) => ({
      async call(...call) {
        const result = await client.call(...call);
        if (result.kind !== 'unreachable') learn(true);
        return result;
      },
    }),
    note(result) {
      if (result.kind !== 'unreachable') learn(true);
      else if (result.cause === 'network' || result.cause === 'unexpected_response') learn(false);
    },
    stop() {
      cancelExpiry?.();
      for (const stop of stopListening) stop();
    },
  };
}
