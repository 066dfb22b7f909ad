import type { ApiKey } from '@trueward/protocol/wire';
import { normalizeOrigin } from '../../platform/names.ts';
import { createAuditLog, type Operation } from '../../store/audit-log.ts';
import { incrementConfigVersion, lockConfiguration } from '../../store/config-version.ts';
import { createKeyManager, type KeyManager } from '../../access/key-manager.ts';
import { createQuotas } from '../../store/quotas.ts';
import type { Queries } from '../../store/database.ts';
import {
  type Command,
  CommandError,
  oneOf,
  readArguments,
  printMessage,
  printResult,
  UsageError,
} from './command.ts';
import { type DatabaseContext, withDatabase, chooseAccount } from './with-database.ts';

/** The maximum overlap, which keeps a typo from leaving a leaked key valid for years. */
const maxOverlapS = 604_800;

export const keyCommands: Command[] = [
  {
    name: 'keys create',
    summary: 'create a key, and an account if there is none yet',
    help: `Usage: trueward-service keys create --environment <environment> --kind <kind> [options]

  --environment <environment>  sandbox or live
  --kind <kind>                secret or publishable
  --allowed-origin <origin>    where a publishable key may be used; repeatable; required in live
  --account <id>               the key's account; required if there are several accounts
  --new-account <name>         create an account and its first key

Prints one line of JSON with the key. The full key is shown only once.

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
      // Validated before the database is opened, so that an invalid argument has no side effects.
      const origins = values['allowed-origin']?.map(readOrigin);
      await withDatabase(
        (context) =>
          context.database.transaction(async (queries) => {
            const { clock, makeId } = context;
            const accountId = await chooseAccount(queries, { clock, makeId }, values);
            await lockConfiguration(queries, accountId);
            const keys = createKeyManager(createManagerDeps(context));
            const newKey = await keys.create(makeOperation(queries, accountId, environment), {
              kind,
              ...(origins === undefined ? {} : { allowed_origins: origins }),
            });
            printResult({ account_id: accountId, ...newKey });
          }),
        { power: 'keys', creates: true },
      );
      printMessage('Store the key now: it will not be shown again.');
    },
  },
  {
    name: 'keys list',
    summary: 'list all keys, with their ids and last four characters',
    help: `Usage: trueward-service keys list

Prints one line of JSON per key, newest first.`,
    async run(args) {
      readArguments(args, {});
      const rows = await withDatabase(({ database }) =>
        database.query(
          `SELECT account_id, id, environment, CASE kind WHEN 'sk' THEN 'secret' ELSE 'publishable' END AS kind,
            last_four, allowed_origins, created_at, last_used_at, revoked_at FROM keys ORDER BY id DESC`,
        ),
      );
      rows.forEach(printResult);
    },
  },
  {
    name: 'keys roll',
    summary: 'replace a key with a new one',
    help: `Usage: trueward-service keys roll <key id> [--overlap <seconds>]

  --overlap <seconds>  how long the old key keeps working (default 0, at most ${maxOverlapS})

Prints one line of JSON with the new key.`,
    async run(args) {
      const { values, positionals } = readArguments(args, { overlap: { type: 'string' } }, [
        'key id',
      ]);
      const overlapS = readOverlap(values.overlap ?? '0');
      const newKey = await withKey(positionals[0] ?? '', (keys, ...key) =>
        keys.roll(...key, overlapS),
      );
      printResult(newKey);
      printMessage('Store the key now: it will not be shown again.');
    },
  },
  {
    name: 'keys revoke',
    summary: 'revoke a key immediately',
    help: `Usage: trueward-service keys revoke <key id>

Running services on the same database reject the key within a second.`,
    async run(args) {
      const { positionals } = readArguments(args, {}, ['key id']);
      const [id = ''] = positionals;
      await withKey(id, (keys, ...key) => keys.revoke(...key));
      printResult({ id, revoked: true });
    },
  },
];

const createManagerDeps = ({ clock, makeId, config }: DatabaseContext) => ({
  clock,
  makeId,
  audit: createAuditLog(clock, makeId),
  quotas: createQuotas(config.quotas, clock),
  // These commands don't set rate limits.
  ceiling: undefined,
  incrementConfigVersion,
});

const makeOperation = (
  queries: Queries,
  accountId: string,
  environment: ApiKey['environment'],
): Operation => ({ queries, scope: { accountId, environment }, actor: 'command_line' });

/** Runs `work` on one key, in the key's account and environment. */
function withKey<T>(
  id: string,
  work: (keys: KeyManager, operation: Operation, id: string) => Promise<T>,
): Promise<T> {
  return withDatabase(
    (context) =>
      context.database.transaction(async (queries) => {
        const [row] = await queries.query<{
          account_id: string;
          environment: ApiKey['environment'];
        }>('SELECT account_id, environment FROM keys WHERE id = $1', [id]);
        if (!row) throw new CommandError(`Key ${id} does not exist. Run keys list to see all ids.`);
        await lockConfiguration(queries, row.account_id);
        const keys = createKeyManager(createManagerDeps(context));
        return work(keys, makeOperation(queries, row.account_id, row.environment), id);
      }),
    { power: 'keys' },
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
  const origin = normalizeOrigin(text);
  if (origin !== undefined) return origin;
  throw new UsageError(
    `--allowed-origin is ${JSON.stringify(text)}; expected * or an origin such as https://game.example.`,
  );
}
