import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { signInOwner } from '../../../service/test/http/panel-client.ts';
import type { InProcessService } from '../../../service/test/in-process.ts';
import {
  describeLatencies,
  type Finding,
  measureDecisions,
  print,
  quantile,
  sleep,
} from './measure.ts';
import type { Upload } from './upload-files.ts';

const quietMs = 15_000;

/** Uploads the corpus through the panel, and measures decisions meanwhile. */
export async function benchMedia(running: InProcessService): Promise<Finding[]> {
  await signInOwner(running);
  const uploader = fork(fileURLToPath(new URL('./upload-files.ts', import.meta.url)), [
    running.url,
  ]);
  await once(uploader, 'message');
  await measureDecisions(running, sleep(3_000));
  const quiet = await measureDecisions(running, sleep(quietMs));
  uploader.send('start');
  const answer = once(uploader, 'message');
  const busy = await measureDecisions(running, answer);
  const [results] = (await answer) as [Upload[]];
  const slowest = results.toSorted((a, b) => b.ms - a.ms);
  const accepted = results.filter(({ status }) => status === 201).length;
  const failed = results.filter(({ status }) => status >= 500).length;
  print(
    `${results.length} hostile files were uploaded, ${accepted} of them accepted; the slowest:`,
  );
  for (const { name, ms, status } of slowest.slice(0, 8))
    print(`  ${(ms / 1_000).toFixed(2)} s, ${status}: ${name}`);
  print(`  decisions before: ${describeLatencies(quiet)}`);
  print(`  decisions meanwhile: ${describeLatencies(busy)}`);
  return [
    { name: 'slowest file', value: (slowest[0]?.ms ?? 0) / 1_000, unit: 's', bound: 5 },
    { name: 'files answered with 5xx', value: failed, unit: '', bound: 0 },
    {
      name: 'p99 of decisions during uploads',
      value: quantile(busy, 0.99) / quantile(quiet, 0.99),
      unit: '× quiet',
      bound: 1.5,
    },
  ];
}
