import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCircuitBreaker } from '../../../service/src/exchange/circuit-breaker.ts';
import { createRequestOffer } from '../../../service/src/exchange/exchange.ts';
import type { OfferRequest } from '../../../service/src/exchange/offer-request.ts';
import { createRequestOutside } from '../../../service/src/exchange/outside-client.ts';
import { createGuardedAgent } from '../../../service/src/platform/guarded-agent.ts';
import { systemClock } from '../../../service/src/platform/clock.ts';
import type { OutsideSource } from '../../../service/src/resource/outside-source.ts';
import { median } from '../outbox/statistics.ts';
import { adversarialBids, adversarialTags } from './documents.ts';
import type { Stall } from './results.ts';
import type { SourceServer } from './source-server.ts';

/** Measures the longest stall of this process while it requests offers from sources that send adversarial documents. */
export async function measureStalls(server: SourceServer, runs: number): Promise<Stall[]> {
  const agent = createGuardedAgent({ loopback: true });
  const requestOffer = createRequestOffer({
    requestOutside: createRequestOutside({
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
      const source = sourceOf(kind, `${server.url}/0/adversarial`);
      const times: number[] = [];
      let verdict = '';
      for (let run = 0; run < runs; run += 1) {
        const stall = startStallMeter();
        ({ verdict } = await requestOffer(source, request, 5_000));
        times.push(stall.end());
      }
      if (verdict === 'timeout' || verdict === 'circuit_open')
        throw new Error(`The source with ${content} was not read: ${verdict}`);
      stalls.push({ kind, content, bytes: text.length, ms: median(times) ?? NaN, verdict });
    }
  }
  await agent.destroy();
  return stalls;
}

/** The longest time between two turns of the event loop. */
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

let sources = 0;
const sourceOf = (kind: Stall['kind'], url: string): OutsideSource =>
  ({
    id: `src_${(sources += 1)}`,
    name: 'A source',
    environment: 'sandbox',
    status: 'active',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    ...(kind === 'VAST' ? { kind: 'vast', tag_url: url } : { kind: 'openrtb', endpoint_url: url }),
    placements: ['revive'],
    ortb_version: '2.6',
    priority: 1,
    cpm_micros: 2_000_000,
    floor_micros: 1_000_000,
    currency: 'USD',
    timeout_ms: 5_000,
    review: 'manual',
    allowed_domains: [],
    impression_on: 'verified',
    tracking_window_s: 1_800,
    child_directed: false,
    header_profile: 'iab',
  }) as OutsideSource;

const request: OfferRequest = {
  accountId: 'acc_1',
  transactionId: '7f3e0c1a-6f0e-4c1f-9a52-0a9e4f6f1b11',
  placement: 'revive',
  sandbox: true,
  loopback: true,
  player: { limitAdTracking: true, childDirected: false },
  viewport: { width: 844, height: 390 },
  minSkipMs: 0,
  blocked: { advertisers: [], categories: [], seats: [], attributes: [] },
  showWithinS: 600,
};
