import { afterEach, beforeEach, vi } from 'vitest';
import type { Decision } from '../../../protocol/wire.ts';
import type { LoadedCreative } from '../../../src/creative/renderer.ts';
import { createDecisions } from '../../../src/decision/decisions.ts';
import type { ReadyAd } from '../../../src/decision/request-ad.ts';
import type { NoAd } from '../../../src/decision/no-ad.ts';
import type { ServiceResult, Call, Guard } from '../../../src/transport/service-client.ts';
import { createReachability } from '../../../src/transport/reachability.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { decisionPorts, createTestPage } from '../../support/ports.ts';

/**
 * Stubs the window size, which each request reports. Call this function in every test file: the files share this module,
 * so hooks in the module itself would run for one file only.
 */
export function stubWindowSize(): void {
  beforeEach(() => void vi.stubGlobal('innerWidth', 800).stubGlobal('innerHeight', 600));
  afterEach(() => void vi.unstubAllGlobals());
}

export const filledDecision = (id: string, creativeId = 'crv_1', lifetimeS = 600): Decision => ({
  id,
  status: 'filled',
  placement: 'revive',
  format: 'rewarded',
  creative: {
    id: creativeId,
    alt: '',
    media: { format: 'html', inline: '<p>', width: 1, height: 1 },
  },
  token: 'token',
  issued_at: '2026-01-01T00:00:00.000Z',
  expires_at: new Date(Date.UTC(2026, 0, 1) + lifetimeS * 1_000).toISOString(),
});
export const noFillDecision = (retryAt?: string): Decision => {
  const { creative: _, token: __, ...rest } = filledDecision('dec_none');
  const reason = retryAt ? 'cooldown' : 'no_candidates';
  return { ...rest, status: 'no_fill', reason, ...(retryAt && { retry_at: retryAt }) };
};
export const ok = (body: Decision): ServiceResult<Decision> => ({ kind: 'ok', body });
export const neverAborted = new AbortController().signal;

export function setUp() {
  const clock = createManualClock();
  const responses: (ServiceResult<Decision> | Promise<ServiceResult<Decision>>)[] = [];
  const page = createTestPage();
  const log = { requests: 0, loads: 0, destroyed: 0, aborted: 0, changes: 0 };
  let online = true;
  const networkListeners = new Set<() => void>();
  const onNetworkChange = (listener: () => void) => {
    networkListeners.add(listener);
    return () => networkListeners.delete(listener);
  };
  const reachability = createReachability({
    clock,
    connectivity: { isOnline: () => online, onOnline: onNetworkChange },
    onOffline: onNetworkChange,
    onChange: () => log.changes++,
  });
  let loading: () => Promise<void> = () => Promise.resolve();
  const decisions = createDecisions({
    ...decisionPorts(clock),
    onChange: () => log.changes++,
    lifecycle: page,
    isOnline: () => online,
    isReachable: reachability.isReachable,
    onResponse: (_placement, response) => reachability.note(response),
    loadTimeoutMs: 5_000,
    client: {
      async call<T>(_path: string, _guard: Guard<T>, { signal }: Call) {
        log.requests++;
        signal?.addEventListener('abort', () => log.aborted++);
        return ((await responses.shift()) ??
          ok(filledDecision(`dec_${log.requests}`))) as ServiceResult<T>;
      },
    },
    async loadCreative() {
      log.loads++;
      await loading();
      return { destroy: () => log.destroyed++ } as unknown as LoadedCreative;
    },
  });
  return {
    clock,
    page,
    responses,
    log,
    decisions,
    reachability,
    /** Sets what the browser reports. */
    setOnline(next: boolean) {
      online = next;
      for (const listener of networkListeners) listener();
    },
    loadWith: (work: () => Promise<void>) => (loading = work),
  };
}
export const getDecisionId = (result: ReadyAd | NoAd) =>
  'creative' in result ? result.decision.id : result;
