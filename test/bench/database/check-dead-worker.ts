/**
 * Part of `npm run test:database -- --kill-worker`. Checks how the failure of one worker affects the accounts on a Citus
 * cluster. The argument is the cluster's URL.
 */
import { killWorker } from './dead-worker.ts';
import { openSide } from './side.ts';

const side = await openSide(`cluster=${process.argv[2]}`);
try {
  // Creates the tables.
  await (await side.start(side.urls[0] ?? '')).stop();
  const rows = await killWorker(side, 5_000);
  console.log(rows);
  const otherRow = rows.find(({ account }) => account === 'on another worker');
  reportCheck(
    'the account on another worker received every requested decision',
    otherRow !== undefined && otherRow.requests > 0 && otherRow.succeeded === otherRow.requests,
  );
  reportCheck(
    'no decision acknowledged before or after the kill was lost',
    rows.every(({ acknowledged, stored }) => acknowledged > 0 && stored === acknowledged),
  );
} finally {
  await side.stop();
}

function reportCheck(name: string, passed: boolean): void {
  console.log(`${passed ? 'ok     ' : 'FAILED '} ${name}`);
  if (!passed) process.exitCode = 1;
}
