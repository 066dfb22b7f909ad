import type { Locator, Page } from 'playwright';
import type { PanelSite } from './panel-site.ts';

/** Somebody who uses the panel with a mouse and a keyboard. */
export interface Visitor {
  page: Page;
  click(target: Locator): Promise<void>;
  type(field: Locator, text: string): Promise<void>;
  /** Returns a text on the page, once it is there. */
  read(target: Locator): Promise<string>;
}

interface Question {
  question: string;
  /** Finds the answer, beginning on the overview. */
  find(visitor: Visitor): Promise<string>;
  answer: RegExp;
  /** How many clicks that takes. */
  clicks: number;
}

const open = ({ page, click }: Visitor, name: string | RegExp): Promise<void> =>
  click(page.getByRole('menuitem', { name }));

const openLink = ({ page, click }: Visitor, name: string): Promise<void> =>
  click(page.getByRole('link', { name, exact: true }).first());

const row = (page: Page, text: string): Locator => page.getByRole('row').filter({ hasText: text });

async function findPlayer(visitor: Visitor, reference: string): Promise<void> {
  await open(visitor, 'Players');
  await visitor.type(visitor.page.getByRole('textbox', { name: 'Player reference' }), reference);
  await visitor.click(visitor.page.getByRole('button', { name: 'Find' }));
}

/** What a support person and an advertiser ask on an ordinary day. Each is answered with the panel alone. */
export const questions: readonly Question[] = [
  {
    question: 'How many views did the bakery get last week?',
    async find(visitor) {
      await open(visitor, 'Advertisers');
      await openLink(visitor, 'Bakery');
      const figures = visitor.page.getByRole('region', { name: 'Figures' });
      return visitor.read(
        figures.getByRole('term').filter({ hasText: 'Verified impressions' }).locator('+ dd'),
      );
    },
    answer: /^3$/,
    clicks: 2,
  },
  {
    question: 'Which house ad earned the most clicks?',
    async find(visitor) {
      const { page, click } = visitor;
      const top = page.getByRole('region', { name: 'Top' });
      await click(top.getByRole('combobox', { name: 'Of' }));
      await click(page.getByRole('option', { name: 'House ads' }));
      await click(top.getByRole('button', { name: 'Clicks' }));
      await top.locator('[aria-sort=descending]').filter({ hasText: 'Clicks' }).waitFor();
      return visitor.read(top.getByRole('row').nth(1));
    },
    answer: /^Bakery roll33?\d*2/,
    clicks: 3,
  },
  {
    question: 'Player 42 got no coins: why?',
    async find(visitor) {
      await findPlayer(visitor, 'player 42');
      return visitor.read(row(visitor.page, 'denied'));
    },
    answer: /There was not enough time to watch the ad/,
    clicks: 3,
  },
  {
    question: 'Which ad did player 42 see?',
    async find(visitor) {
      await findPlayer(visitor, 'player 42');
      await visitor.click(row(visitor.page, 'denied').getByRole('link', { name: /^dec_/ }));
      return visitor.read(visitor.page.getByRole('heading', { name: /^Ad: / }));
    },
    answer: /^Ad: Harbour$/,
    clicks: 4,
  },
  {
    question: 'Did our server hear of what player 7 watched?',
    async find(visitor) {
      await findPlayer(visitor, 'player 7');
      await visitor.click(row(visitor.page, 'impression').getByRole('link', { name: /^dec_/ }));
      return visitor.read(visitor.page.getByRole('region', { name: 'Webhook deliveries' }));
    },
    answer: /pending.*Impression verified.*\d attempt/s,
    clicks: 4,
  },
  {
    question: 'Is my webhook alive?',
    async find(visitor) {
      await open(visitor, 'Webhooks');
      await visitor.click(visitor.page.getByRole('link', { name: /^http/ }));
      return visitor.read(visitor.page.getByRole('alert').filter({ hasText: 'Failing since' }));
    },
    answer: /Failing since .*\d failed attempts?, last: .*next attempt/s,
    clicks: 2,
  },
  {
    question: 'Why is the lantern’s ad not shown?',
    async find(visitor) {
      await open(visitor, 'House ads');
      await openLink(visitor, 'Lantern');
      return visitor.read(visitor.page.getByRole('alert').filter({ hasText: 'is not served' }));
    },
    answer: /Its creative is waiting for review/,
    clicks: 2,
  },
  {
    question: 'Who stopped double-coins, why, and until when?',
    async find(visitor) {
      await open(visitor, 'Kill switches');
      return visitor.read(visitor.page.getByRole('listitem').filter({ hasText: /^double-coins/ }));
    },
    answer: /stopped on .* by owner@example\.com, until .*: Coins are counted twice\./,
    clicks: 1,
  },
  {
    question: 'Why do requests end without an ad?',
    find: ({ page, read }) => read(page.getByRole('region', { name: 'No-fill reasons' })),
    answer: /No ad to show\s*1/,
    clicks: 0,
  },
  {
    question: 'Who changed the lobby’s cooldown, and from what?',
    async find(visitor) {
      await open(visitor, 'Audit log');
      const entry = row(visitor.page, 'placement updated').filter({ hasText: 'lobby' });
      await visitor.click(entry.locator('summary'));
      return visitor.read(entry);
    },
    answer: /owner@example\.com.*0 s.*90 s/s,
    clicks: 2,
  },
  {
    question: 'Which key belongs into the game?',
    async find(visitor) {
      await open(visitor, 'Keys');
      return visitor.read(visitor.page.getByRole('group', { name: 'Publishable key' }).first());
    },
    answer: /^pk_sandbox_\w+/,
    clicks: 1,
  },
];

/** Lets happen what the questions are about. */
export async function fillQuestions({
  owner,
  game,
}: Pick<PanelSite, 'owner' | 'game'>): Promise<void> {
  const send = async <T>(method: string, path: string, body: object): Promise<T> => {
    const response = await owner.send<T>(method, path, body);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const create = async (path: string, body: object): Promise<string> =>
    (await send<{ id: string }>('POST', path, body)).id;
  const findId = async (path: string, name: string): Promise<string> => {
    const { body } = await owner.send<{ data: { id: string; name: string }[] }>('GET', path);
    return body.data.find((each) => each.name === name)?.id ?? '';
  };

  await create('/v1/webhooks', {
    url: 'http://127.0.0.1:9/rewards',
    events: ['decision.served', 'decision.rewarded'],
  });
  const creative = await create('/v1/creatives', {
    name: 'Bakery roll',
    advertiser_id: await create('/v1/advertisers', { name: 'Bakery', domain: 'bakery.example' }),
    source_id: await findId('/v1/sources', 'House'),
    media: { format: 'html', inline: '<p>Rolls</p>', width: 300, height: 200 },
    alt: 'Fresh rolls.',
  });
  await send('POST', `/v1/creatives/${creative}/review`, { status: 'approved' });
  await create('/v1/house-ads', {
    name: 'Bakery roll',
    creative_id: creative,
    placements: ['level-end'],
    priority: 1,
  });

  for (const guest of ['guest 1', 'guest 2', 'guest 3']) {
    const { body } = await game.decide({ placement: 'level-end', user_ref: guest });
    await game.reportStart(body);
    await game.report(game.createImpression(body));
    if (guest !== 'guest 3') await game.report(game.createEvent(body, 'click'));
  }
  const watched = await game.decideImage('player 7');
  await game.reportStart(watched);
  await game.report(game.createImpression(watched), game.createEvent(watched, 'click'));
  const denied = await game.decide({
    placement: 'revive',
    user_ref: 'player 42',
    formats: ['image'],
  });
  await game.reportStart(denied.body);
  await game.report(game.createEvent(denied.body, 'complete', { watched_ms: 5_200 }));
  await game.decide({ placement: 'level-end', user_ref: 'guest 4', simulate: 'no_fill' });

  await create('/v1/kill-switches', {
    scope: 'placement',
    target_id: 'double-coins',
    state: 'on',
    reason: 'Coins are counted twice.',
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  await send('PATCH', `/v1/creatives/${await findId('/v1/creatives', 'Lantern')}`, {
    click_url: 'https://lantern.example/new',
  });
  await send('PATCH', `/v1/placements/${await findId('/v1/placements', 'lobby')}`, {
    cooldown_s: 90,
  });
}
