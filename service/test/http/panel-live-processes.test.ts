import { expect, test } from 'vitest';
import { startCluster } from '../faults/cluster.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { openLiveTail } from './live-tail-client.ts';
import { createPanelClient } from './panel-client.ts';

test.skipIf(!hasPostgres)(
  'the live tail of one process shows what all of them record',
  async () => {
    const cluster = await startCluster({
      databaseUrl: await createPostgresDatabase(),
      processes: 2,
    });
    try {
      const { keys, urls } = cluster;
      const [here, there] = urls.map((url) => createClient({ url, keys }));
      const owner = createPanelClient(urls[0] ?? '');
      if (!here || !there) throw new Error('Two were started.');
      const token = new URL(cluster.service(0).setupUrl ?? '').hash.replace('#/setup?token=', '');
      await owner.setUp(token, 'owner@example.com');
      // Of before the tail was opened, nothing is shown; and the other process knows that nobody looks.
      await there.decideImage('before');

      const tail = await openLiveTail(urls[0] ?? '', owner.cookie());
      await tail.more();
      const elsewhere = await there.decideImage('player');
      await there.begin(elsewhere);
      await there.report({ id: 'broken' });
      const lines = await tail.lines(3);
      expect(lines).toMatchObject([
        { event: 'decision', data: { id: elsewhere.id, status: 'filled', placement: 'revive' } },
        {
          event: 'event',
          data: { type: 'start', decision_id: elsewhere.id, status: 'accepted' },
        },
        { event: 'event', data: { id: 'broken', status: 'rejected', code: 'invalid_event' } },
      ]);
      const own = await here.decideImage('player');
      expect((await tail.lines(4)).at(-1)?.data).toMatchObject({ id: own.id });
      // A second page here begins with what comes, and the first one goes on alone when it leaves.
      const second = await openLiveTail(urls[0] ?? '', owner.cookie());
      await second.more();
      const next = await there.decideImage('player');
      expect((await second.lines(1)).map(({ data }) => data['id'])).toEqual([next.id]);
      await second.close();
      const last = await there.decideImage('player');
      expect((await tail.lines(6)).slice(4).map(({ data }) => data['id'])).toEqual([
        next.id,
        last.id,
      ]);
      await tail.close();
    } finally {
      await cluster.stop();
    }
  },
);
