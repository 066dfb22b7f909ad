/**
 * Simulates the cores and the disk of a PostgreSQL server to which service processes write in group commits. In the
 * simulation, transactions never wait for row locks.
 *
 * @typedef {{
 *   rate: number, processes: number, cores: number, serviceUs: number, databaseUs: number,
 *   transactionUs: number, syncMs: number, seconds: number,
 * }} Scenario
 */

/** The maximum number of requests in a transaction, as in `service/src/store/group-commit.ts`. */
const maxBatch = 200;

/**
 * Requests arrive at random times (a Poisson process). Each request uses CPU time of its process and waits for the
 * running transaction. The next transaction contains all waiting requests. A transaction uses one of the server's cores
 * and then waits for a disk flush. Returns latencies in milliseconds.
 *
 * @param {Scenario} scenario
 * @param {() => number} random
 * @returns {{ p50: number, p99: number, batch: number, canKeepUp: boolean }}
 */
export function simulate(scenario, random) {
  const { rate, processes, cores, serviceUs, databaseUs, transactionUs, syncMs, seconds } =
    scenario;
  const endMs = seconds * 1_000;
  const coreFreeMs = Array.from({ length: cores }, () => 0);
  const lanes = Array.from({ length: processes }, () =>
    arrivals(rate / processes, serviceUs / 1_000, endMs, random),
  );
  const positions = lanes.map(() => 0);
  const busyUntil = lanes.map(() => 0);
  /** @type {number[]} */
  const latenciesMs = [];
  let batches = 0;
  for (;;) {
    const lane = nextLane(lanes, positions, busyUntil);
    if (lane < 0) break;
    const requests = lanes[lane] ?? [];
    const first = positions[lane] ?? 0;
    const batchReadyMs = Math.max(busyUntil[lane] ?? 0, requests[first]?.readyMs ?? 0);
    let end = first;
    while (
      end < requests.length &&
      end - first < maxBatch &&
      (requests[end]?.readyMs ?? 0) <= batchReadyMs
    )
      end += 1;
    const core = coreFreeMs.indexOf(Math.min(...coreFreeMs));
    const startMs = Math.max(batchReadyMs, coreFreeMs[core] ?? 0);
    const doneMs = startMs + (transactionUs + (end - first) * databaseUs) / 1_000;
    coreFreeMs[core] = doneMs;
    busyUntil[lane] = doneMs + syncMs;
    for (let index = first; index < end; index += 1)
      latenciesMs.push(doneMs + syncMs - (requests[index]?.arrivedMs ?? 0));
    positions[lane] = end;
    batches += 1;
  }
  const overrunMs = Math.max(...busyUntil) - endMs;
  latenciesMs.sort((a, b) => a - b);
  const percentile = (/** @type {number} */ share) =>
    latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
  return {
    p50: percentile(0.5),
    p99: percentile(0.99),
    batch: latenciesMs.length / batches,
    // If the last transaction ends long after the last request has arrived, the queue kept growing.
    canKeepUp: overrunMs < endMs / 20,
  };
}

/**
 * Returns the times at which the requests of one process arrive and become ready for their transaction.
 *
 * @param {number} rate
 * @param {number} workMs
 * @param {number} endMs
 * @param {() => number} random
 */
function arrivals(rate, workMs, endMs, random) {
  const requests = [];
  let readyMs = 0;
  for (let arrivedMs = 0; ;) {
    arrivedMs += (-Math.log(1 - random()) / rate) * 1_000;
    if (arrivedMs > endMs) return requests;
    readyMs = Math.max(readyMs, arrivedMs) + workMs;
    requests.push({ arrivedMs, readyMs });
  }
}

/**
 * Returns the lane whose next transaction can start first, or -1 if no requests remain.
 *
 * @param {{ readyMs: number }[][]} lanes
 * @param {number[]} positions
 * @param {number[]} busyUntil
 */
function nextLane(lanes, positions, busyUntil) {
  let best = -1;
  let bestMs = Infinity;
  lanes.forEach((requests, lane) => {
    const next = requests[positions[lane] ?? 0];
    const ms = next ? Math.max(next.readyMs, busyUntil[lane] ?? 0) : Infinity;
    if (ms < bestMs) [best, bestMs] = [lane, ms];
  });
  return best;
}

/**
 * Returns a seeded random number generator, so that every run uses the same numbers.
 *
 * @param {number} seed
 */
export function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
