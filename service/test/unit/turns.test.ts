import { expect, test } from 'vitest';
import { createTurns, type Priority } from '../../src/store/pglite/turns.ts';

/** Queues work while another piece of work runs, and returns the order in which it is then done. */
async function run(
  work: readonly [priority: Priority, name: string][],
  { waitMs = 0 } = {},
): Promise<string[]> {
  let nowMs = 0;
  const turns = createTurns(() => nowMs);
  const order: string[] = [];
  let finishFirst: () => void = () => undefined;
  const first = turns.take(
    'background',
    () => new Promise<void>((resolve) => (finishFirst = resolve)),
  );
  await Promise.resolve();
  const all = work.map(([priority, name]) =>
    turns.take(priority, () => {
      order.push(name);
      return Promise.resolve();
    }),
  );
  nowMs += waitMs;
  finishFirst();
  await Promise.all([first, ...all]);
  return order;
}

const queued = [
  ['background', 'fold'],
  ['reads', 'list'],
  ['reads', 'report'],
  ['serving', 'decision'],
  ['serving', 'event'],
] as const satisfies [Priority, string][];

test('ads come first, then what operators read, then maintenance', async () => {
  expect(await run(queued)).toEqual(['decision', 'event', 'list', 'report', 'fold']);
});

test('what has waited for a second gets every other turn', async () => {
  expect(await run(queued, { waitMs: 1_000 })).toEqual([
    'list',
    'decision',
    'report',
    'event',
    'fold',
  ]);
});

test('a failure passes the turn on', async () => {
  const turns = createTurns(() => 0);
  const failed = turns.take('serving', () => Promise.reject(new Error('full')));
  const next = turns.take('reads', () => Promise.resolve('read'));
  await expect(failed).rejects.toThrow('full');
  expect(await next).toBe('read');
});
