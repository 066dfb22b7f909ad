import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import { codeAt } from '../../../service/test/http/authenticator.ts';
import { password } from '../../../service/test/http/panel-client.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { it as test } from '../worker.ts';

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
});
test.afterAll(() => site.stop());

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const openPage = (page: Page, path: string) => page.goto(`${site.url}/panel/#${path}`);

/** Opens a single-use link in a separate browser profile and sets a password. */
async function setUpAccount(link: string, secret: string): Promise<Page> {
  const page = await site.open(new URL(link).hash.slice(1), { as: 'nobody' });
  await page.getByRole('textbox', { name: 'New password' }).fill(secret);
  await page.getByRole('button', { name: 'Set up and sign in' }).click();
  await heading(page, 'Overview').waitFor();
  return page;
}

/** Returns the link that a dialog shows only once. */
async function takeLink(page: Page, dialog: string): Promise<string> {
  const linkDialog = page.getByRole('dialog', { name: dialog });
  const link = await linkDialog.getByRole('group').textContent();
  await linkDialog.getByRole('button', { name: 'Done' }).click();
  return link ?? '';
}

async function fillSignIn(page: Page, email: string, secret: string): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Triggers a request, and expects the panel to show the sign-in page. */
async function expectSignedOut(page: Page): Promise<void> {
  const signIn = page.getByRole('button', { name: 'Sign in' });
  // The panel may have noticed already, because it refetches some data by itself.
  await page.getByRole('button', { name: 'Refresh' }).or(signIn).first().click();
  await signIn.waitFor();
}

test('support makes good for a player who sends the reference', async () => {
  const { game } = site;
  const { body: guest } = await game.call<{ player_ref: string; player_token: string }>(
    'POST',
    '/v1/players',
    game.publishable,
  );
  const page = await site.open('/players');
  const find = async (ref: string) => {
    await page.getByRole('textbox', { name: 'Player reference' }).fill(ref);
    await page.getByRole('button', { name: 'Find' }).click();
  };
  // Nothing can be given until an owner says how much.
  await page.getByRole('button', { name: 'Set a budget' }).click();
  const budget = page.getByRole('dialog', { name: 'Set a budget' });
  await budget.getByRole('textbox', { name: 'Type' }).fill('coins');
  await budget.getByRole('textbox', { name: 'Amount per day' }).fill('80');
  await budget.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByText('0 of 80 given today').waitFor();
  await find('ply_nobody');
  await page.getByText('There is no player ply_nobody').waitFor();
  await find(guest.player_ref);
  await page.getByRole('button', { name: 'Make good' }).click();
  const dialog = page.getByRole('dialog', { name: 'Make good for a mistake' });
  await dialog.getByRole('textbox', { name: 'Type' }).fill('coins');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('75');
  await dialog.getByText('80 coins can be given today').waitFor();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('a lost purchase');
  await dialog.getByRole('button', { name: 'Give' }).click();
  await page.getByRole('row').filter({ hasText: 'a lost purchase' }).getByText('+75').waitFor();
  const headers = { 'player-token': guest.player_token };
  const read = () =>
    game.call<{ balances: object }>('GET', '/v1/wallet', game.publishable, undefined, headers);
  expect((await read()).body.balances).toEqual({ coins: 75 });

  await page.goBack();
  await page.goBack();
  await page.getByText('75 of 80 given today').waitFor();
  await page.getByRole('row').filter({ hasText: 'a lost purchase' }).getByText('Given').waitFor();
  await page.goForward();
  await page.goForward();
  await page.getByRole('button', { name: 'Code for a new device' }).click();
  expect(await takeLink(page, 'Code for a new device')).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  await page.getByRole('button', { name: 'Sign out of all devices' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('Signed out of all devices.').waitFor();
  expect((await read()).status).toBe(401);

  await page.getByRole('button', { name: 'Erase the player' }).click();
  await page.getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByText('The player is being erased.').waitFor();
  await expect
    .poll(
      async () => (await game.call('GET', `/v1/wallets/${guest.player_ref}`, game.secret)).status,
    )
    .toBe(404);
});

test.runIf(inject('full'))('changes to panel users take effect immediately', async () => {
  const owner = await site.open('/users/create');
  await owner.getByRole('textbox', { name: 'E-mail' }).fill('grace@example.com');
  await owner.getByRole('textbox', { name: 'Name' }).fill('Grace');
  await owner.getByRole('combobox', { name: 'Role' }).click();
  await owner.getByRole('option', { name: 'Viewer' }).click();
  await owner.getByRole('button', { name: 'Create invitation' }).click();
  const invitation = await takeLink(owner, 'Invitation link');
  const row = owner.getByRole('row').filter({ hasText: 'grace@example.com' });
  await row.getByText('invited').waitFor();
  const grace = await setUpAccount(invitation, password);
  await openPage(grace, '/advertisers');
  await grace.getByRole('link', { name: 'Harbour' }).waitFor();
  expect(await grace.getByRole('link', { name: 'Create' }).count()).toBe(0);

  await row.getByRole('link', { name: 'Grace' }).click();
  await owner.getByRole('combobox', { name: 'Role' }).click();
  await owner.getByRole('option', { name: 'Operator' }).click();
  await owner.getByRole('button', { name: 'Save' }).click();
  await row.getByText('operator').waitFor();
  await grace.reload();
  await grace.getByRole('link', { name: 'Create' }).waitFor();

  await row.getByRole('link', { name: 'Grace' }).click();
  await owner.getByRole('button', { name: 'Create password link' }).click();
  const graceAgain = await setUpAccount(
    await takeLink(owner, 'Password link'),
    'another password of hers',
  );
  await expectSignedOut(grace);
  await fillSignIn(grace, 'grace@example.com', password);
  await grace.getByText('is wrong').waitFor();

  await owner.getByRole('button', { name: 'Remove' }).click();
  const question = owner.getByRole('dialog', { name: 'Remove this user?' });
  await question.getByText('They are signed out immediately.').waitFor();
  await question.getByRole('button', { name: 'Confirm' }).click();
  await owner.getByRole('link', { name: 'Invite' }).waitFor();
  await row.waitFor({ state: 'detached' });
  await expectSignedOut(graceAgain);
  await fillSignIn(graceAgain, 'grace@example.com', 'another password of hers');
  await graceAgain.getByText('is wrong').waitFor();
});

test.runIf(inject('full'))(
  'a new password replaces the old one and ends the user’s other sessions',
  async () => {
    const operator = await site.invite('operator');
    const [here, elsewhere] = [
      await site.open('/account', { as: operator }),
      await site.open('/placements', { as: operator, separate: true }),
    ];
    const change = async (current: string, next: string) => {
      await here.getByLabel('Current password').fill(current);
      await here.getByLabel('New password').fill(next);
      await here.getByRole('button', { name: 'Change password' }).click();
    };
    await change('not my password', 'a password of my own');
    await here.getByText('The password is wrong.').waitFor();
    await change(password, 'too short');
    await here.getByText('Must be 12 characters at least').waitFor();
    await change(password, 'a password of my own');
    await here.getByText('Password changed.').waitFor();
    expect(await here.getByLabel('New password').inputValue()).toBe('');
    // This browser stays signed in, with a new session.
    await openPage(here, '/placements');
    await here.getByRole('link', { name: 'revive' }).waitFor();

    await expectSignedOut(elsewhere);
    await fillSignIn(elsewhere, operator.email, password);
    await elsewhere.getByText('is wrong').waitFor();
    await fillSignIn(elsewhere, operator.email, 'a password of my own');
    await heading(elsewhere, 'Placements').waitFor();
  },
);

test.runIf(inject('full'))('a user can turn off one-time codes with their password', async () => {
  const viewer = await site.invite('viewer');
  const enrollment = await viewer.send<{ secret: string }>('POST', '/panel/api/account/codes');
  const code = codeAt(enrollment.body.secret);
  expect((await viewer.send('POST', '/panel/api/account/codes/confirm', { code })).status).toBe(
    204,
  );
  const page = await site.open('/account', { as: viewer });
  const codes = page.getByRole('region', { name: 'One-time codes' });
  await codes.getByText('One-time codes are on.').waitFor();
  await codes.getByLabel('Your password').fill('not my password');
  await codes.getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('The password is wrong.').waitFor();
  await codes.getByLabel('Your password').fill(password);
  await codes.getByRole('button', { name: 'Turn off' }).click();
  await codes.getByRole('button', { name: 'Turn on' }).waitFor();

  await page.getByRole('button', { name: 'Profile' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await fillSignIn(page, viewer.email, password);
  await heading(page, 'Overview').waitFor();
});

test('an owner shortens how long data is kept, and others only see it', async () => {
  const page = await site.open('/account');
  const card = page.getByRole('region', { name: 'Retention' });
  await card.getByText('395 days', { exact: true }).waitFor();
  await card.getByText('30 days', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Change retention' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change retention' });
  await dialog.getByLabel('Days for decisions, events and deliveries').fill('90');
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await card.getByText('90 days', { exact: true }).waitFor();
  await card.getByText('730 days', { exact: true }).waitFor();
  const viewer = await site.open('/account', { as: await site.invite('viewer') });
  await viewer
    .getByRole('region', { name: 'Retention' })
    .getByText('90 days', { exact: true })
    .waitFor();
  expect(await viewer.getByRole('button', { name: 'Change retention' }).count()).toBe(0);
});
