import type { AuditEntry, KillSwitch, Policy } from '@trueward/protocol/wire';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PanelSite, startPanelSite } from './panel-site.ts';

let site: PanelSite;
beforeAll(async () => {
  site = await startPanelSite();
});
afterAll(() => site.stop());

const decide = async () =>
  (await site.game.decide({ placement: 'revive', user_ref: 'player' })).body;

async function list<T>(path: string): Promise<T[]> {
  return (await site.owner.send<{ data: T[] }>('GET', path)).body.data;
}

test('on a phone, one button and a reason stop a placement at once, and one button lets it run', async () => {
  const page = await site.open('/kill-switches', { viewport: { width: 360, height: 640 } });
  const stop = page.getByRole('button', { name: 'Stop revive' });
  await stop.waitFor();
  const box = await stop.boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);

  await stop.click();
  const dialog = page.getByRole('dialog');
  const confirm = dialog.getByRole('button', { name: 'Stop it now' });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel('Reason').fill('A bug gives coins away.');
  await dialog.getByLabel('For how long').click();
  await page.getByRole('option', { name: '1 hour' }).click();
  await confirm.click();
  await page
    .getByText(/revive is stopped: in force since .*, \d+\.\d\d s after your click/)
    .waitFor();
  expect(await decide()).toMatchObject({ status: 'no_fill', reason: 'killed' });
  const [killSwitch] = await list<KillSwitch>('/v1/kill-switches');
  expect(killSwitch).toMatchObject({ state: 'on', reason: 'A bug gives coins away.' });
  expect(Date.parse(killSwitch?.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(3_600_000);

  await page.getByRole('button', { name: 'Let revive run again' }).click();
  await page.getByText(/revive runs again: in force/).waitFor();
  expect(await decide()).toMatchObject({ status: 'filled' });
  const [entry] = await list<AuditEntry>('/v1/audit-entries');
  expect(entry).toMatchObject({ actor: 'owner@example.com', target_id: killSwitch?.id });
});

test('a rule is read as a sentence, and tried on a request before it is saved', async () => {
  const page = await site.open('/policies/create');
  await page.getByLabel('Name').fill('No films on phones');
  await pick(page, 'Placements', 'revive');
  await pick(page, 'Devices', 'mobile');
  await pick(page, 'Formats', 'video');
  await pick(page, 'Formats', 'image');
  await pick(page, 'Formats', 'html');
  await page
    .getByText('On revive, when the device is mobile: blocks the format video, image or html.')
    .waitFor();

  await page.getByLabel('Placement', { exact: true }).click();
  await page.getByRole('option', { name: 'revive' }).click();
  await page.getByLabel('Device', { exact: true }).click();
  await page.getByRole('option', { name: 'mobile' }).click();
  await page.getByRole('button', { name: 'What would happen?' }).click();
  const answer = page.getByRole('region', { name: 'What would happen to this request?' });
  await answer.getByText('Blocked by').waitFor();
  expect(await answer.textContent()).toContain('No films on phones');
  expect(await list<Policy>('/v1/policies')).toEqual([]);

  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'No films on phones' }).waitFor();
  const [policy] = await list<Policy>('/v1/policies');
  expect(policy).toMatchObject({
    placements: ['revive'],
    when: { devices: ['mobile'] },
    block: { formats: ['video', 'image', 'html'] },
  });
});

async function pick(page: Page, field: string, name: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name, exact: true }).click();
  await page.keyboard.press('Escape');
}

test('the keyboard alone finds the page, stops a placement and gives its reason', async () => {
  const page = await site.open('/');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.getByRole('menuitem', { name: 'Kill switches' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop lobby', exact: true }).waitFor();
  await tabTo(page, 'Stop lobby');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('By keyboard.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText(/lobby is stopped/).waitFor();
  const killSwitches = await list<KillSwitch>('/v1/kill-switches');
  expect(killSwitches.map(({ reason }) => reason)).toContain('By keyboard.');
});

/** Presses Tab until the button has the focus, as somebody without a mouse does. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    const focused = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    if (focused === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The Tab key does not get to ${name}.`);
}
