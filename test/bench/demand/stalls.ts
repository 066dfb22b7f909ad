import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCircuitBreaker } from '../../../service/src/demand/exchange/circuit-breaker.ts';
import { createRequestOffer } from '../../../service/src/demand/exchange/exchange.ts';
import { createRequestExternal } from '../../../service/src/demand/exchange/external-client.ts';
import { createGuardedAgent } from '../../../service/src/platform/guarded-agent.ts';
import { systemClock } from '../../../service/src/platform/time.ts';
import { createSource, offerRequest } from '../../../service/test/external-source.ts';
import { median } from '../outbox/statistics.ts';
import { adversarialBids, adversarialTags } from './documents.ts';
import type { Stall } from './results.ts';
import type { SourceServer } from './source-server.ts';

/** Measures the longest stall of this process while it requests ads from sources with adversarial documents. */
export async function measureStalls(server: SourceServer, runs: number): Promise<Stall[]> {
  const agent = createGuardedAgent({ loopback: true });
  const requestOffer = createRequestOffer({
    requestExternal: createRequestExternal({
      agents: { strict: agent, development: agent },
      breaker: createCircuitBreaker(systemClock),
    }),
    clock: systemClock,
    random: Math.random,
    readHeaders: () => Promise.resolve({}),
    pause: () => nextTurn(),
    stopping: new AbortController().signal,
  });
  const stalls: Stall[] = [];
  for (const [kind, documents] of [
    ['VAST', adversarialTags],
    ['OpenRTB', adversarialBids],
  ] as const) {
    for (const [content, text] of Object.entries(documents)) {
      await server.serve({ adversarial: text });
      const url = `${server.url}/0/adversarial`;
      const source = createSource(kind === 'VAST' ? { tag_url: url } : { endpoint_url: url });
      const times: number[] = [];
      let verdict = '';
      for (let run = 0; run < runs; run += 1) {
        const stall = startStallMeter();
        ({ verdict } = await requestOffer(source, offerRequest, 5_000));
        times.push(stall.end());
      }
      if (verdict === 'timeout' || verdict === 'circuit_open')
        throw new Error(`The source with ${content} was not read: ${verdict}`);
      stalls.push({ kind, content, bytes: text.length, ms: median(times) ?? NaN, verdict });
    }
  }
  agent.destroy();
  return stalls;
}

/** Starts measuring the longest gap between consecutive turns of the event loop. */
function startStallMeter(): { end(): number } {
  let [longest, turnMs, ended] = [0, performance.now(), false];
  const turn = (): void => {
    const nowMs = performance.now();
    longest = Math.max(longest, nowMs - turnMs);
    turnMs = nowMs;
    if (!ended) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    end() {
      ended = true;
      return Math.max(longest, performance.now() - turnMs);
    },
  };
}
