import { get, set } from 'idb-keyval';
import { afterEach, expect, test } from 'vitest';
import { createDatabase } from '../../../src/platform/database.ts';
import { newRandomId } from '../../../src/platform/ids.ts';
import { deleteDatabase } from '../../support/delete-database.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const name = `trueward-checks-${newRandomId()}`;
afterEach(() => deleteDatabase(name));

test('a database checks its operations only while there are any', async () => {
  const clock = createManualClock();
  let slow = 0;
  const onSlow = (): void => void (slow += 1);
  const database = createDatabase({ name, stores: { a: { autoIncrement: false } }, clock, onSlow });
  const store = database.store('a');
  for (const value of [1, 2]) {
    await set('key', value, store);
    expect(await get('key', store)).toBe(value);
    // One check was scheduled, which finds nothing.
    expect(await clock.runNextTimer()).toBe(true);
    expect(await clock.runNextTimer()).toBe(false);
  }
  expect(slow).toBe(0);
  database.close();
});
