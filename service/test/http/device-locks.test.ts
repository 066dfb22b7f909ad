import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlayerTokens, type PlayerTokens } from '../../src/access/player-tokens.ts';
import { createIds } from '../../src/platform/ids.ts';
import { systemClock } from '../../src/platform/time.ts';
import type { Database, Scope } from '../../src/store/database.ts';
import { lockViewers } from '../../src/store/lock-viewers.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { addAccount } from '../add-account.ts';
import { countLockWaits, createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

const scope: Scope = { accountId: 'acc_1', environment: 'live' };
const pseudonym = (_scope: Scope, playerRef: string): string => `viewer of ${playerRef}`;

let database: Database;
let tokens: PlayerTokens;
beforeAll(async () => {
  if (!hasPostgres) return;
  database = openPostgres(await createPostgresDatabase(), () => undefined);
  await addAccount(database, scope.accountId);
  const makeId = createIds(systemClock, randomBytes);
  tokens = createPlayerTokens({
    database,
    clock: systemClock,
    makeId,
    pseudonym,
    tokenSecret: 'test',
  });
});
afterAll(() => database?.close());

test.skipIf(!hasPostgres)(
  'revoking a player’s devices waits for a code that is being made, and revokes it too',
  async () => {
    const { playerRef, playerToken } = await tokens.create(scope);
    let revoking: Promise<number> | undefined;
    const { code } = await database.transaction(async (queries) => {
      const viewer = pseudonym(scope, playerRef);
      await lockViewers(queries, scope, [viewer], systemClock.nowMs());
      revoking = database.transaction((others) => tokens.revoke(others, scope, playerRef));
      revoking.catch(() => undefined);
      await expect.poll(() => countLockWaits(database)).toBe(1);
      return tokens.createLinkCode(queries, scope, playerRef);
    });
    expect(await revoking).toBe(1);
    expect(await tokens.link(scope, code)).toBeUndefined();
    expect(await tokens.createDeviceCode(scope, playerRef, playerToken)).toBeUndefined();
  },
);
