import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import { codeAt } from '../../../service/test/http/authenticator.ts';
import { password } from '../../../service/test/http/panel-client.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../../service/test/openid-provider.ts';
import { it as test } from '../worker.ts';

let provider: OpenIdProvider;
let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  provider = await startOpenIdProvider();
  site = await startPanelSite(browser, {
    createOwner: false,
    env: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_NAME: 'Studio ID',
    },
  });
});
test.afterAll(async () => {
  await site.stop();
  provider.stop();
});

const signIn = async (page: Page, email: string, secret: string) => {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
};
/** Opens a single-use link in a fresh browser profile. */
const openLink = (link: string) => site.open(new URL(link).hash.slice(1), { as: 'nobody' });
const overviewHeading = (page: Page) => page.getByRole('heading', { name: 'Overview', level: 1 });

test.runIf(inject('full'))(
  'the setup page keeps its input no matter how long the user takes',
  async () => {
    const page = await site.open('/setup?token=none', { as: 'nobody' });
    await page.clock.install();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.goto('about:blank');
    await page.goto(`${site.url}/panel/${new URL(site.setupUrl).hash}`);
    const name = page.getByLabel('Your name');
    await name.fill('Ada');
    for (let second = 0; second < 60; second += 5) await page.clock.runFor(5_000);
    expect(await name.inputValue()).toBe('Ada');
    // There is no session yet, so requesting the session would make the panel show the sign-in page.
    expect(requests).not.toContain('/panel/api/session');
    await page.context().close();
  },
);

test('the first owner sets up an account and signs in with a one-time code', async () => {
  const page = await openLink(site.setupUrl);
  await page.getByRole('textbox', { name: 'E-mail' }).fill('ada@example.com');
  await page.getByLabel('Your name').fill('Ada');
  await page.getByRole('textbox', { name: 'New password' }).fill(password);
  await page.getByRole('button', { name: 'Set up and sign in' }).click();
  await overviewHeading(page).waitFor();

  // The link has already been used.
  const secondVisit = await openLink(site.setupUrl);
  await secondVisit.getByText('Link invalid or expired').waitFor();

  await page.getByRole('button', { name: 'Profile' }).click();
  await page.getByRole('menuitem', { name: 'Your account' }).click();
  await page.getByRole('button', { name: 'Turn on' }).click();
  const secretGroup = page.getByRole('group', { name: 'Secret for one-time codes' });
  const secret = (await secretGroup.textContent()) ?? '';
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  await page.getByLabel('Six-digit code').fill(codeAt(secret));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('One-time codes are on.').first().waitFor();

  await page.getByRole('button', { name: 'Profile' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await signIn(page, 'ada@example.com', 'not my password');
  await page.getByText('is wrong').waitFor();
  await signIn(page, 'ada@example.com', password);
  // A code can be used only once. The next code is accepted 30 s early, to allow for clock skew on phones.
  await page.getByLabel('One-time code').fill(codeAt(secret, Date.now() + 30_000));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await overviewHeading(page).waitFor();
  expect(await page.evaluate(() => document.cookie)).toBe('');

  await switchToLiveAndBack(page);
  await inviteUser(page);
});

test.runIf(inject('full'))(
  'a user without a password signs in with the OpenID provider',
  async () => {
    provider.person = { email: 'nobody@example.com', isVerified: true };
    const page = await site.open('/placements', { as: 'nobody' });
    await page.getByRole('link', { name: 'Sign in with Studio ID' }).click();
    await page.getByText('Nobody here has the e-mail address').waitFor();
    provider.person = { email: 'ada@example.com', isVerified: true };
    await page.getByRole('link', { name: 'Sign in with Studio ID' }).click();
    await page.getByRole('heading', { name: 'Placements', level: 1 }).waitFor();
    // The provider didn't tell when the user entered credentials there.
    await page.goto(`${site.url}/panel/#/users/create`);
    const invite = async () => {
      await page.getByRole('textbox', { name: 'E-mail' }).fill('linus@example.com');
      await page.getByRole('textbox', { name: 'Name' }).fill('Linus');
      await page.getByRole('combobox', { name: 'Role' }).click();
      await page.getByRole('option', { name: 'Viewer' }).click();
      await page.getByRole('button', { name: 'Create invitation' }).click();
    };
    await invite();
    const instead = page.getByRole('link', { name: /Use Studio ID instead/ });
    // Whoever has several accounts comes back to this one.
    expect(await instead.getAttribute('href')).toMatch(/account=acc_\w+/);
    await instead.click();
    await page.getByRole('textbox', { name: 'E-mail' }).waitFor();
    expect(page.url()).toBe(`${site.url}/panel/#/users/create`);
    await invite();
    await page.getByRole('dialog', { name: 'Invitation link' }).waitFor();
  },
);

test('after too many failed sign-ins, the form shows how many seconds to wait', async () => {
  const page = await site.open('/', { as: 'nobody' });
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const signInResponse = page.waitForResponse(
      (response) => response.request().method() === 'POST',
    );
    await signIn(page, 'nobody@example.com', 'a guess');
    await signInResponse;
  }
  await page.getByText(/Too many failed attempts\. Try again in \d+ s\./).waitFor();
});

/** Checks that an invited user can set a password via the link, and has the selected role. */
async function inviteUser(page: Page): Promise<void> {
  await page.goto(`${site.url}/panel/#/users/create`);
  await page.getByRole('textbox', { name: 'E-mail' }).fill('grace@example.com');
  await page.getByRole('textbox', { name: 'Name' }).fill('Grace');
  await page.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Viewer' }).click();
  await page.getByRole('button', { name: 'Create invitation' }).click();
  const invitationDialog = page.getByRole('dialog', { name: 'Invitation link' });
  const link = await invitationDialog.getByRole('group').textContent();
  const invitedPage = await openLink(link ?? '');
  await expect
    .poll(() => invitedPage.getByRole('textbox', { name: 'E-mail' }).inputValue())
    .toBe('grace@example.com');
  await invitedPage.getByRole('textbox', { name: 'New password' }).fill(password);
  await invitedPage.getByRole('button', { name: 'Set up and sign in' }).click();
  await overviewHeading(invitedPage).waitFor();
  await invitedPage.goto(`${site.url}/panel/#/account`);
  await invitedPage.getByText('viewer', { exact: true }).waitFor();
}

/** Checks that switching to live asks for confirmation, and that every page shows the environment. */
async function switchToLiveAndBack(page: Page): Promise<void> {
  const environmentBanner = page.getByRole('note', { name: 'Environment' });
  expect(await environmentBanner.textContent()).toContain('Sandbox');
  const sandboxColor = await environmentBanner.evaluate(
    (element) => getComputedStyle(element).backgroundColor,
  );
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await environmentBanner.textContent()).toContain('Sandbox');

  await page.getByRole('button', { name: 'Live', exact: true }).click();
  const requests = page.waitForRequest((request) => request.url().includes('/v1/reports'));
  await page.getByRole('button', { name: 'Switch to live' }).click();
  expect((await requests).headers()['trueward-environment']).toBe('live');
  await expect.poll(() => environmentBanner.textContent()).toContain('Live');
  const liveColor = await environmentBanner.evaluate(
    (element) => getComputedStyle(element).backgroundColor,
  );
  expect(liveColor).not.toBe(sandboxColor);

  await page.reload();
  await expect.poll(() => environmentBanner.textContent()).toContain('Live');
  await page.getByRole('button', { name: 'Sandbox' }).click();
  await expect.poll(() => environmentBanner.textContent()).toContain('Sandbox');
}
