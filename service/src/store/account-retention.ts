import type { Retention as RetentionSetting, RetentionRequest } from '@trueward/protocol/wire';
import { throwFieldErrors } from '../platform/domain-error.ts';
import type { Queries } from './database.ts';

const dayMs = 86_400_000;
/** How long data of child-directed requests is kept at most. */
export const childRetentionMs = 30 * dayMs;

/** How long the service keeps data at most. Undefined means forever. */
export interface ServiceRetention {
  /** For decisions, their events, and webhook events with their deliveries. */
  decisionsMs: number | undefined;
  /** For audit records. */
  auditMs: number | undefined;
}

interface AccountRow {
  retention_days: number | null;
  audit_retention_days: number | null;
}

const toMs = (days: number | null): number | undefined =>
  days === null ? undefined : days * dayMs;
const shorter = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b);

const limit = (service: ServiceRetention, row: AccountRow | undefined): ServiceRetention => ({
  decisionsMs: shorter(service.decisionsMs, toMs(row?.retention_days ?? null)),
  auditMs: shorter(service.auditMs, toMs(row?.audit_retention_days ?? null)),
});

async function readRow(
  queries: Pick<Queries, 'query'>,
  accountId: string,
): Promise<AccountRow | undefined> {
  const [row] = await queries.query<AccountRow>(
    'SELECT retention_days, audit_retention_days FROM accounts WHERE account_id = $1',
    [accountId],
  );
  return row;
}

/** Returns how long an account's data is kept: as long as the service keeps it, or less if its owners say so. */
export async function readAccountRetention(
  queries: Pick<Queries, 'query'>,
  accountId: string,
  service: ServiceRetention,
): Promise<ServiceRetention> {
  return limit(service, await readRow(queries, accountId));
}

/** Returns the retention of the accounts whose owners have changed it, by account id. */
export async function readChangedRetention(
  queries: Pick<Queries, 'query'>,
  service: ServiceRetention,
): Promise<Map<string, ServiceRetention>> {
  const rows = await queries.query<AccountRow & { account_id: string }>(
    `SELECT account_id, retention_days, audit_retention_days FROM accounts
      WHERE retention_days IS NOT NULL OR audit_retention_days IS NOT NULL ORDER BY account_id`,
  );
  return new Map(rows.map((row) => [row.account_id, limit(service, row)]));
}

/** Describes what is kept, and for how long. */
export async function describeRetention(
  queries: Pick<Queries, 'query'>,
  accountId: string,
  service: ServiceRetention,
): Promise<RetentionSetting> {
  const { decisionsMs, auditMs } = await readAccountRetention(queries, accountId, service);
  const days = (name: string, ms: number | undefined): object =>
    ms === undefined ? {} : { [name]: ms / dayMs };
  return {
    ...days('decision_days', decisionsMs),
    ...days('audit_days', auditMs),
    child_directed_days: childRetentionMs / dayMs,
    ...days('max_decision_days', service.decisionsMs),
    ...days('max_audit_days', service.auditMs),
  };
}

/**
 * Sets how long an account's data is kept. What is already older is deleted within an hour.
 *
 * @throws DomainError when that is longer than the service keeps it.
 */
export async function setAccountRetention(
  queries: Pick<Queries, 'query'>,
  accountId: string,
  service: ServiceRetention,
  { decision_days: decisionDays, audit_days: auditDays }: RetentionRequest,
): Promise<void> {
  const check = (pointer: string, days: number | undefined, ms: number | undefined) =>
    days !== undefined && ms !== undefined && days * dayMs > ms
      ? [{ pointer, message: `must be at most ${ms / dayMs}, which is the service's setting` }]
      : [];
  throwFieldErrors([
    ...check('/decision_days', decisionDays, service.decisionsMs),
    ...check('/audit_days', auditDays, service.auditMs),
  ]);
  await queries.query(
    'UPDATE accounts SET retention_days = $2, audit_retention_days = $3 WHERE account_id = $1',
    [accountId, decisionDays ?? null, auditDays ?? null],
  );
}
