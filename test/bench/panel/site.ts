import { createClient } from '../../../service/test/http/client.ts';
import { createPanelClient, type PanelClient } from '../../../service/test/http/panel-client.ts';
import type { RunningService } from '../../../service/test/start-service.ts';
import type { Store } from '../history/stores.ts';
import { addRows, type Counts } from './fill.ts';

const email = 'owner@example.com';

/** The objects whose own pages are measured. */
export type Ids = Record<
  | 'webhook'
  | 'player'
  | 'decision'
  | 'placement'
  | 'houseAd'
  | 'creative'
  | 'advertiser'
  | 'source'
  | 'policy'
  | 'adRule'
  | 'key'
  | 'user',
  string
>;

/** A service with many objects of each kind, and an owner who is signed in. */
export interface FilledSite {
  service: RunningService;
  owner: PanelClient;
  ids: Ids;
}

/** Makes one object of each kind with the API, copies them while the service is stopped, and starts it again. */
export async function openFilledSite(store: Store, counts: Counts): Promise<FilledSite> {
  const first = await store.startService();
  const token = new URL(first.setupUrl ?? '').hash.replace('#/setup?token=', '');
  const firstOwner = createPanelClient(first.url);
  await firstOwner.setUp(token, email);
  const ids = await createObjects(first, firstOwner);
  await first.stop();

  const database = await store.open();
  const [account] = await database.query<{ id: string }>(
    `SELECT account_id AS id FROM accounts WHERE name = 'Demo'`,
  );
  const startedAtMs = performance.now();
  const owner = { accountId: account?.id ?? '', webhookId: ids.webhook, decisionId: ids.decision };
  await addRows(database, owner, counts);
  await database.close();
  const seconds = (performance.now() - startedAtMs) / 1_000;
  console.log(`${store.name}: filled in ${seconds.toFixed(0)} s`);

  const service = await store.startService();
  const signedIn = createPanelClient(service.url);
  await signedIn.signIn(email);
  return { service, owner: signedIn, ids };
}

async function createObjects(service: RunningService, owner: PanelClient): Promise<Ids> {
  const game = createClient(service);
  const create = async (path: string, body: object): Promise<string> => {
    const response = await owner.send<{ id: string }>('POST', path, body);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
    return response.body.id;
  };
  const readFirst = async (path: string): Promise<string> =>
    (await owner.send<{ data: { id: string }[] }>('GET', path)).body.data[0]?.id ?? '';
  const webhook = await create('/v1/webhooks', {
    url: 'http://127.0.0.1:9/',
    events: ['decision.served'],
  });
  const policy = await create('/v1/policies', {
    name: 'P',
    kind: 'policy',
    block: { domains: ['x.example'] },
  });
  const adRule = await create('/v1/ad-rules', { formats: ['banner'], max_per_day: 100 });
  await create('/v1/kill-switches', { scope: 'placement', target_id: 'lobby', state: 'on' });
  const decision = await game.decideImage('player');
  await game.reportStart(decision);
  await game.report(game.createImpression(decision));
  const { body: guest } = await game.call<{ player_ref: string }>(
    'POST',
    '/v1/players',
    game.publishable,
  );
  await owner.send('PUT', '/v1/grant-budgets/coins', { amount: 100 });
  await create(`/v1/wallets/${guest.player_ref}/grants`, {
    type: 'coins',
    amount: 5,
    reason: 'a test',
  });
  return {
    webhook,
    policy,
    adRule,
    player: guest.player_ref,
    decision: decision.id,
    placement: await readFirst('/v1/placements'),
    houseAd: await readFirst('/v1/house-ads'),
    creative: await readFirst('/v1/creatives'),
    advertiser: await readFirst('/v1/advertisers'),
    source: await readFirst('/v1/sources'),
    key: await readFirst('/v1/keys'),
    user: await readFirst('/panel/api/users'),
  };
}
