import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstIdAt } from '../../src/platform/ids.ts';
import type { Queries } from '../../src/store/database.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';
import { createPanelClient, signInOwner } from './panel-client.ts';

/** Rows of each kind in the live environment. */
const rows = 20_000;
/** How many pages a list may read. Each of the tables has more of them, and what counts or searches rows has a limit. */
const maxPages = { sandbox: 150, live: 600 };

type Explained = { 'QUERY PLAN': [{ Plan: Record<string, number> }] };

// A list costs what it returns, not what is stored.
describe.runIf(hasPostgres)('with 20,000 rows of each kind', () => {
  let running: InProcessService;
  let webhookId = '';
  let panels: Record<'sandbox' | 'live', ReturnType<typeof createPanelClient>>;
  beforeAll(async () => {
    running = await startInProcess({
      RATE_LIMITS: 'off',
      DATABASE_URL: await createPostgresDatabase(),
    });
    const sandbox = await signInOwner(running);
    const live = createPanelClient(running.url, 'live');
    await live.signIn('owner@example.com');
    panels = { sandbox, live };
    const body = { url: 'https://r.example/', events: ['creative.review_updated'] };
    for (const environment of ['sandbox', 'live'] as const) {
      const client = createClient(running, environment);
      webhookId = (await client.manage<{ id: string }>('POST', '/v1/webhooks', body)).id;
    }
    await addRows();
  });
  afterAll(() => running?.stop());

  /** Adds events, waiting deliveries that have not been tried, audit records, and decisions without an ad. */
  async function addRows(): Promise<void> {
    const { database } = running.service;
    const time = firstIdAt('decision', running.clock.nowMs() - 3_600_000).slice(4, 14);
    const numbered = `numbers AS (
      SELECT $1 || lpad(n::text, 16, '0') AS id, w.account_id FROM generate_series(1, ${rows}) AS n
        CROSS JOIN (SELECT account_id FROM resources WHERE id = $2) AS w)`;
    const statements = [
      `INSERT INTO webhook_events (account_id, id, environment, type, body, created_at)
        SELECT account_id, 'evt_' || id, 'live', 'decision.rewarded', repeat('x', 200), now() FROM numbers`,
      `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
        SELECT account_id, 'del_' || id, 'live', 'evt_' || id, $2, 0, now() + interval '1 day', now() FROM numbers`,
      `INSERT INTO audit_entries (account_id, id, environment, actor, action, target_id, after, created_at)
        SELECT account_id, 'aud_' || id, 'live', 'key_1', 'placement.updated', 'plc_1', to_jsonb(repeat(id, 8)), now() FROM numbers`,
      `INSERT INTO decisions (account_id, id, environment, status, reason, placement, format, issued_at, expires_at, late_at, reward_state)
        SELECT account_id, 'dec_' || id, 'live', 'no_fill', 'no_candidates', 'revive', 'rewarded', now(), now(), now(), 'none' FROM numbers`,
    ];
    for (const statement of statements)
      await database.query(`WITH ${numbered} ${statement}`, [time, webhookId]);
    await database.query('ANALYZE');
  }

  /** Returns how many pages the reads of a request read. */
  async function countPages(environment: 'sandbox' | 'live', path: string): Promise<number> {
    const reads = running.service.database.reads as Queries;
    const { query } = reads;
    let pages = 0;
    reads.query = async <T>(text: string, params?: readonly unknown[]) => {
      const [row] = await query.call(
        reads,
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        params,
      );
      const plan = (row as Explained)['QUERY PLAN'][0].Plan;
      pages += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
      return (await query.call(reads, text, params)) as T[];
    };
    const { status } = await panels[environment].send('GET', path.replace(':id', webhookId));
    reads.query = query;
    expect([path, status]).toEqual([
      path,
      path.includes(webhookId) && environment === 'sandbox' ? 404 : 200,
    ]);
    return pages;
  }

  const lists = [
    '/v1/webhook-events?type=policy.blocked',
    '/v1/webhook-health',
    '/v1/mistakes',
    '/v1/jobs',
    '/v1/keys',
    '/v1/audit-entries',
    '/v1/audit-entries?target_id=plc_2',
    '/v1/audit-entries?to=2020-01-01T00:00:00Z',
    '/panel/api/decisions',
    '/panel/api/decisions?player=nobody',
    '/panel/api/decisions?to=2020-01-01T00:00:00Z',
    '/panel/api/users',
  ];
  test.each(lists)('%s', async (path) => {
    for (const environment of ['sandbox', 'live'] as const)
      expect(await countPages(environment, path), environment).toBeLessThanOrEqual(
        maxPages[environment],
      );
  });
  test.each(['', '?state=failed', '?state=pending', '?state=delivered'])(
    'deliveries%s',
    async (query) => {
      expect(await countPages('live', `/v1/webhooks/:id/deliveries${query}`)).toBeLessThanOrEqual(
        maxPages.live,
      );
    },
  );
});
