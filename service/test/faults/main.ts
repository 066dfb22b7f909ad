/** `npm run faults:service [-- <fault>…]`: injects faults one after another under load. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { faults } from './faults.ts';
import { injectFaults } from './run-faults.ts';
import { printFindings } from './verify.ts';

const names = Object.keys(faults) as (keyof typeof faults)[];
const { fault: selectedNames } = readOptions({
  name: 'faults:service',
  about: `Injects each fault, or only the ones you name, under load on a private PostgreSQL server, and compares the database
and the received webhooks with what the service acknowledged.`,
  options: { fault: { type: 'name', names, argument: true, several: true, help: 'the faults' } },
});
const report = await injectFaults({
  players: 64,
  faults: selectedNames.map((name) => faults[name]),
  onFault: (text) => console.log(text),
});
if (report === undefined) {
  console.log('PostgreSQL is not installed.');
  process.exitCode = 1;
} else {
  const { lost, duplicated, undelivered, inconsistent, wallets, unexpectedResponses, ...counts } =
    report;
  console.log(counts);
  printFindings({ lost, duplicated, undelivered, inconsistent, wallets, unexpectedResponses });
}
