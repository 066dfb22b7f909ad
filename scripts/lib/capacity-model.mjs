/**
 * Calculates how many processes and servers a given ad rate requires, based on measured costs and assumptions.
 *
 * @typedef {{ serviceUs: number, databaseUs: number, storedBytes: number, loggedBytes: number }} Cost
 * @typedef {Record<'decision' | 'start' | 'quartiles' | 'finish' | 'delivery', Cost>} Costs
 * @typedef {{ serviceUs: number, databaseUs: number, storedBytes: number, loggedBytes: number, requests: number }} AdCost
 * @typedef {{
 *   rate: number, processes: number, servers: number, cores: number, logMbS: number,
 *   storedTb: number, monthly: number,
 * }} Plan
 */

/** Values that are assumed rather than measured. `npm run capacity` has an option for each. */
export const assumptions = {
  /** Share of decisions whose ad starts. */
  shown: 0.8,
  /** Share of started ads that are watched to the end and rewarded. */
  finished: 0.8,
  /** Target average CPU utilization; the rest is headroom for bursts. */
  busy: 0.6,
  /** Number of cores per PostgreSQL server, and its maximum WAL throughput in MB/s. */
  serverCores: 32,
  serverLogMbS: 300,
  /** Retention in days: how long rows are kept before their partition is dropped. */
  keptDays: 30,
  /** Monthly cost in dollars of one core, including its memory, and of one gigabyte of fast disk. */
  coreDollars: 25,
  gigabyteDollars: 0.1,
};

/** @typedef {typeof assumptions} Assumptions */

/**
 * Returns the average cost of a decision, including its events and webhook deliveries.
 *
 * @param {Costs} costs
 * @param {Assumptions} assumed
 * @returns {AdCost}
 */
export function calculateAdCost(costs, { shown, finished }) {
  const finishedShare = shown * finished;
  /** @type {[Cost, number][]} */
  const parts = [
    [costs.decision, 1],
    [costs.start, shown],
    [costs.quartiles, shown],
    [costs.finish, finishedShare],
    [costs.delivery, finishedShare],
  ];
  const sum = (/** @type {keyof Cost} */ key) =>
    parts.reduce((total, [cost, share]) => total + cost[key] * share, 0);
  return {
    serviceUs: sum('serviceUs'),
    databaseUs: sum('databaseUs'),
    storedBytes: sum('storedBytes'),
    loggedBytes: sum('loggedBytes'),
    requests: 1 + 2 * shown + finishedShare,
  };
}

/**
 * Returns the resources needed for `rate` decisions per second. A process uses one core. If one server of the assumed
 * size is not enough, the accounts are distributed across several servers.
 *
 * @param {number} rate
 * @param {AdCost} ad
 * @param {Assumptions} assumed
 * @returns {Plan}
 */
export function planCapacity(rate, ad, assumed) {
  const { busy, serverCores, serverLogMbS, keptDays, coreDollars, gigabyteDollars } = assumed;
  // Adds one spare process, in case one fails.
  const processes = Math.ceil((rate * ad.serviceUs) / 1e6 / busy) + 1;
  const cores = Math.max(2, Math.ceil((rate * ad.databaseUs) / 1e6 / busy));
  const logMbS = (rate * ad.loggedBytes) / 1e6;
  const servers = Math.max(Math.ceil(cores / serverCores), Math.ceil(logMbS / serverLogMbS));
  const storedTb = (rate * ad.storedBytes * 86_400 * keptDays) / 1e12;
  // Each server has a standby with the same number of cores and the same disk capacity.
  const monthly = (processes + 2 * cores) * coreDollars + 2 * storedTb * 1_000 * gigabyteDollars;
  return { rate, processes, servers, cores, logMbS, storedTb, monthly };
}
