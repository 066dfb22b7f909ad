/**
 * `npm run capacity` calculates the resources needed for 1,000 to 1,000,000 decisions per second, based on the costs
 * measured by `npm run bench:costs`. It also simulates one PostgreSQL server of the assumed size under load.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assumptions, calculateAdCost, planCapacity } from './lib/capacity-model.mjs';
import { createRandom, simulate } from './lib/capacity-simulation.mjs';
import { readOptions } from './lib/read-options.mjs';
import { root } from './lib/run.mjs';

const [startMark, endMark] = ['<!-- capacity -->', '<!-- /capacity -->'];

/** @type {Record<keyof typeof assumptions, string>} */
const meanings = {
  shown: 'share of decisions whose ad starts',
  finished: 'share of started ads that are watched to the end and rewarded',
  busy: 'average CPU utilization to aim for',
  serverCores: 'cores per PostgreSQL server',
  serverLogMbS: 'its maximum WAL throughput, in MB/s',
  keptDays: 'how long rows are kept, in days',
  coreDollars: 'monthly cost of one core, including its memory',
  gigabyteDollars: 'monthly cost of one gigabyte of fast disk',
};
const { write, ...assumed } = readOptions({
  name: 'capacity',
  about:
    'Prints the tables for docs/scale.md, calculated from measured costs and these assumptions.',
  options: {
    .../** @type {Record<keyof typeof assumptions, { type: 'number', default: number, help: string }>} */ (
      Object.fromEntries(
        Object.entries(meanings).map(([name, help]) => [
          name,
          { type: 'number', default: assumptions[/** @type {'busy'} */ (name)], help },
        ]),
      )
    ),
    write: 'writes the tables to that page instead',
  },
});
const tables = renderTables(assumed);
if (write) writeGuide(tables);
else console.log(tables);

/** @param {import('./lib/capacity-model.mjs').Assumptions} assumed */
function renderTables(assumed) {
  /** @type {{ measured: { date: string, machine: string }, costs: import('./lib/capacity-model.mjs').Costs & { ad: import('./lib/capacity-model.mjs').Cost } }} */
  const { measured, costs } = JSON.parse(readProjectFile('docs/benchmarks/service/costs.json'));
  const average = calculateAdCost(costs, assumed);
  const plans = [1e3, 1e4, 1e5, 1e6].map((rate) => planCapacity(rate, average, assumed));
  const { decision, start, quartiles, finish, delivery, ad } = costs;
  return [
    `Measured ${measured.date} on ${measured.machine}.`,
    renderTable(
      ['', 'service CPU, µs', 'PostgreSQL CPU, µs', 'stored, bytes', 'WAL, bytes'],
      [
        ['decision', ...roundCosts(decision)],
        ['request with the start event', ...roundCosts(start)],
        ['request with three quartiles', ...roundCosts(quartiles)],
        ['request with impression, completion and reward', ...roundCosts(finish)],
        ['webhook delivery', ...roundCosts(delivery)],
        ['**whole ad, measured as one**', ...roundCosts(ad)],
        ['average ad, calculated', ...roundCosts(average)],
      ],
    ),
    renderTable(
      [
        'decisions/s',
        'requests/s',
        'processes',
        'PostgreSQL cores',
        'servers',
        'WAL, MB/s',
        `stored, TB (${assumed.keptDays} days)`,
        '$ per month',
      ],
      plans.map(({ rate, processes, cores, servers, logMbS, storedTb, monthly }) => [
        rate,
        Math.round(rate * average.requests),
        processes,
        cores,
        servers,
        Math.round(logMbS * 10) / 10,
        Math.round(storedTb * 10) / 10,
        Math.round(monthly / 100) * 100,
      ]),
    ),
    renderTable(
      [
        'decisions/s per server',
        'processes',
        'PostgreSQL cores',
        'p50, ms',
        'p99, ms',
        'rows per commit',
        'keeps up',
      ],
      [0.5, 1, 1.5, 2].map((share) => simulateServer(share, average, assumed)),
    ),
  ].join('\n\n');
}

/**
 * Simulates one server at a multiple (`share`) of its planned rate.
 *
 * @param {number} share
 * @param {import('./lib/capacity-model.mjs').AdCost} ad
 * @param {import('./lib/capacity-model.mjs').Assumptions} assumed
 */
function simulateServer(share, ad, assumed) {
  const { serverCores, serverLogMbS, busy } = assumed;
  const plannedRate = Math.min(
    (serverCores * busy * 1e6) / ad.databaseUs,
    (serverLogMbS * 1e6) / ad.loggedBytes,
  );
  const { processes } = planCapacity(plannedRate, ad, assumed);
  const rate = plannedRate * share;
  const { p50, p99, batch, canKeepUp } = simulate(
    {
      rate: rate * ad.requests,
      processes,
      cores: serverCores,
      serviceUs: ad.serviceUs / ad.requests,
      databaseUs: ad.databaseUs / ad.requests,
      transactionUs: 100,
      syncMs: 1,
      seconds: 2,
    },
    createRandom(1),
  );
  const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  return [
    Math.round(rate),
    processes,
    serverCores,
    round(p50),
    round(p99),
    round(batch),
    canKeepUp ? 'yes' : '**no**',
  ];
}

/** @param {import('./lib/capacity-model.mjs').Cost} cost */
function roundCosts({ serviceUs, databaseUs, storedBytes, loggedBytes }) {
  return [serviceUs, databaseUs, storedBytes, loggedBytes].map(Math.round);
}

/**
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 */
function renderTable(head, rows) {
  const format = (/** @type {string | number} */ cell) =>
    typeof cell === 'number' ? cell.toLocaleString('en') : cell;
  return [head, head.map(() => '---'), ...rows.map((row) => row.map(format))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** @param {string} path */
function readProjectFile(path) {
  return readFileSync(join(root, path), 'utf8');
}

/** @param {string} tables */
function writeGuide(tables) {
  const guide = readProjectFile('docs/scale.md');
  const [before = ''] = guide.split(startMark);
  const [, after = ''] = guide.split(endMark);
  writeFileSync(
    join(root, 'docs/scale.md'),
    `${before}${startMark}\n\n${tables}\n\n${endMark}${after}`,
  );
}
