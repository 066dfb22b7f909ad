import { createHook } from 'node:async_hooks';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';

const serviceSource = /\/service\/src\/\S+/;

/** Watches the timers that the service sets from now on, including those that don't keep the process alive. */
function watchTimers(): () => string[] {
  const timers = new Map<number, string>();
  const hook = createHook({
    init(id, type) {
      if (type !== 'Timeout' && type !== 'Immediate') return;
      const frames = (new Error(type).stack ?? '').split('\n').slice(2);
      const caller = frames.find((frame) => !/node:(internal|timers)/.test(frame)) ?? '';
      const [place] = serviceSource.exec(caller) ?? [];
      if (place !== undefined) timers.set(id, place);
    },
    destroy: (id) => void timers.delete(id),
  }).enable();
  onTestFinished(() => void hook.disable());
  return () => [...timers.values()];
}

test('after stop(), nothing of the service runs, and another call is harmless', async () => {
  const listTimers = watchTimers();
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const running = await startInProcess({ RATE_LIMITS: 'off' }, { log });
  const client = createClient(running);
  // Can't be delivered, so it is tried again later.
  await client.call('POST', '/v1/webhooks', client.secret, {
    url: 'http://127.0.0.1:9/',
    events: ['decision.served'],
  });
  await client.call('POST', '/v1/sources', client.secret, {
    name: 'Network',
    kind: 'vast',
    tag_url: 'https://test-source.invalid/vast?outcome=no_bid',
    placements: ['revive'],
  });
  const decision = await client.decideImage('player-1');
  await client.report(client.createEvent(decision, 'start'));
  expect(listTimers()).not.toEqual([]);
  await running.stop();
  lines.length = 0;
  await running.service.stop();
  await new Promise((resolve) => setImmediate(resolve));
  expect(listTimers()).toEqual([]);
  expect(lines).toEqual([]);
});
