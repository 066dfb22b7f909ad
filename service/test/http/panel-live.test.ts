import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { openLiveTail } from './live-tail-client.ts';
import { createPanelClient, type PanelClient, signInOwner } from './panel-client.ts';

let runningService: InProcessService;
let game: Client;
let owner: PanelClient;
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  game = createClient(runningService);
  owner = await signInOwner(runningService);
});
afterAll(() => runningService.stop());

const openTail = (cookie: string | undefined) => openLiveTail(runningService.url, cookie);

test('the live tail streams only sandbox events', async () => {
  const tail = await openTail(owner.cookie());
  expect(tail.response.headers.get('content-type')).toContain('text/event-stream');
  await createClient(runningService, 'live').decide({ placement: 'lobby' });
  const decision = await game.decideImage('player');
  const unfilledDecision = await game.decide({
    placement: 'revive',
    user_ref: 'a-child',
    child_directed: true,
    simulate: 'no_fill',
  });
  await game.reportStart(decision);
  await game.report({ id: 'broken' });
  const events = await tail.waitForEvents(4);
  await tail.close();
  expect(events).toEqual([
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
      data: expect.objectContaining({
        id: unfilledDecision.body.id,
        reason: 'no_candidates',
      }) as object,
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

test('the live tail closes when its session ends', async () => {
  expect((await openTail(undefined)).response.status).toBe(401);
  const client = createPanelClient(runningService.url);
  await client.signIn('owner@example.com');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const tail = await openTail(client.cookie());
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
  const otherService = await startInProcess({ RATE_LIMITS: 'off' });
  const client = await signInOwner(otherService);
  const response = await fetch(`${otherService.url}/panel/api/live`, {
    headers: { cookie: client.cookie() ?? '' },
  });
  const body = response.text();
  await otherService.stop();
  expect(await body).toBe(': connected\n\n');
});
