import { BoundedMap } from '../platform/bounded-map.ts';
import { createHash } from 'node:crypto';
import type { Clock } from '../platform/time.ts';
import type { Queries } from '../store/database.ts';
import { serviceAccount } from './secret-box.ts';

interface Limit {
  /** Number of consecutive failures that trigger the first delay. */
  failureLimit: number;
  /** The first delay. It doubles with each further failure. */
  firstWaitS: number;
  longestWaitS: number;
}

/**
 * The limits for failed sign-ins. `pair` applies to one account from one IP, and is the strictest. `ip` applies to one
 * IP across all accounts that have not signed in from it, so nobody can lock out a colleague behind the same IP. `account` applies to one
 * account across all IPs, and is only strict enough to slow down botnets: if it were stricter, anyone could lock out an
 * owner with failed sign-ins.
 */
const limits = {
  pair: { failureLimit: 5, firstWaitS: 30, longestWaitS: 900 },
  ip: { failureLimit: 20, firstWaitS: 30, longestWaitS: 900 },
  account: { failureLimit: 50, firstWaitS: 5, longestWaitS: 60 },
} as const satisfies Record<string, Limit>;

/** How long an IP is exempt from an account's limit after a successful sign-in. */
const knownForMs = 30 * 86_400_000;

/** The e-mail address and IP of a sign-in attempt. */
export interface Attempt {
  email: string;
  ip: string;
}

/** An attempt. It is counted before its outcome is known, so that concurrent attempts can't evade the limits. */
interface CountedAttempt {
  /** Records a success, which resets the account's failure count for this IP. */
  succeed(): Promise<void>;
  /** Removes the attempt from the counts. For attempts that neither succeeded nor failed. */
  undo(): Promise<void>;
}

/** Limits attempts to guess passwords and codes. */
export interface Lockout {
  /** Records an attempt. If too many have failed, resolves to the number of seconds to wait instead. */
  count(attempt: Attempt): Promise<CountedAttempt | { waitS: number }>;
  /** Records that the user has signed in from this IP without a password. */
  remember(attempt: Attempt): Promise<void>;
}

/** A row of `sign_in_attempts` after its failure count was incremented. */
interface AttemptRow {
  subject: string;
  failures: number;
  /** Until when the subject, a user at an IP, is known because of an earlier sign-in. */
  known_until: Date | null;
}

/** How long this process trusts that a subject is still locked. An operator may have unlocked it in the database. */
const trustLockMs = 5_000;
/** Minimum time between two checks of a locked IP. */
const checkIntervalMs = 1_000;
/** Maximum number of locked subjects that are remembered. */
const maxLocked = 10_000;

export function createLockout(queries: Queries, clock: Clock): Lockout {
  /** When locked subjects may try again. While a subject is locked, its attempts cost no statement. */
  const locked = new BoundedMap<string, { untilMs: number; readAtMs: number }>(maxLocked);
  const rememberLock = (subject: string, untilMs: number): void => {
    locked.set(subject, { untilMs, readAtMs: clock.nowMs() });
  };
  const count = async (subject: string, limit: Limit): Promise<AttemptRow | { waitS: number }> => {
    const nowMs = clock.nowMs();
    const lock = locked.get(subject);
    if (lock && nowMs < lock.untilMs && nowMs - lock.readAtMs < trustLockMs)
      return { waitS: Math.max(1, Math.ceil((lock.untilMs - nowMs) / 1_000)) };
    locked.delete(subject);
    const { failureLimit, firstWaitS, longestWaitS } = limit;
    // Citus requires an immutable function here. `to_timestamp` is immutable. Adding an interval is not, because the
    // result depends on the time zone.
    const [counted] = await queries.query<AttemptRow>(
      `INSERT INTO sign_in_attempts AS known (account_id, subject, failures, locked_until, last_at)
        VALUES ($1, $2, 1, $3, $3)
        ON CONFLICT (account_id, subject) DO UPDATE SET failures = known.failures + 1, last_at = $3,
          locked_until = CASE WHEN known.failures + 1 < $4 THEN known.locked_until ELSE
            to_timestamp($7::float8 + least($5::float8 * power(2, least(known.failures + 1 - $4, 20)), $6)) END
          WHERE known.locked_until <= $3
        RETURNING subject, failures, known_until`,
      [
        serviceAccount,
        subject,
        new Date(nowMs),
        failureLimit,
        firstWaitS,
        longestWaitS,
        nowMs / 1_000,
      ],
    );
    if (counted) return counted;
    const [row] = await queries.query<{ locked_until: Date }>(
      'SELECT locked_until FROM sign_in_attempts WHERE account_id = $1 AND subject = $2',
      [serviceAccount, subject],
    );
    const untilMs = row?.locked_until.getTime() ?? nowMs;
    rememberLock(subject, untilMs);
    const waitMs = untilMs - nowMs;
    return { waitS: Math.max(1, Math.ceil(waitMs / 1_000)) };
  };
  /** Undoes a count, but keeps the delay caused by a concurrent attempt. */
  const undoCount = async ({ subject, failures }: AttemptRow): Promise<void> => {
    await queries.query(
      `UPDATE sign_in_attempts SET failures = greatest(failures - 1, 0),
          locked_until = CASE WHEN failures = $3 THEN least(locked_until, $4) ELSE locked_until END
        WHERE account_id = $1 AND subject = $2`,
      [serviceAccount, subject, failures, new Date(clock.nowMs())],
    );
  };
  /** Until when this process knows that a user has signed in from an IP. These users pass at no cost. */
  const knownUntilMs = new BoundedMap<string, number>(maxLocked);
  const rememberKnown = (pair: string, untilMs: number): void => {
    knownUntilMs.set(pair, untilMs);
  };
  const isRemembered = (pair: string): boolean =>
    (knownUntilMs.get(pair) ?? -Infinity) > clock.nowMs();
  const isKnown = async (pair: string): Promise<boolean> =>
    (
      await queries.query(
        'SELECT 1 FROM sign_in_attempts WHERE account_id = $1 AND subject = $2 AND known_until > $3',
        [serviceAccount, pair, new Date(clock.nowMs())],
      )
    ).length > 0;

  /** When a locked IP may next cost a statement that checks whether a user has signed in from it. */
  const nextChecksAtMs = new BoundedMap<string, number>(maxLocked);
  const mayCheck = (address: string): boolean => {
    const nowMs = clock.monotonicMs();
    if (nowMs < (nextChecksAtMs.get(address) ?? -Infinity)) return false;
    nextChecksAtMs.set(address, nowMs + checkIntervalMs);
    return true;
  };

  return {
    async remember({ email, ip }) {
      const nowMs = clock.nowMs();
      await queries.query(
        `INSERT INTO sign_in_attempts (account_id, subject, failures, locked_until, last_at, known_until)
          VALUES ($1, $2, 0, $3, $3, $4) ON CONFLICT (account_id, subject) DO UPDATE SET known_until = $4`,
        [
          serviceAccount,
          hashSubject('pair', `${email} ${ip}`),
          new Date(nowMs),
          new Date(nowMs + knownForMs),
        ],
      );
      rememberKnown(hashSubject('pair', `${email} ${ip}`), nowMs + knownForMs);
    },
    async count({ email, ip }) {
      const pair = hashSubject('pair', `${email} ${ip}`);
      const account = hashSubject('account', email);
      const address = hashSubject('address', ip);
      const countedAttempts: AttemptRow[] = [];
      const undo = async (): Promise<void> => {
        for (const counted of countedAttempts) await undoCount(counted);
      };
      // Counts the IP first, so that a locked-out IP can't add rows for made-up e-mail addresses. Users who have signed
      // in from the IP pass.
      const countedAddress = await count(address, limits.ip);
      if (!('waitS' in countedAddress)) countedAttempts.push(countedAddress);
      else if (!isRemembered(pair) && !(mayCheck(address) && (await isKnown(pair))))
        return countedAddress;
      const countedPair = await count(pair, limits.pair);
      if ('waitS' in countedPair) {
        await undo();
        return countedPair;
      }
      countedAttempts.push(countedPair);
      if ((countedPair.known_until?.getTime() ?? -Infinity) <= clock.nowMs()) {
        const countedAccount = await count(account, limits.account);
        if ('waitS' in countedAccount) {
          await undo();
          return countedAccount;
        }
        countedAttempts.push(countedAccount);
      }
      return {
        undo,
        async succeed() {
          await undo();
          const nowMs = clock.nowMs();
          await queries.query(
            `UPDATE sign_in_attempts SET failures = 0, locked_until = $3, known_until = $4
              WHERE account_id = $1 AND subject = $2`,
            [serviceAccount, pair, new Date(nowMs), new Date(nowMs + knownForMs)],
          );
          rememberKnown(pair, nowMs + knownForMs);
          await queries.query(
            'DELETE FROM sign_in_attempts WHERE account_id = $1 AND subject = $2',
            [serviceAccount, account],
          );
        },
      };
    },
  };
}

/** Hashes a subject, so that its stored name is short regardless of the input's length. */
const hashSubject = (kind: string, name: string): string =>
  createHash('sha256').update(`${kind} ${name}`).digest('hex');
