import type { ApiKey } from '@trueward/protocol/wire';
import { createAuditLog, type Operation } from '../audit/audit-log.ts';
import { raiseConfigVersion } from '../resource/resource-store.ts';
import { createManageKeys, type ManageKeys } from '../key/manage-keys.ts';
import { systemClock } from '../platform/clock.ts';
import type { Queries } from '../store/database.ts';
import { chooseAccount } from './choose-account.ts';
import {
  type Command,
  CommandError,
  oneOf,
  readArguments,
  say,
  tell,
  UsageError,
} from './command.ts';
import { withDatabase } from './with-database.ts';

/** So that a mistaken number does not keep a leaked key for years. */
const maxOverlapS = 604_800;

export const keyCommands: Command[] = [
  {
    name: 'keys create',
    summary: 'make a key, and the account with the first one',
    help: `Usage: trueward-service keys create --environment <environment> --kind <kind> [options]

  --environment <environment>  sandbox or live
  --kind <kind>                secret or publishable
  --allowed-origin <origin>    where a publishable key may be used; may be repeated; live needs one
  --account <id>               whose key; needed when there are several accounts
  --new-account <name>         make an account and its first key

Prints one line of JSON with the key. The text of a key is shown once and cannot be read again.

Example
  trueward-service keys create --environment live --kind publishable --allowed-origin https://game.example`,
    async run(args) {
      const { values } = readArguments(args, {
        environment: { type: 'string' },
        kind: { type: 'string' },
        'allowed-origin': { type: 'string', multiple: true },
        account: { type: 'string' },
        'new-account': { type: 'string' },
      });
      const environment = oneOf('environment', values.environment, ['sandbox', 'live']);
      const kind = oneOf('kind', values.kind, ['secret', 'publishable']);
      // Checked before the database is opened: a wrong argument has no side effects.
      const origins = values['allowed-origin']?.map(readOrigin);
      await withDatabase(({ database, makeId }) =>
        database.transaction(async (queries) => {
          const accountId = await chooseAccount(queries, makeId, values);
          const keys = createManageKeys(managing(makeId));
          const made = await keys.create(operation(queries, accountId, environment), {
            kind,
            ...(origins === undefined ? {} : { allowed_origins: origins }),
          });
          tell({ account_id: accountId, ...made });
        }),
      );
      say('Keep the key now: it is not shown again.');
    },
  },
  {
    name: 'keys list',
    summary: 'list all keys without their texts',
    help: `Usage: trueward-service keys list

Prints one line of JSON for each key, the newest first.`,
    async run(args) {
      readArguments(args, {});
      const rows = await withDatabase(({ database }) =>
        database.query(
          `SELECT account_id, id, environment, CASE kind WHEN 'sk' THEN 'secret' ELSE 'publishable' END AS kind,
            last_four, allowed_origins, created_at, last_used_at, revoked_at FROM keys ORDER BY id DESC`,
        ),
      );
      rows.forEach(tell);
    },
  },
  {
    name: 'keys roll',
    summary: 'make a key that replaces another one',
    help: `Usage: trueward-service keys roll <key id> [--overlap <seconds>]

  --overlap <seconds>  how long the old key still works (default 0, at most ${maxOverlapS})

Prints one line of JSON with the new key.`,
    async run(args) {
      const { values, positionals } = readArguments(args, { overlap: { type: 'string' } }, [
        'key id',
      ]);
      const overlapS = readOverlap(values.overlap ?? '0');
      const made = await onKey(positionals[0] ?? '', (keys, ...key) => keys.roll(...key, overlapS));
      tell(made);
      say('Keep the key now: it is not shown again.');
    },
  },
  {
    name: 'keys revoke',
    summary: 'end a key at once',
    help: `Usage: trueward-service keys revoke <key id>

Running services on the same database refuse the key within a second.`,
    async run(args) {
      const { positionals } = readArguments(args, {}, ['key id']);
      const [id = ''] = positionals;
      await onKey(id, (keys, ...key) => keys.revoke(...key));
      tell({ id, revoked: true });
    },
  },
];

const managing = (makeId: Parameters<typeof createAuditLog>[1]) => ({
  clock: systemClock,
  makeId,
  audit: createAuditLog(systemClock, makeId),
  // The commands set no rate limits.
  ceiling: undefined,
  raiseConfigVersion,
});

const operation = (
  queries: Queries,
  accountId: string,
  environment: ApiKey['environment'],
): Operation => ({ queries, scope: { accountId, environment }, actor: 'command_line' });

/** Works on one key, wherever it belongs. */
function onKey<T>(
  id: string,
  work: (keys: ManageKeys, operation: Operation, id: string) => Promise<T>,
): Promise<T> {
  return withDatabase(({ database, makeId }) =>
    database.transaction(async (queries) => {
      const [row] = await queries.query<{ account_id: string; environment: ApiKey['environment'] }>(
        'SELECT account_id, environment FROM keys WHERE id = $1',
        [id],
      );
      if (!row) throw new CommandError(`There is no key ${id}; keys list shows their ids.`);
      const keys = createManageKeys(managing(makeId));
      return work(keys, operation(queries, row.account_id, row.environment), id);
    }),
  );
}

function readOverlap(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= maxOverlapS) return seconds;
  throw new UsageError(
    `--overlap is ${JSON.stringify(text)}; expected seconds from 0 to ${maxOverlapS}.`,
  );
}

function readOrigin(text: string): string {
  if (text === '*' || (URL.canParse(text) && new URL(text).origin === text)) return text;
  throw new UsageError(
    `--allowed-origin is ${JSON.stringify(text)}; expected * or an origin such as https://game.example.`,
  );
}
