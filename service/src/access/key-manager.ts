import type { ApiKey, ApiKeyRequest, ApiKeyUpdate } from '@trueward/protocol/wire';
import type { AuditLog, Operation } from '../store/audit-log.ts';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import { normalizeOrigin } from '../platform/names.ts';
import { toOneLine } from '../platform/one-line.ts';
import { DomainError, errorsWhere, throwFieldErrors } from '../platform/domain-error.ts';
import type { Queries } from '../store/database.ts';
import type { Quotas } from '../store/quotas.ts';
import { type IfMatch, requireMatch } from '../store/if-match.ts';
import { createKey, findKeyById, revisionOfKey, revokeKey, updateKey } from './key-store.ts';

interface Deps {
  clock: Clock;
  makeId: MakeId;
  audit: AuditLog;
  quotas: Quotas;
  /** The highest rate limit that a key may have. If undefined, there is no maximum. */
  ceiling: { perS: number; burst: number } | undefined;
  /** Causes every process to reload the account's keys. */
  incrementConfigVersion(queries: Queries, accountId: string): Promise<void>;
}

type KeySettings = Pick<ApiKey, 'kind' | 'allowed_origins' | 'rate_limit'> & {
  name: string | undefined;
};

/** Manages API keys. Each call runs in the caller's transaction. */
export interface KeyManager {
  /** Creates a key. Only the returned object contains a full secret key. */
  create(operation: Operation, request: ApiKeyRequest): Promise<ApiKey>;
  update(
    operation: Operation,
    target: { id: string; ifMatch: IfMatch },
    changes: ApiKeyUpdate,
  ): Promise<ApiKey>;
  /**
   * Creates a key that replaces another. The old key is revoked after `overlapS` seconds (default: a day, or immediately
   * if the key has leaked). A publishable key keeps the game's id.
   */
  roll(operation: Operation, id: string, overlapS: number | undefined): Promise<ApiKey>;
  revoke(operation: Operation, id: string): Promise<void>;
}

export function createKeyManager({
  clock,
  makeId,
  audit,
  quotas,
  ceiling,
  incrementConfigVersion,
}: Deps): KeyManager {
  const find = async ({ queries, scope }: Operation, id: string): Promise<ApiKey> => {
    const key = await findKeyById(queries, scope, id);
    if (!key)
      throw new DomainError(
        'not_found',
        `Key ${id.slice(0, 64)} does not exist in this environment.`,
      );
    return key;
  };
  const finish = async (
    operation: Operation,
    action: string,
    id: string,
    before?: ApiKey,
  ): Promise<ApiKey> => {
    await incrementConfigVersion(operation.queries, operation.scope.accountId);
    const after = await find(operation, id);
    await audit.record(operation, { action, targetId: id, after, ...(before ? { before } : {}) });
    return after;
  };
  const createWithText = async (
    operation: Operation,
    { kind, name, allowed_origins: allowedOrigins, rate_limit: rateLimit }: KeySettings,
    replaces?: string,
  ): Promise<ApiKey> => {
    const isChange = replaces !== undefined;
    await quotas.check(operation.queries, operation.scope.accountId, 'keys', { isChange });
    const { id, text } = await createKey(operation.queries, clock, makeId, {
      ...operation.scope,
      kind: kind === 'secret' ? 'sk' : 'pk',
      allowedOrigins,
      rateLimit,
      ...(name === undefined ? {} : { name }),
      ...(replaces === undefined ? {} : { replaces }),
    });
    return { ...(await finish(operation, 'key.created', id)), key: text };
  };
  const findActive = async (operation: Operation, id: string): Promise<ApiKey> => {
    const key = await find(operation, id);
    if (key.revoked_at !== undefined && Date.parse(key.revoked_at) <= clock.nowMs())
      throw new DomainError('conflict', 'The key has been revoked.');
    return key;
  };

  return {
    create(operation, request) {
      const { kind, allowed_origins: origins, rate_limit: limit } = request;
      const { name, errors: nameErrors } = normalizeName(request.name);
      // In the live environment, allowing every origin must be explicit.
      const areOriginsRequired = kind === 'publishable' && operation.scope.environment === 'live';
      const normalized = normalizeOrigins(origins ?? ['*']);
      throwFieldErrors([
        ...nameErrors,
        ...normalized.errors,
        ...(areOriginsRequired && origins === undefined
          ? [{ pointer: '/allowed_origins', message: 'is required for a publishable key in live' }]
          : []),
        ...(kind === 'secret' && origins !== undefined
          ? [{ pointer: '/allowed_origins', message: 'is for publishable keys only' }]
          : []),
        ...findLimitErrors(ceiling, limit),
      ]);
      return createWithText(operation, { ...request, name, allowed_origins: normalized.origins });
    },
    async update(operation, { id, ifMatch }, changes) {
      const before = await findActive(operation, id);
      requireMatch(ifMatch, revisionOfKey(before));
      const { name = before.name, errors: nameErrors } = normalizeName(changes.name);
      const { allowed_origins: origins, rate_limit: limit = before.rate_limit } = changes;
      const normalized = normalizeOrigins(origins ?? before.allowed_origins);
      throwFieldErrors([
        ...nameErrors,
        ...normalized.errors,
        ...(before.kind === 'secret' && origins !== undefined
          ? [{ pointer: '/allowed_origins', message: 'is for publishable keys only' }]
          : []),
        ...findLimitErrors(ceiling, changes.rate_limit),
      ]);
      await updateKey(operation.queries, operation.scope, {
        id,
        allowed_origins: normalized.origins,
        ...(limit ? { rate_limit: limit } : {}),
        ...(name === undefined ? {} : { name }),
      });
      return finish(operation, 'key.updated', id, before);
    },
    async roll(operation, id, chosenOverlapS) {
      const before = await findActive(operation, id);
      const overlapS = chosenOverlapS ?? (before.leaked_at === undefined ? 86_400 : 0);
      const created = await createWithText(operation, { ...before, name: before.name }, id);
      await revokeKey(operation.queries, operation.scope, id, clock.nowMs() + overlapS * 1_000);
      await finish(operation, 'key.rolled', id, before);
      return created;
    },
    async revoke(operation, id) {
      const before = await find(operation, id);
      await revokeKey(operation.queries, operation.scope, id, clock.nowMs());
      await finish(operation, 'key.revoked', id, before);
    },
  };
}

/** Returns a key's name as one line, and an error for a text without a visible character. */
function normalizeName(text: string | undefined) {
  const name = text === undefined ? undefined : toOneLine(text, maxNameLength);
  const isMissing = text !== undefined && name === undefined;
  return { name, errors: errorsWhere([isMissing, '/name', 'must contain a visible character']) };
}

/** As long as in the schema. */
const maxNameLength = 100;

/** Returns origins as browsers send them, because a key compares them, and an error for each text that is none. */
function normalizeOrigins(texts: readonly string[]) {
  const origins = texts.map((text) => normalizeOrigin(text));
  return {
    origins: [...new Set(origins.filter((origin) => origin !== undefined))],
    errors: origins.flatMap((origin, index) =>
      origin === undefined
        ? [
            {
              pointer: `/allowed_origins/${index}`,
              message: 'must be an origin such as https://game.example',
            },
          ]
        : [],
    ),
  };
}

/** Returns errors for rate-limit members that exceed the ceiling. */
const findLimitErrors = (
  ceiling: Deps['ceiling'],
  limit: ApiKey['rate_limit'] | null,
): { pointer: string; message: string }[] => {
  if (!ceiling || !limit) return [];
  const max = { per_s: ceiling.perS, burst: ceiling.burst };
  return (['per_s', 'burst'] as const)
    .filter((name) => limit[name] > max[name])
    .map((name) => ({
      pointer: `/rate_limit/${name}`,
      message: `must be at most ${max[name]}, the highest limit on this service`,
    }));
};
