/**
 * `npm run capacity`: what 1,000 to 1,000,000 decisions a second take, reckoned from what
 * docs/benchmarks/service/costs.json has, and simulated where it cannot be run.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { assumptions, costOfAd, plan } from './lib/capacity-model.mjs';
import { createRandom, simulate } from './lib/capacity-simulation.mjs';
import { root } from './lib/run.mjs';

const [beginning, end] = ['<!-- capacity -->', '<!-- /capacity -->'];

const options = Object.fromEntries(
  Object.keys(assumptions).map((name) => [name, { type: /** @type {const} */ ('string') }]),
);
const { values } = parseArgs({
  options: { ...options, write: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help === true) {
  console.log(`npm run capacity [-- --write] [-- --<assumption> <number>…]

Prints the tables of docs/scale.md; --write puts them there. Assumptions:
${Object.entries(assumptions)
  .map(([name, value]) => `  --${name} (${value})`)
  .join('\n')}`);
} else {
  const given = Object.entries(values).filter(([name]) => name in assumptions);
  const assumed = {
    ...assumptions,
    ...Object.fromEntries(given.map(([name, value]) => [name, Number(value)])),
  };
  const tables = reckon(assumed);
  if (values.write === true) putIntoGuide(tables);
  else console.log(tables);
}

/** @param {import('./lib/capacity-model.mjs').Assumptions} assumed */
function reckon(assumed) {
  /** @type {{ measured: { date: string, processors: string, load: number }, costs: import('./lib/capacity-model.mjs').Costs }} */
  const { measured, costs } = JSON.parse(read('docs/benchmarks/service/costs.json'));
  const ad = costOfAd(costs, assumed);
  const plans = [1e3, 1e4, 1e5, 1e6].map((rate) => plan(rate, ad, assumed));
  return [
    `Measured ${measured.date} on ${measured.processors}; the load of the machine was ${measured.load}. Above 2, others were at work, and processor times are too high.`,
    table(
      ['', 'service, µs', 'PostgreSQL, µs', 'stored, bytes', 'logged, bytes'],
      [
        ...Object.entries(costs).map(([name, cost]) => [named(name), ...numbers(cost)]),
        ['**a decision with all that follows**', ...numbers(ad)],
      ],
    ),
    table(
      [
        'decisions/s',
        'requests/s',
        'processes',
        'cores of PostgreSQL',
        'servers',
        'its log, MB/s',
        `kept, TB (${assumed.keptDays} days)`,
        'a month, $',
      ],
      plans.map(({ rate, processes, cores, servers, logMbS, storedTb, monthly }) => [
        rate,
        Math.round(rate * ad.requests),
        processes,
        cores,
        servers,
        Math.round(logMbS * 10) / 10,
        Math.round(storedTb * 10) / 10,
        Math.round(monthly / 100) * 100,
      ]),
    ),
    table(
      [
        'decisions/s of one server',
        'processes',
        'its cores',
        'p50, ms',
        'p99, ms',
        'rows per commit',
        'keeps up',
      ],
      [0.5, 1, 1.5, 2].map((share) => simulateServer(share, ad, assumed)),
    ),
  ].join('\n\n');
}

/**
 * One server at a share of the rate that it is planned for.
 *
 * @param {number} share
 * @param {import('./lib/capacity-model.mjs').AdCost} ad
 * @param {import('./lib/capacity-model.mjs').Assumptions} assumed
 */
function simulateServer(share, ad, assumed) {
  const { serverCores, serverLogMbS, busy } = assumed;
  const planned = Math.min(
    (serverCores * busy * 1e6) / ad.databaseUs,
    (serverLogMbS * 1e6) / ad.loggedBytes,
  );
  const { processes } = plan(planned, ad, assumed);
  const rate = planned * share;
  const { p50, p99, batch, kept } = simulate(
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
  const tenth = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  return [
    Math.round(rate),
    processes,
    serverCores,
    tenth(p50),
    tenth(p99),
    tenth(batch),
    kept ? 'yes' : '**no**',
  ];
}

/** @param {import('./lib/capacity-model.mjs').Cost} cost */
function numbers({ serviceUs, databaseUs, storedBytes, loggedBytes }) {
  return [serviceUs, databaseUs, storedBytes, loggedBytes].map(Math.round);
}

/** @param {string} name */
function named(name) {
  return (
    {
      decision: 'a decision',
      start: 'a request with the start',
      quartiles: 'a request with three quartiles',
      finish: 'a request with impression and completion, and the reward',
      delivery: 'a webhook delivery',
    }[name] ?? name
  );
}

/**
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 */
function table(head, rows) {
  const format = (/** @type {string | number} */ cell) =>
    typeof cell === 'number' ? cell.toLocaleString('en') : cell;
  return [head, head.map(() => '---'), ...rows.map((row) => row.map(format))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** @param {string} path */
function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

/** @param {string} tables */
function putIntoGuide(tables) {
  const guide = read('docs/scale.md');
  const [before = ''] = guide.split(beginning);
  const [, after = ''] = guide.split(end);
  writeFileSync(
    join(root, 'docs/scale.md'),
    `${before}${beginning}\n\n${tables}\n\n${end}${after}`,
  );
}
