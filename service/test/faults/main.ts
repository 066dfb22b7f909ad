/** `npm run faults:service [-- <fault>…]`: injects faults one after another under load. */
import { parseArgs } from 'node:util';
import { faults } from './faults.ts';
import { injectFaults } from './run-faults.ts';
import { printFindings } from './verify.ts';

const names = Object.keys(faults) as (keyof typeof faults)[];
const { values, positionals: requestedNames } = parseArgs({
  options: { help: { type: 'boolean', default: false } },
  allowPositionals: true,
});
if (values.help) {
  console.log(`npm run faults:service [-- <fault>…]

Injects each fault, or only the ones you name, under load on a private PostgreSQL server, and compares the database and
the received webhooks with what the service acknowledged. Faults: ${names.join(', ')}.`);
  process.exit();
}
const unknownName = requestedNames.find((name) => !names.some((knownName) => knownName === name));
if (unknownName !== undefined)
  throw new Error(`Unknown fault: ${unknownName}. Expected one of ${names.join(', ')}.`);
const report = await injectFaults({
  players: 64,
  faults: names
    .filter((name) => requestedNames.length === 0 || requestedNames.includes(name))
    .map((name) => faults[name]),
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
