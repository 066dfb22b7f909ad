import { expect, test } from 'vitest';
import { startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { openLiveTail } from './live-tail-client.ts';
import { signInOwner } from './panel-client.ts';

test.skipIf(!hasPostgres)('a live tail shows events from all processes', async () => {
  const env = { DATABASE_URL: await createPostgresDatabase(), RATE_LIMITS: 'off' };
  // Like separate processes, these services share only the database and the key folder.
  const firstService = await startInProcess(env);
  const { dataDirectory } = firstService.config;
  const services = [firstService, await startInProcess(env, { dataDirectory })];
  try {
    const urls = services.map(({ url }) => url);
    const [localClient, remoteClient] = services.map((service) => createClient(service));
    if (!localClient || !remoteClient) throw new Error('Expected two services.');
    const owner = await signInOwner(firstService);
    // This event occurs before any live tail is open, so it is not shown.
    await remoteClient.decideImage('before');

    const tail = await openLiveTail(urls[0] ?? '', owner.cookie());
    await tail.readMore();
    const remoteDecision = await remoteClient.decideImage('player');
    await remoteClient.reportStart(remoteDecision);
    await remoteClient.report({ id: 'broken' });
    const events = await tail.waitForEvents(3);
    expect(events).toMatchObject([
      {
        event: 'decision',
        data: { id: remoteDecision.id, status: 'filled', placement: 'revive' },
      },
      {
        event: 'event',
        data: { type: 'start', decision_id: remoteDecision.id, status: 'accepted' },
      },
      { event: 'event', data: { id: 'broken', status: 'rejected', code: 'invalid_event' } },
    ]);
    const decision = await localClient.decideImage('player');
    expect((await tail.waitForEvents(4)).at(-1)?.data).toMatchObject({ id: decision.id });
    // A second tail shows only new events. Closing it does not affect the first tail.
    const secondTail = await openLiveTail(urls[0] ?? '', owner.cookie());
    await secondTail.readMore();
    const newDecision = await remoteClient.decideImage('player');
    expect((await secondTail.waitForEvents(1)).map(({ data }) => data['id'])).toEqual([
      newDecision.id,
    ]);
    await secondTail.close();
    const lastDecision = await remoteClient.decideImage('player');
    expect((await tail.waitForEvents(6)).slice(4).map(({ data }) => data['id'])).toEqual([
      newDecision.id,
      lastDecision.id,
    ]);
    await tail.close();
  } finally {
    for (const service of services.toReversed()) await service.stop();
  }
});
