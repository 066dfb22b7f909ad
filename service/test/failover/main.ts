/** `npm run failover:service [-- <failure>…]`: injects failures into a PostgreSQL cluster under load. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { printFindings } from '../faults/verify.ts';
import type { Interruption } from './canary.ts';
import { failures } from './failures.ts';
import { findMissingPrograms, readVersions } from './patroni.ts';
import { type FailureResult, runFailures } from './run-failures.ts';

const names = Object.keys(failures) as (keyof typeof failures)[];
const {
  failure: selectedNames,
  minutes,
  players,
} = readOptions({
  name: 'failover:service',
  about: `Runs three PostgreSQL servers with synchronous replication under Patroni, configured as in deploy/high-availability, and
two service processes under load: one connects through HAProxy, and the other's database URL lists all three servers.
Injects each failure, or only the ones you name, and compares the database and the received webhooks with what the
service acknowledged. Running all of them takes about six minutes.
FAILOVER_LOG=1 also shows the logs of Patroni, PostgreSQL, etcd and HAProxy.`,
  options: {
    failure: { type: 'name', names, argument: true, several: true, help: 'the failures' },
    minutes: {
      type: 'number',
      least: 0,
      default: 0,
      help: 'keeps injecting failures in random order until the run has lasted at least this long',
    },
    players: { type: 'whole', default: 32, help: 'concurrent players' },
  },
});
const missingPrograms = findMissingPrograms();
if (missingPrograms.length > 0) {
  console.log(
    `skipped: ${missingPrograms.join(', ')} ${missingPrograms.length === 1 ? 'is' : 'are'} not installed`,
  );
  process.exit();
}

const pickRandomName = () => selectedNames[Math.floor(Math.random() * selectedNames.length)];
const queue = [...selectedNames];
const describe = (
  { recoveredMs, rejected, withoutResponse, slow, slowestMs }: Interruption,
  route: string,
): string =>
  recoveredMs === undefined
    ? `  ${route}: has not recovered`
    : `  ${route}: recovered after ${(recoveredMs / 1_000).toFixed(1)} s; ${rejected} rejected, ${withoutResponse} without a response, ${slow} slow; slowest ${slowestMs} ms`;
const print = ({ name, proxy, hosts }: FailureResult): void =>
  console.log([name, describe(proxy, 'HAProxy'), describe(hosts, 'several hosts')].join('\n'));

console.log(readVersions());
const { lost, duplicated, undelivered, inconsistent, wallets, unexpectedResponses, ...report } =
  await runFailures({
    players,
    next(elapsedMinutes) {
      const name = queue.shift() ?? (elapsedMinutes < minutes ? pickRandomName() : undefined);
      return name && failures[name];
    },
    onFailure: print,
  });
const { decisions, events, rewards, walletChanges } = report;
console.log(
  `acknowledged: ${decisions} decisions, ${events} events, ${rewards} rewards, ${walletChanges} changes to wallets`,
);
printFindings({ lost, duplicated, undelivered, inconsistent, wallets, unexpectedResponses });
const unrecoveredFailures = report.failures.filter(
  ({ proxy, hosts }) => proxy.recoveredMs === undefined || hosts.recoveredMs === undefined,
);
if (unrecoveredFailures.length > 0) process.exitCode = 1;
