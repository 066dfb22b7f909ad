import type { Source } from '../../../protocol/wire.ts';
import { findByName } from './objects.ts';
import type { PanelSite } from './panel-site.ts';

/** One object of each kind, by the resource's name, and some others. */
export type SiteIds = Record<string, string>;

/** Gives every page of a site something to show: traffic, and one object in each state that a page has words for. */
export async function fillSite({ owner, game }: PanelSite): Promise<SiteIds> {
  const create = async (path: string, body: object): Promise<string> => {
    const response = await owner.send<{ id: string }>('POST', path, body);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
    return response.body.id;
  };
  const readFirst = async (path: string): Promise<string> =>
    (await owner.send<{ data: { id: string }[] }>('GET', path)).body.data[0]?.id ?? '';

  const webhooks = await create('/v1/webhooks', {
    url: 'http://127.0.0.1:9/a/receiver/whose/address/is/longer/than/a/column',
    events: ['decision.served', 'decision.rewarded'],
  });
  const policies = await create('/v1/policies', {
    name: 'Children',
    kind: 'policy',
    when: { child_directed: true },
    block: { everything: true },
  });
  const adRules = await create('/v1/ad-rules', { formats: ['banner'], max_per_day: 100 });
  const network = await create('/v1/sources', {
    name: 'Network',
    kind: 'vast',
    tag_url: 'https://test-source.invalid/vast?outcome=no_bid',
    placements: ['revive'],
  });
  const ids: SiteIds = {
    webhooks,
    policies,
    'ad-rules': adRules,
    network,
    users: await readFirst('/panel/api/users'),
    keys: await readFirst('/v1/keys'),
    placements: await readFirst('/v1/placements'),
    'house-ads': await readFirst('/v1/house-ads'),
    creatives: await readFirst('/v1/creatives'),
    advertisers: await readFirst('/v1/advertisers'),
    sources: (await findByName<Source>(owner, '/v1/sources', 'House')).id,
  };

  const earned = await game.decideImage('player 7');
  await game.reportStart(earned);
  await game.report(game.createImpression(earned), game.createEvent(earned, 'click'));
  const denied = await game.decideImage('player 42');
  await game.reportStart(denied);
  await game.report(game.createEvent(denied, 'complete', { watched_ms: 5_200 }));
  await game.decide({ placement: 'level-end', user_ref: 'player 7', simulate: 'no_fill' });

  const { body: guest } = await game.call<{ player_ref: string }>(
    'POST',
    '/v1/players',
    game.publishable,
  );
  await owner.send('PUT', '/v1/grant-budgets/coins', { amount: 100 });
  await create(`/v1/wallets/${guest.player_ref}/grants`, {
    type: 'coins',
    amount: 5,
    reason: 'a lost purchase',
  });
  await create('/v1/kill-switches', {
    scope: 'placement',
    target_id: 'double-coins',
    state: 'on',
    reason: 'Coins are counted twice.',
  });
  // Changing the click-through URL puts a creative into the review queue.
  await owner.send('PATCH', `/v1/creatives/${ids['creatives']}`, {
    click_url: 'https://lobby.example/new',
  });
  return { ...ids, denied: denied.id, guest: guest.player_ref };
}
