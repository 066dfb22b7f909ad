import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startJobs } from '../../src/history/start-jobs.ts';

/** Lets everything run that waits for nothing else. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('jobs are looked for once per call, and once more for calls that come meanwhile', async () => {
  let lookUps = 0;
  const jobs = startJobs({
    database: {
      query: async () => {
        lookUps += 1;
        return [];
      },
    },
    log: pino({ level: 'silent' }),
    tracing: { run: (_: unknown, work: () => Promise<void>) => work() },
  } as never);
  onTestFinished(() => jobs.stop());
  const counts: number[] = [];
  const count = async () => {
    await settle();
    await settle();
    counts.push(lookUps);
  };
  await count();
  jobs.wake();
  await count();
  jobs.wake();
  jobs.wake();
  jobs.wake();
  await count();
  await jobs.stop();
  jobs.wake();
  await count();
  expect(counts).toEqual([1, 2, 4, 4]);
});
