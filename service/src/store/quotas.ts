import { BoundedMap } from '../platform/bounded-map.ts';
import { DomainError } from '../platform/domain-error.ts';
import {
  defaultQuotas,
  type QuotaKind,
  quotaKinds,
  type QuotaLimits,
} from '../platform/quota-limits.ts';
import type { Clock } from '../platform/time.ts';
import type { Queries } from './database.ts';

interface Quota {
  /** What is counted, for messages. */
  title: string;
  /** A query for the amount that is stored, in the limit's unit. `$1` is the account. */
  used: string;
  /** How to make room, for messages. */
  remedy: string;
}

const countResources = (kind: string, title: string, remedy = 'archive some of them'): Quota => ({
  title,
  used: `SELECT count(*)::bigint AS used FROM resources
    WHERE account_id = $1 AND kind = '${kind}' AND archived_at IS NULL`,
  remedy,
});

/** How each kind is counted. */
const quotas: Record<QuotaKind, Quota> = {
  placements: countResources('placement', 'placements'),
  sources: countResources('source', 'sources'),
  advertisers: countResources('advertiser', 'advertisers'),
  creatives: countResources('creative', 'creatives'),
  house_ads: countResources('houseAd', 'house ads'),
  policies: countResources('policy', 'policies'),
  ad_rules: countResources('adRule', 'ad rules'),
  kill_switches: countResources('killSwitch', 'kill switches'),
  webhooks: countResources('webhook', 'webhooks', 'delete some of them'),
  configuration_kb: {
    title: 'KiB of configuration',
    used: `SELECT ceil(coalesce(sum(bytes), 0) / 1024.0)::bigint AS used FROM resources
      WHERE account_id = $1 AND archived_at IS NULL`,
    remedy: 'archive objects, or make them smaller',
  },
  media_mb: {
    title: 'MiB of media',
    used: `SELECT ceil(coalesce(sum(bytes), 0) / 1048576.0)::bigint AS used FROM uploads WHERE account_id = $1`,
    remedy: 'archive creatives: files that no creative uses are deleted after 30 days',
  },
  keys: {
    title: 'keys',
    used: 'SELECT count(*)::bigint AS used FROM keys WHERE account_id = $1',
    remedy: 'revoke some of them: they are deleted after 30 days',
  },
  users: {
    title: 'users',
    used: 'SELECT count(*)::bigint AS used FROM users WHERE account_id = $1',
    remedy: 'remove some of them',
  },
  user_token_secrets: {
    title: 'secrets for user tokens',
    used: `SELECT count(*)::bigint AS used FROM secrets WHERE account_id = $1 AND purpose = 'user_token'`,
    remedy: 'wait until older secrets have expired, or send a shorter overlap_s',
  },
};

/**
 * How far a change may exceed a limit that creating something may not: at the limit, it must still be possible to review
 * a creative or to roll a leaked key.
 */
const reserve = 1.25;

/** How much of a kind an account stores, and the most that it may store. */
export interface QuotaUsage {
  kind: QuotaKind;
  used: number;
  limit: number;
}

export interface Quotas {
  /**
   * Checks that an account may store more. Call it in the change's transaction, which has locked the account's
   * configuration; otherwise, concurrent changes may exceed the limit by what each of them adds.
   *
   * @param options `added`: how much is added (default 1). `isChange`: whether the reserve may be used
   * @throws DomainError `quota_exceeded`
   */
  check(
    queries: Queries,
    accountId: string,
    kind: QuotaKind,
    options?: { added?: number; isChange?: boolean },
  ): Promise<void>;
  /** Reads what an account stores, in the order of {@link defaultQuotas}. May be two seconds old. */
  read(queries: Queries, accountId: string): Promise<QuotaUsage[]>;
}

/** How long what was read is returned again. Counting a large configuration takes the database a few milliseconds. */
const readForMs = 2_000;
/** Maximum number of accounts whose usage is remembered. */
const maxRemembered = 1_000;

export function createQuotas(limits: QuotaLimits, clock: Pick<Clock, 'monotonicMs'>): Quotas {
  const remembered = new BoundedMap<string, { usage: Promise<QuotaUsage[]>; endsAtMs: number }>(
    maxRemembered,
  );
  const readUsed = async (
    queries: Queries,
    accountId: string,
    kind: QuotaKind,
  ): Promise<QuotaUsage> => {
    const [row] = await queries.query<{ used: number }>(quotas[kind].used, [accountId]);
    return { kind, used: row?.used ?? 0, limit: limits[kind] ?? defaultQuotas[kind] };
  };
  return {
    async check(queries, accountId, kind, { added = 1, isChange = false } = {}) {
      remembered.delete(accountId);
      const { used, limit } = await readUsed(queries, accountId, kind);
      if (used + added <= (isChange ? limit * reserve : limit)) return;
      const { title, remedy } = quotas[kind];
      throw new DomainError(
        'quota_exceeded',
        `This account stores ${used} ${title}, and its limit is ${limit}. To make room, ${remedy}. ` +
          'The operator of the service can change the limit with ACCOUNT_QUOTAS.',
      );
    },
    read(queries, accountId) {
      const nowMs = clock.monotonicMs();
      const known = remembered.get(accountId);
      if (known && nowMs < known.endsAtMs) return known.usage;
      const readAll = async (): Promise<QuotaUsage[]> => {
        const usage: QuotaUsage[] = [];
        for (const kind of quotaKinds) usage.push(await readUsed(queries, accountId, kind));
        return usage;
      };
      const usage = readAll();
      remembered.set(accountId, { usage, endsAtMs: nowMs + readForMs });
      usage.catch(() => remembered.delete(accountId));
      return usage;
    },
  };
}
