import type { WalletReport } from '@trueward/protocol/wire';
import { listBuckets } from '../history/time-buckets.ts';
import { DomainError } from '../platform/domain-error.ts';
import { formatInstant } from '../platform/time.ts';
import type { Queries, Scope } from '../store/database.ts';
import { maxBalance } from './wallet.ts';

/** The period of a report. */
export interface WalletReportQuery {
  fromMs: number;
  toMs: number;
  /** IANA name of the time zone that defines days. */
  timeZone: string;
}

/** Maximum number of rows in a report. */
const maxRows = 10_000;
/** Players choose the reasons of spends, so a modified client can invent any number of them. */
const maxReasons = 100;

interface ChangeRow {
  bucket: number;
  kind: 'reward' | 'grant' | 'spend';
  type: string;
  /** Empty if the entries have none. */
  reason: string;
  changes: number;
  players: number;
  amount: number;
  durationS: number;
}

const inPeriod = `FROM wallet_entries WHERE account_id = $1 AND environment = $2 AND at >= $3 AND at < $4
  AND kind <> 'transfer'`;
/** A sum of any number of balances, as a number that JSON can represent. */
const capped = (sum: string): string => `least(coalesce(${sum}, 0), ${maxBalance})::bigint`;

/**
 * Reports what players were credited with and what they spent, per day, and what they have. Reads the entries of the
 * period: erased players are not in them. Transfers move what was counted when it was credited, so they don't count.
 *
 * @throws DomainError when the report has too many rows.
 */
export async function readWalletReport(
  queries: Pick<Queries, 'query'>,
  { accountId, environment }: Scope,
  { fromMs, toMs, timeZone }: WalletReportQuery,
  nowMs: number,
): Promise<WalletReport> {
  const days = listBuckets({ fromMs, toMs }, 'day', timeZone).map(formatInstant);
  const period = [accountId, environment, new Date(fromMs), new Date(toMs)];
  const rows = await queries.query<ChangeRow>(
    `WITH changes AS (SELECT width_bucket(at, $5::timestamptz[]) AS bucket, kind, type,
          coalesce(reason, '') AS reason, viewer, delta, duration_s ${inPeriod}),
        frequent AS (SELECT reason FROM changes GROUP BY reason ORDER BY count(*) DESC, reason LIMIT ${maxReasons})
      SELECT bucket, kind, type, coalesce(frequent.reason, '(other)') AS reason, count(*)::bigint AS changes,
          count(DISTINCT viewer)::bigint AS players, ${capped('sum(abs(delta))')} AS amount,
          ${capped('sum(duration_s)')} AS "durationS"
        FROM changes LEFT JOIN frequent USING (reason)
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 LIMIT ${maxRows + 1}`,
    [...period, days],
  );
  if (rows.length > maxRows)
    throw new DomainError(
      'invalid_request',
      `The report has more than ${maxRows} rows. Request a shorter period.`,
    );
  const [players] = await queries.query<WalletReport['players']>(
    `SELECT count(*) FILTER (WHERE earned)::bigint AS earned, count(*) FILTER (WHERE spent)::bigint AS spent,
        count(*) FILTER (WHERE earned AND spent)::bigint AS earned_and_spent
      FROM (SELECT bool_or(kind = 'reward') AS earned, bool_or(kind = 'spend') AS spent ${inPeriod}
        GROUP BY viewer) players`,
    period,
  );
  const holdings = await queries.query<WalletReport['holdings'][number]>(
    `SELECT type, count(*) FILTER (WHERE balance > 0)::bigint AS players, ${capped('sum(balance)')} AS balance,
        count(*) FILTER (WHERE active_until > $3)::bigint AS active_players
      FROM wallet_balances WHERE account_id = $1 AND environment = $2 AND (balance > 0 OR active_until > $3)
      GROUP BY type ORDER BY type LIMIT ${maxRows}`,
    [accountId, environment, new Date(nowMs)],
  );
  return {
    from: formatInstant(fromMs),
    to: formatInstant(toMs),
    tz: timeZone,
    data: rows.map(({ bucket, reason, durationS, ...row }) => ({
      period: days[bucket - 1] ?? '',
      ...row,
      ...(reason === '' ? {} : { reason }),
      duration_s: durationS,
    })),
    players: players ?? { earned: 0, spent: 0, earned_and_spent: 0 },
    holdings,
  };
}
