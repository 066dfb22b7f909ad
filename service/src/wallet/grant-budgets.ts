import type { GrantBudget } from '@trueward/protocol/wire';
import { DomainError } from '../platform/domain-error.ts';
import type { Queries, Scope } from '../store/database.ts';
import { hashRevision } from '../store/if-match.ts';

/** How much of a type may be given in a day, and for how long timed rewards of this type. */
export interface BudgetRequest {
  type: string;
  amount: number;
  durationS: number;
}

/** The maximum number of types with a budget. */
const maxBudgets = 100;

/** The day in UTC, for which a budget counts. */
const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * A column's value on the day `$3`. A process whose clock is behind midnight doesn't begin the day again, so that two
 * processes never give a budget twice.
 */
const onDay = (column: string): string => `CASE WHEN day >= $3::date THEN ${column} ELSE 0 END`;

/** Lists the budgets with what has been given today. */
export async function listGrantBudgets(
  queries: Pick<Queries, 'query'>,
  { accountId, environment }: Scope,
  nowMs: number,
): Promise<GrantBudget[]> {
  return queries.query<GrantBudget>(
    `SELECT type, amount, duration_s, ${onDay('used_amount')} AS used_amount,
        ${onDay('used_duration_s')} AS used_duration_s
      FROM grant_budgets WHERE account_id = $1 AND environment = $2 ORDER BY type`,
    [accountId, environment, toDay(nowMs)],
  );
}

/** Returns the revision of all budgets together, whatever has been given of them. */
export const revisionOfBudgets = (budgets: readonly GrantBudget[]): string =>
  hashRevision(budgets.map(({ type, amount, duration_s }) => [type, amount, duration_s]));

/**
 * Sets a budget. What has been given today still counts.
 *
 * @throws DomainError when there are too many types.
 */
export async function setGrantBudget(
  queries: Pick<Queries, 'query'>,
  scope: Scope,
  { type, amount, durationS }: BudgetRequest,
  nowMs: number,
): Promise<GrantBudget> {
  const { accountId, environment } = scope;
  await queries.query(
    `INSERT INTO grant_budgets (account_id, environment, type, amount, duration_s, day, used_amount, used_duration_s)
      VALUES ($1, $2, $3, $4, $5, $6, 0, 0) ON CONFLICT (account_id, environment, type)
      DO UPDATE SET amount = excluded.amount, duration_s = excluded.duration_s`,
    [accountId, environment, type, amount, durationS, toDay(nowMs)],
  );
  const budgets = await listGrantBudgets(queries, scope, nowMs);
  if (budgets.length > maxBudgets)
    throw new DomainError('quota_exceeded', `At most ${maxBudgets} types can have a budget.`);
  return (
    budgets.find((budget) => budget.type === type) ??
    Promise.reject(new Error(`The budget for ${type} was not stored.`))
  );
}

/**
 * Takes a grant from today's budget for its type, in the transaction that gives it.
 *
 * @throws DomainError when less is left.
 */
export async function takeFromBudget(
  queries: Pick<Queries, 'query'>,
  scope: Scope,
  { type, amount, durationS }: BudgetRequest,
  nowMs: number,
): Promise<void> {
  const taken = await queries.query(
    `UPDATE grant_budgets SET day = greatest(day, $3::date),
        used_amount = ${onDay('used_amount')} + $5::bigint,
        used_duration_s = ${onDay('used_duration_s')} + $6::bigint
      WHERE account_id = $1 AND environment = $2 AND type = $4
        AND ${onDay('used_amount')} + $5::bigint <= amount
        AND ${onDay('used_duration_s')} + $6::bigint <= duration_s RETURNING type`,
    [scope.accountId, scope.environment, toDay(nowMs), type, amount, durationS],
  );
  if (taken.length > 0) return;
  const budget = (await listGrantBudgets(queries, scope, nowMs)).find(
    (other) => other.type === type,
  );
  const [limit = 0, used = 0, unit] =
    durationS > 0
      ? [budget?.duration_s, budget?.used_duration_s, ` seconds of ${type}`]
      : [budget?.amount, budget?.used_amount, ` ${type}`];
  throw new DomainError(
    'quota_exceeded',
    `The panel’s daily budget is ${limit}${unit}, of which ${Math.max(0, limit - used)} are left; got ${durationS > 0 ? durationS : amount}. An owner sets it on the page Players.`,
  );
}
