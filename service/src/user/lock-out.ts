import { createHash } from 'node:crypto';
import { serviceAccount } from '../key/service-secrets.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queries } from '../store/database.ts';

/** So many attempts in a row are free; an address may be that of a whole office. */
const free = { email: 5, address: 20 };
/** After them each failure doubles the wait, from the first to the longest; seconds. */
const firstWaitS = 30;
const longestWaitS = 900;
const forgottenAfterMs = 86_400_000;

/** Who tries to sign in, and from where. */
export interface Attempt {
  email: string;
  address: string;
}

/** Slows down whoever guesses passwords. */
export interface LockOut {
  /**
   * Counts an attempt before it is looked at, so that many at once count as many. Hands back the
   * seconds to wait when it is one too many, otherwise 0.
   */
  take(attempt: Attempt): Promise<number>;
  /** The attempt was a success: it counts no more, and the e-mail begins anew. */
  giveBack(attempt: Attempt): Promise<void>;
}

export function createLockOut(queries: Queries, clock: Clock): LockOut {
  const takeOne = async (kind: keyof typeof free, name: string): Promise<number> => {
    const nowMs = clock.nowMs();
    const counted = await queries.query(
      `INSERT INTO sign_in_attempts AS known (account_id, subject, failures, locked_until, last_at)
        VALUES ($1, $2, 1, $3, $3)
        ON CONFLICT (account_id, subject) DO UPDATE SET failures = known.failures + 1, last_at = $3,
          locked_until = CASE WHEN known.failures + 1 < $4 THEN known.locked_until ELSE
            $3::timestamptz + interval '1 second'
              * least($5::float8 * power(2, least(known.failures + 1 - $4, 20)), $6) END
          WHERE known.locked_until <= $3
        RETURNING subject`,
      [
        serviceAccount,
        subjectOf(kind, name),
        new Date(nowMs),
        free[kind],
        firstWaitS,
        longestWaitS,
      ],
    );
    if (counted.length > 0) return 0;
    const [row] = await queries.query<{ locked_until: Date }>(
      'SELECT locked_until FROM sign_in_attempts WHERE account_id = $1 AND subject = $2',
      [serviceAccount, subjectOf(kind, name)],
    );
    return row ? Math.max(1, Math.ceil((row.locked_until.getTime() - nowMs) / 1_000)) : 0;
  };
  return {
    async take({ email, address }) {
      await queries.query('DELETE FROM sign_in_attempts WHERE account_id = $1 AND last_at < $2', [
        serviceAccount,
        new Date(clock.nowMs() - forgottenAfterMs),
      ]);
      return (await takeOne('address', address)) || (await takeOne('email', email));
    },
    async giveBack({ email, address }) {
      await queries.query('DELETE FROM sign_in_attempts WHERE account_id = $1 AND subject = $2', [
        serviceAccount,
        subjectOf('email', email),
      ]);
      await queries.query(
        `UPDATE sign_in_attempts SET failures = greatest(failures - 1, 0), locked_until = $3
          WHERE account_id = $1 AND subject = $2`,
        [serviceAccount, subjectOf('address', address), new Date(clock.nowMs())],
      );
    },
  };
}

/** Of one length, whatever was typed. */
const subjectOf = (kind: string, name: string): string =>
  createHash('sha256').update(`${kind} ${name}`).digest('hex');
