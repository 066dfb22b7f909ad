/**
 * Simulates a PostgreSQL server's cores and disk while service processes write to it with group commits. The simulation
 * ignores row-lock contention.
 *
 * @typedef {{
 *   rate: number, processes: number, cores: number, serviceUs: number, databaseUs: number,
 *   transactionUs: number, syncMs: number, seconds: number,
 * }} Scenario
 */

/** The maximum number of requests per transaction, as in `service/src/store/group-commit.ts`. */
const maxBatch = 200;

/**
 * Requests arrive at random times (a Poisson process). Each request uses CPU time in its service process and then waits
 * until the current transaction ends. The next transaction contains all waiting requests. A transaction occupies one of
 * the server's cores and then waits for a disk flush. Returns latencies in milliseconds.
 *
 * @param {Scenario} scenario
 * @param {() => number} random
 * @returns {{ p50: number, p99: number, batch: number, canKeepUp: boolean }}
 */
export function simulate(scenario, random) {
  const { rate, processes, cores, serviceUs, databaseUs, transactionUs, syncMs, seconds } =
    scenario;
  const endMs = seconds * 1_000;
  const coreFreeAtMs = Array.from({ length: cores }, () => 0);
  const lanes = Array.from({ length: processes }, () =>
    generateArrivals(rate / processes, serviceUs / 1_000, endMs, random),
  );
  const positions = lanes.map(() => 0);
  const busyUntilMs = lanes.map(() => 0);
  /** @type {number[]} */
  const latenciesMs = [];
  let batches = 0;
  for (;;) {
    const lane = findNextLane(lanes, positions, busyUntilMs);
    if (lane < 0) break;
    const requests = lanes[lane] ?? [];
    const firstIndex = positions[lane] ?? 0;
    const batchReadyAtMs = Math.max(busyUntilMs[lane] ?? 0, requests[firstIndex]?.readyAtMs ?? 0);
    let end = firstIndex;
    while (
      end < requests.length &&
      end - firstIndex < maxBatch &&
      (requests[end]?.readyAtMs ?? 0) <= batchReadyAtMs
    )
      end += 1;
    const core = coreFreeAtMs.indexOf(Math.min(...coreFreeAtMs));
    const startAtMs = Math.max(batchReadyAtMs, coreFreeAtMs[core] ?? 0);
    const doneAtMs = startAtMs + (transactionUs + (end - firstIndex) * databaseUs) / 1_000;
    coreFreeAtMs[core] = doneAtMs;
    busyUntilMs[lane] = doneAtMs + syncMs;
    for (let index = firstIndex; index < end; index += 1)
      latenciesMs.push(doneAtMs + syncMs - (requests[index]?.arrivedAtMs ?? 0));
    positions[lane] = end;
    batches += 1;
  }
  const overrunMs = Math.max(...busyUntilMs) - endMs;
  latenciesMs.sort((a, b) => a - b);
  const percentile = (/** @type {number} */ share) =>
    latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
  return {
    p50: percentile(0.5),
    p99: percentile(0.99),
    batch: latenciesMs.length / batches,
    // If the last transaction ends long after the last request arrived, the queue kept growing.
    canKeepUp: overrunMs < endMs / 20,
  };
}

/**
 * Returns the arrival time of each of one process's requests, and the time when it is ready to be committed.
 *
 * @param {number} rate
 * @param {number} workMs
 * @param {number} endMs
 * @param {() => number} random
 */
function generateArrivals(rate, workMs, endMs, random) {
  const requests = [];
  let readyAtMs = 0;
  for (let arrivedAtMs = 0; ;) {
    arrivedAtMs += (-Math.log(1 - random()) / rate) * 1_000;
    if (arrivedAtMs > endMs) return requests;
    readyAtMs = Math.max(readyAtMs, arrivedAtMs) + workMs;
    requests.push({ arrivedAtMs, readyAtMs });
  }
}

/**
 * Returns the lane whose next transaction can start first, or -1 if no requests remain.
 *
 * @param {{ readyAtMs: number }[][]} lanes
 * @param {number[]} positions
 * @param {number[]} busyUntilMs
 */
function findNextLane(lanes, positions, busyUntilMs) {
  let earliestLane = -1;
  let earliestMs = Infinity;
  lanes.forEach((requests, lane) => {
    const next = requests[positions[lane] ?? 0];
    const ms = next ? Math.max(next.readyAtMs, busyUntilMs[lane] ?? 0) : Infinity;
    if (ms < earliestMs) [earliestLane, earliestMs] = [lane, ms];
  });
  return earliestLane;
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
