/** What a stored decision costs beside a bare echo of the same request. See the report that it writes. */
import { parseArgs } from 'node:util';
import { startPrivatePostgres } from '../../../service/test/private-postgres.ts';
import { type Contestant, startContestant, startEcho } from './contestants.ts';
import { measureGroupCommit } from './group-commit.ts';
import { type Results, writeReport } from './report.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
});
const rounds = Number(values.rounds);
const ms = Number(values.seconds) * 1_000;

const postgres = await startPrivatePostgres();
if (!postgres) console.log('There is no PostgreSQL on this machine: only the embedded store.');
const contestants: Contestant[] = [
  await startEcho(),
  ...(postgres ? [await startEcho(postgres.url), await startContestant(postgres.url)] : []),
  await startContestant(),
];
const results: Results = { rounds: [], groupCommit: {} };
try {
  // The compiler takes some ten thousand requests to be done with the code.
  for (const contestant of contestants) await contestant.measure(2 * ms);
  for (let round = 1; round <= rounds; round += 1) {
    const measured: Results['rounds'][number] = {};
    for (const contestant of contestants) {
      measured[contestant.name] = await contestant.measure(ms);
      console.log(`round ${round}: ${contestant.name}`, measured[contestant.name]);
    }
    results.rounds.push(measured);
  }
} finally {
  for (const contestant of contestants) await contestant.stop();
}
try {
  if (postgres) results.groupCommit.postgresql = await measureGroupCommit(postgres.url, 2, ms);
  results.groupCommit.embedded = await measureGroupCommit(undefined, 2, ms);
  console.log(results.groupCommit);
} finally {
  await postgres?.stop();
}
await writeReport(results, { rounds, seconds: ms / 1_000 });
console.log('Written: docs/benchmarks/service');
