import { lookup } from 'node:dns';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../platform/clock.ts';
import { createGuardedAgent } from '../platform/guarded-agent.ts';
import type { OutsideSource } from '../resource/outside-source.ts';
import type { RequestHeaders } from '../resource/request-headers.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createRequestOffer, type RequestOffer } from './exchange.ts';
import { createRequestOutside } from './outside-client.ts';
import { withTestSource } from './test-source-client.ts';

/** What became of a call: `offer`, or the first word of its verdict. */
export type ObserveCall = (kind: OutsideSource['kind'], outcome: string, seconds: number) => void;

interface Deps {
  clock: Clock;
  demandMetrics: { observeCall: ObserveCall };
  readHeaders: RequestHeaders['read'];
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** An auction is over before a slower connection would help. */
const connectTimeoutMs = 1_000;

/** Connects to outside sources, with agents of its own: those of webhooks wait longer for a connection. */
export function startExchange({ clock, demandMetrics, readHeaders, stopping }: Deps): {
  requestOffer: RequestOffer;
  /** The hosts of a source that get no requests from this process now, because they have failed repeatedly. */
  openHosts(sourceId: string): string[];
  stop(): Promise<void>;
} {
  const agentOf = (loopback: boolean) => createGuardedAgent({ loopback }, lookup, connectTimeoutMs);
  const agents = { strict: agentOf(false), development: agentOf(true) };
  const breaker = createCircuitBreaker(clock);
  const requestOffer = createRequestOffer({
    requestOutside: withTestSource(createRequestOutside({ agents, breaker })),
    readHeaders,
    clock,
    random: Math.random,
    pause: () => nextTurn(),
    stopping,
  });
  return {
    openHosts: breaker.openHosts,
    async requestOffer(source, ...request) {
      const startedMs = clock.monotonicMs();
      const response = await requestOffer(source, ...request);
      const [outcome = ''] = response.verdict.split(':', 1);
      demandMetrics.observeCall(source.kind, outcome, (clock.monotonicMs() - startedMs) / 1_000);
      return response;
    },
    async stop() {
      await Promise.all([agents.strict.destroy(), agents.development.destroy()]);
    },
  };
}
