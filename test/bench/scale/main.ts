/** The service on PostgreSQL with several processes and many rows. See the report that it writes. */
import { parseArgs } from 'node:util';
import { startPrivatePostgres } from '../../../service/test/private-postgres.ts';
import { decisions } from './decisions.ts';
import { dispatch } from './dispatch.ts';
import { events } from './events.ts';
import { growth } from './growth.ts';
import type { Found, Part } from './part.ts';
import { writeReport } from './report.ts';

const parts: Record<string, Part> = { decisions, events, growth, dispatch };
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '3' },
    rows: { type: 'string', default: '1000000' },
  },
});
const names = values.only ?? Object.keys(parts);
const unknown = names.find((name) => !(name in parts));
if (unknown !== undefined)
  throw new Error(`There is no part ${unknown}: ${Object.keys(parts).join(', ')}.`);

const postgres = await startPrivatePostgres();
if (!postgres) throw new Error('There is no PostgreSQL on this machine.');
const found: Record<string, Found> = {};
try {
  const options = { postgres, ms: Number(values.seconds) * 1_000, mostRows: Number(values.rows) };
  for (const name of names) {
    const part = parts[name];
    if (!part) continue;
    console.log(name);
    const one = await part(options);
    console.table(
      one.rows.map((row) => Object.fromEntries(row.map((cell, i) => [one.head[i], cell]))),
    );
    for (const { budget, measured, held } of one.verdicts)
      console.log(`${held ? 'held' : 'NOT HELD'}: ${budget}: ${measured}`);
    found[name] = one;
  }
} finally {
  await postgres.stop();
}
await writeReport(found);
console.log('Written: docs/benchmarks/service/scale.md');
