import { expect, test } from 'vitest';
import { startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { openLiveTail } from './live-tail-client.ts';
import { signInOwner } from './panel-client.ts';

test.skipIf(!hasPostgres)(
  'the live tail of one process shows the events of all processes',
  async () => {
    const env = { DATABASE_URL: await createPostgresDatabase(), RATE_LIMITS: 'off' };
    // Like separate processes, the services share only the database, and the folder with the keys.
    const first = await startInProcess(env);
    const { dataDirectory } = first.config;
    const services = [first, await startInProcess(env, { dataDirectory })];
    try {
      const urls = services.map(({ url }) => url);
      const [local, remote] = services.map((each) => createClient(each));
      if (!local || !remote) throw new Error('Expected two services.');
      const owner = await signInOwner(first);
      // This event is not shown, because nobody was watching when it occurred.
      await remote.decideImage('before');

      const tail = await openLiveTail(urls[0] ?? '', owner.cookie());
      await tail.readMore();
      const elsewhere = await remote.decideImage('player');
      await remote.begin(elsewhere);
      await remote.report({ id: 'broken' });
      const lines = await tail.lines(3);
      expect(lines).toMatchObject([
        { event: 'decision', data: { id: elsewhere.id, status: 'filled', placement: 'revive' } },
        {
          event: 'event',
          data: { type: 'start', decision_id: elsewhere.id, status: 'accepted' },
        },
        { event: 'event', data: { id: 'broken', status: 'rejected', code: 'invalid_event' } },
      ]);
      const decision = await local.decideImage('player');
      expect((await tail.lines(4)).at(-1)?.data).toMatchObject({ id: decision.id });
      // A second tail starts with new events, and the first one continues after the second is closed.
      const second = await openLiveTail(urls[0] ?? '', owner.cookie());
      await second.readMore();
      const next = await remote.decideImage('player');
      expect((await second.lines(1)).map(({ data }) => data['id'])).toEqual([next.id]);
      await second.close();
      const last = await remote.decideImage('player');
      expect((await tail.lines(6)).slice(4).map(({ data }) => data['id'])).toEqual([
        next.id,
        last.id,
      ]);
      await tail.close();
    } finally {
      for (const each of services.toReversed()) await each.stop();
    }
  },
);
