import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { openLiveTail } from './live-tail-client.ts';
import { createPanelClient, type PanelClient, signInOwner } from './panel-client.ts';

let running: InProcessService;
let game: Client;
let owner: PanelClient;
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  game = createClient(running);
  owner = await signInOwner(running);
});
afterAll(() => running.stop());

const watch = (cookie: string | undefined) => openLiveTail(running.url, cookie);

test('the live tail streams only sandbox events', async () => {
  const tail = await watch(owner.cookie());
  expect(tail.response.headers.get('content-type')).toContain('text/event-stream');
  await createClient(running, 'live').decide({ placement: 'lobby' });
  const decision = await game.decideImage('player');
  const rejected = await game.decide({
    placement: 'revive',
    user_ref: 'a-child',
    child_directed: true,
    simulate: 'no_fill',
  });
  await game.reportStart(decision);
  await game.report({ id: 'broken' });
  const lines = await tail.lines(4);
  await tail.close();
  expect(lines).toEqual([
    {
      event: 'decision',
      data: {
        id: decision.id,
        status: 'filled',
        placement: 'revive',
        issued_at: decision.issued_at,
      },
    },
    {
      event: 'decision',
      data: expect.objectContaining({ id: rejected.body.id, reason: 'no_candidates' }) as object,
    },
    {
      event: 'event',
      data: expect.objectContaining({
        type: 'start',
        decision_id: decision.id,
        status: 'accepted',
      }) as object,
    },
    { event: 'event', data: { id: 'broken', status: 'rejected', code: 'invalid_event' } },
  ]);
  expect(tail.text()).not.toContain(decision.token);
  expect(tail.text()).not.toContain('a-child');
});

test('the live tail ends with its session', async () => {
  expect((await watch(undefined)).response.status).toBe(401);
  const client = createPanelClient(running.url);
  await client.signIn('owner@example.com');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const tail = await watch(client.cookie());
  await tail.readMore();
  vi.advanceTimersByTime(15_000);
  await tail.readMore();
  expect(tail.text()).toMatch(/: \n\n$/);
  await client.send('DELETE', '/panel/api/session');
  vi.advanceTimersByTime(15_000);
  await tail.readToEnd();
  vi.useRealTimers();
});

test('an open live tail does not prevent the service from stopping', async () => {
  const other = await startInProcess({ RATE_LIMITS: 'off' });
  const client = await signInOwner(other);
  const response = await fetch(`${other.url}/panel/api/live`, {
    headers: { cookie: client.cookie() ?? '' },
  });
  const read = response.text();
  await other.stop();
  expect(await read).toBe(': connected\n\n');
});
