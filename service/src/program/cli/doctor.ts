import type { Source } from '@trueward/protocol/wire';
import { type Config, readConfig } from '../config/config.ts';
import { ConfigError, findUnknownSettings } from '../config/read-settings.ts';
import { MasterKeyError, openSecretBox } from '../../access/secret-box.ts';
import { childRetentionMs, readChangedRetention } from '../../store/account-retention.ts';
import type { DatabaseClock } from '../../store/database-clock.ts';
import { checkCitusNodes, readCitusRole } from '../../store/citus.ts';
import type { Queries, Scope } from '../../store/database.ts';
import { DirectoryInUseError } from '../../store/directory-lock.ts';
import { createGuardedAgent } from '../../platform/guarded-agent.ts';
import { type Command, CommandError, printLine, readArguments } from './command.ts';
import {
  fail,
  type Finding,
  checkMachine,
  ok,
  checkRunningService,
  checkSingleSignOn,
  warn,
} from './doctor-machine.ts';
import { checkAdsTxtFiles, fetchAdsTxt } from './doctor-ads-txt.ts';
import { findMistakes, readIntegrationFacts } from '../../history/integration-health.ts';
import { findSumDifferences } from '../../wallet/check-sums.ts';
import { type DatabaseContext, withDatabase } from './with-database.ts';

const stateLabels = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' };

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check this installation for problems',
  help: `Usage: trueward-service doctor

Checks the configuration, the data folder, the database, the webhooks, the OpenID provider and the
ads.txt files of live sources, and suggests fixes. It migrates the database schema, as start does, and changes nothing else.
Only one process can open the embedded database, so the database checks are skipped while a
service is running. The exit code is 1 if a check fails.`,
  async run(args) {
    readArguments(args, {});
    let failures = 0;
    const show = (findings: readonly Finding[]): void => {
      for (const { state, text } of findings) {
        printLine(`${stateLabels[state]} ${text}`);
        if (state === 'fail') failures += 1;
      }
    };
    const config = loadConfig();
    if ('state' in config) show([config]);
    else {
      show([
        ok('the configuration is valid'),
        ...findUnknownSettings(process.env).map((name) =>
          warn(`${name} is not a known setting and is ignored: correct its name or remove it`),
        ),
        ...checkMachine(config),
      ]);
      show(await checkDatabase());
      show([await checkRunningService(config), ...(await checkSingleSignOn(config))]);
    }
    if (failures > 0)
      throw new CommandError(`${failures} ${failures === 1 ? 'check' : 'checks'} failed.`);
  },
};

function loadConfig(): Config | Finding {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
}

async function checkDatabase(): Promise<readonly Finding[]> {
  try {
    return await withDatabase(checkDatabaseContents);
  } catch (error) {
    if (error instanceof DirectoryInUseError) {
      return [ok(`process ${error.pid} has the embedded database open: database checks skipped`)];
    }
    return [fail(`the database cannot be opened: ${(error as Error).message}`)];
  }
}

/** Machines that use NTP differ by a few milliseconds. */
const maxClockSkewMs = 250;
/** Deliveries are normally attempted within a second of becoming due. */
const overdueAfterMs = 300_000;

/** Checks the database and its contents. */
async function checkDatabaseContents({
  database,
  clock,
  config,
  appliedMigrations,
}: DatabaseContext): Promise<Finding[]> {
  const now = new Date(clock.nowMs());
  const cluster = await checkCluster(database);
  // The other checks read all shards, so they would fail too.
  if (cluster.some(({ state }) => state === 'fail'))
    return [...(await checkServer(database)), ...cluster];
  return [
    ...(await checkServer(database)),
    ...(config.databaseUrl === undefined ? [] : [checkClock(clock)]),
    ...cluster,
    ok(
      appliedMigrations.length === 0
        ? 'the database schema is up to date'
        : `the database schema was migrated: ${appliedMigrations.join(', ')}`,
    ),
    ...(await describeRetention(database, config)),
    await checkMasterKey(database, config),
    await checkKeys(database, now),
    ...(await checkOpenOrigins(database, now)),
    ...(config.countryHeader === undefined ? await checkCountryPolicies(database) : []),
    ...(await checkWebhooks(database)),
    ...(await checkAdsTxt(database)),
    await checkDeliveries(database, clock.nowMs()),
    await checkWallets(database),
    ...(await checkIntegrations(database, clock.nowMs())),
  ];
}

/** Checks that every balance is the sum of its entries. */
async function checkWallets(database: Queries): Promise<Finding> {
  const differences = await findSumDifferences(database);
  const [first] = differences;
  return first
    ? fail(
        `the entries of ${differences.length} wallets don't add up to their balances, such as that of ${first.viewer} in ${first.accountId} (${first.environment}): keep the database as it is and report this`,
      )
    : ok('the entries of all wallets add up to their balances');
}

async function checkAdsTxt(database: Queries): Promise<Finding[]> {
  const rows = await database.query<{ id: string; document: Source }>(
    `SELECT id, document FROM resources
      WHERE kind = 'source' AND environment = 'live' AND archived_at IS NULL
        AND document->>'status' = 'active' AND document ?| '{ads_txt,publisher_id,supply_chain}' ORDER BY id`,
  );
  const sources = rows.map(({ id, document }) => ({ ...document, id }));
  const agent = createGuardedAgent({ loopback: false });
  try {
    return await checkAdsTxtFiles(sources, (domain) =>
      fetchAdsTxt(`https://${domain}/ads.txt`, agent),
    );
  } finally {
    agent.destroy();
  }
}

async function checkServer(database: Queries): Promise<Finding[]> {
  const [row] = await database.query<{ version: string }>(
    `SELECT current_setting('server_version') AS version`,
  );
  return [ok(`the database is available (PostgreSQL ${row?.version ?? '?'})`)];
}

/** Compares this machine's clock with the database's, which the service follows. */
function checkClock(clock: DatabaseClock): Finding {
  const { aheadOfMachineMs, uncertaintyMs } = clock.state();
  const differenceMs = Math.round(aheadOfMachineMs);
  const text = `the database's clock is ${Math.abs(differenceMs)} ms ${differenceMs < 0 ? 'behind' : 'ahead of'} this machine's clock (± ${Math.ceil(uncertaintyMs)} ms)`;
  return Math.abs(aheadOfMachineMs) > maxClockSkewMs
    ? warn(`${text}: the service follows the database's clock, but synchronize both with NTP`)
    : ok(text);
}

/** Checks a Citus cluster's nodes. Returns no findings for a plain PostgreSQL server. */
async function checkCluster(database: Queries): Promise<Finding[]> {
  const role = await readCitusRole(database);
  if (role === undefined) return [];
  const nodes = await checkCitusNodes(database);
  const deadNodes = nodes.filter(({ responds }) => !responds);
  const [setting] = await database.query<{ transactions: string }>(
    `SELECT current_setting('max_prepared_transactions') AS transactions`,
  );
  return [
    ok(
      `Citus: this server is a ${role}; ${nodes.length - deadNodes.length} of ${nodes.length} nodes are responding`,
    ),
    ...deadNodes.map(({ address }) =>
      fail(
        `the Citus node ${address} is not responding: start it, or promote its standby and call citus_update_node. Until then, requests for its accounts fail with 503, and the other database checks are skipped`,
      ),
    ),
    ...nodes
      .filter(({ isEmpty }) => isEmpty)
      .map(({ address }) =>
        warn(
          `the Citus node ${address} has no shards: SELECT citus_rebalance_start() on the coordinator`,
        ),
      ),
    ...(setting?.transactions === '0'
      ? [
          fail(
            'max_prepared_transactions is 0, so configuration changes fail: set it to 200 on every node, and restart them',
          ),
        ]
      : []),
  ];
}

/** Says how long data is kept, also for the accounts whose owners have shortened that. */
async function describeRetention(database: Queries, { retention }: Config): Promise<Finding[]> {
  const format = (ms: number | undefined): string =>
    ms === undefined ? 'forever' : `${ms / 86_400_000} days`;
  const changed = await readChangedRetention(database, retention);
  return [
    ok(
      `kept: decisions, events and deliveries ${format(retention.decisionsMs)}, child-directed data ${format(childRetentionMs)}, audit log ${format(retention.auditMs)}`,
    ),
    ...[...changed].map(([accountId, { decisionsMs, auditMs }]) =>
      ok(
        `kept of ${accountId}: decisions, events and deliveries ${format(decisionsMs)}, audit log ${format(auditMs)}`,
      ),
    ),
  ];
}

async function checkMasterKey(database: Queries, config: Config): Promise<Finding> {
  const [secret] = await database.query<{ sealed: string }>('SELECT sealed FROM secrets LIMIT 1');
  try {
    if (secret) openSecretBox(config).open(secret.sealed);
    return ok('the master key decrypts the secrets');
  } catch (error) {
    if (error instanceof MasterKeyError) return fail(error.message);
    throw error;
  }
}

async function checkKeys(database: Queries, now: Date): Promise<Finding> {
  const [row] = await database.query<{ accounts: number; keys: number }>(
    `SELECT (SELECT count(*) FROM accounts)::bigint AS accounts,
      (SELECT count(*) FROM keys WHERE revoked_at IS NULL OR revoked_at > $1)::bigint AS keys`,
    [now],
  );
  const text = `accounts: ${row?.accounts ?? 0}, keys: ${row?.keys ?? 0}`;
  return row?.keys === 0 ? warn(`${text}: create one with keys create`) : ok(text);
}

async function checkOpenOrigins(database: Queries, now: Date): Promise<Finding[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT id FROM keys WHERE kind = 'pk' AND environment = 'live' AND allowed_origins @> '["*"]'::jsonb
      AND (revoked_at IS NULL OR revoked_at > $1) ORDER BY id`,
    [now],
  );
  return rows.map(({ id }) =>
    warn(`the live key ${id} works on any site: restrict its allowed_origins`),
  );
}

async function checkCountryPolicies(database: Queries): Promise<Finding[]> {
  const rows = await database.query<{ id: string; name: string }>(
    `SELECT id, document->>'name' AS name FROM resources
      WHERE kind = 'policy' AND archived_at IS NULL AND document->'when'->'countries' IS NOT NULL ORDER BY id`,
  );
  return rows.map(({ id, name }) =>
    warn(
      `the policy ${id} (${name}) never applies: countries are known only if COUNTRY_HEADER is set`,
    ),
  );
}

async function checkWebhooks(database: Queries): Promise<Finding[]> {
  const rows = await database.query<{ id: string; url: string; reason: string | null }>(
    `SELECT id, document->>'url' AS url, document->>'disabled_reason' AS reason FROM resources
      WHERE kind = 'webhook' AND archived_at IS NULL AND document->>'status' = 'disabled'
        AND document->>'disabled_reason' <> 'operator' ORDER BY id`,
  );
  return rows.map(({ id, url, reason }) =>
    fail(
      `webhook ${id} (${url}) was disabled (${reason}): fix the receiver, enable the webhook, then recover missed events`,
    ),
  );
}

async function checkDeliveries(database: Queries, nowMs: number): Promise<Finding> {
  const [row] = await database.query<{ pending: number; late: number }>(
    `SELECT count(*)::bigint AS pending,
        count(*) FILTER (WHERE next_at < $1)::bigint AS late
      FROM delivery_queue`,
    [new Date(nowMs - overdueAfterMs)],
  );
  const text = `deliveries pending: ${row?.pending ?? 0}, overdue: ${row?.late ?? 0}`;
  return (row?.late ?? 0) > 0 ? warn(`${text}; start the service to deliver them`) : ok(text);
}

async function checkIntegrations(database: Queries, nowMs: number): Promise<Finding[]> {
  const scopes = await database.query<Scope>(
    `SELECT DISTINCT account_id AS "accountId", environment FROM keys ORDER BY 1, 2`,
  );
  const findings: Finding[] = [];
  for (const scope of scopes)
    for (const { name, evidence, remedy, guide } of findMistakes(
      await readIntegrationFacts(database, scope, nowMs),
    ))
      findings.push(
        warn(`${scope.accountId}, ${scope.environment}: ${name}: ${evidence} ${remedy} (${guide})`),
      );
  return findings.length > 0 ? findings : [ok('no mistakes in the integrations stand out')];
}
