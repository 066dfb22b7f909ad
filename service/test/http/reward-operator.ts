import type { Placement } from '@trueward/protocol/wire';
import { incrementConfigVersion } from '../../src/store/config-version.ts';
import type { Queries } from '../../src/store/database.ts';
import type { Game } from './reward-game.ts';

/** Writes a configuration change to the database. Resolves once the change is in effect. */
async function applyChange(
  game: Game,
  work: (queries: Queries, accountId: string) => Promise<void>,
): Promise<void> {
  const { database, configuration } = game.service;
  const accountId = await readAccountId(game);
  await database.transaction(async (queries) => {
    await work(queries, accountId);
    await incrementConfigVersion(queries, accountId);
  });
  await configuration.refresh();
}

export async function readAccountId(game: Game): Promise<string> {
  const [row] = await game.service.database.query<{ account_id: string }>(
    `SELECT account_id FROM accounts WHERE name = 'Demo'`,
  );
  return row?.account_id ?? '';
}

/** Updates fields of a sandbox placement. A field set to `undefined` is removed. */
export const updatePlacement = (
  game: Game,
  name: string,
  members: { [K in keyof Placement]?: Placement[K] | undefined },
): Promise<void> =>
  applyChange(game, async (queries, accountId) => {
    const [row] = await queries.query<{ id: string; document: object }>(
      `SELECT id, document FROM resources
        WHERE account_id = $1 AND kind = 'placement' AND environment = 'sandbox' AND document->>'name' = $2`,
      [accountId, name],
    );
    const document = JSON.stringify({ ...row?.document, ...members });
    await queries.query(
      `UPDATE resources SET document = $3::text::jsonb WHERE account_id = $1 AND id = $2`,
      [accountId, row?.id, document],
    );
  });

/** Turns on a kill switch. Returns a function that turns it off. */
export async function turnOnKillSwitch(
  game: Game,
  placement: string,
): Promise<() => Promise<void>> {
  const scope = { accountId: await readAccountId(game), environment: 'sandbox' } as const;
  const { resources } = game.service;
  let id = '';
  await applyChange(game, async (queries) => {
    const killSwitch = await resources.create(queries, scope, 'killSwitch', {
      scope: 'placement',
      target_id: placement,
      state: 'on',
      actor: 'test',
    });
    id = killSwitch.id;
  });
  return () =>
    applyChange(game, async (queries) => {
      await resources.archive(queries, scope, 'killSwitch', id);
    });
}
