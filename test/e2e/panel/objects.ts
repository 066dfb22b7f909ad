import type { Page } from 'playwright';
import type { PanelClient } from '../../../service/test/http/panel-client.ts';

/** Opens a select field and chooses the option with this name. */
export async function chooseOption(page: Page, field: string, name: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name, exact: true }).click();
}

/** Saves the form, and waits until the list shows the object with this name. */
export async function save(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name, exact: true }).first().waitFor();
}

/** Reads a list from the API, as this user. */
export async function fetchList<T>(user: PanelClient, path: string): Promise<T[]> {
  return (await user.send<{ data: T[] }>('GET', path)).body.data;
}

/** Finds an object by its name. */
export async function findByName<T extends { name: string }>(
  user: PanelClient,
  path: string,
  name: string,
): Promise<T> {
  const match = (await fetchList<T>(user, path)).find((item) => item.name === name);
  if (match === undefined) throw new Error(`No object named ${name} at ${path}.`);
  return match;
}
