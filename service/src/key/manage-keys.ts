import type { ApiKey, ApiKeyRequest } from '@trueward/protocol/wire';
import type { AuditLog, Operation } from '../audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/ids.ts';
import { RefusedError, refuseFields } from '../platform/refused-error.ts';
import { raiseConfigVersion } from '../resource/resource-store.ts';
import { createKey, findKeyById, revokeKey, setAllowedOrigins } from './key-store.ts';

interface Parts {
  clock: Clock;
  makeId: MakeId;
  audit: AuditLog;
}

/** What operators do with keys, each in the transaction of the operation. */
export interface ManageKeys {
  /** The answer carries the text of the key, this once. */
  create(operation: Operation, request: ApiKeyRequest): Promise<ApiKey>;
  update(operation: Operation, id: string, allowedOrigins: string[]): Promise<ApiKey>;
  /** Makes a key like this one, which itself ends after `overlapS` seconds. */
  roll(operation: Operation, id: string, overlapS: number): Promise<ApiKey>;
  revoke(operation: Operation, id: string): Promise<void>;
}

export function createManageKeys({ clock, makeId, audit }: Parts): ManageKeys {
  const find = async ({ queries, scope }: Operation, id: string): Promise<ApiKey> => {
    const key = await findKeyById(queries, scope, id);
    if (!key) throw new RefusedError('not_found', `There is no key ${id.slice(0, 64)} here.`);
    return key;
  };
  const finish = async (
    operation: Operation,
    action: string,
    id: string,
    before?: ApiKey,
  ): Promise<ApiKey> => {
    await raiseConfigVersion(operation.queries, operation.scope.accountId);
    const after = await find(operation, id);
    await audit.record(operation, { action, targetId: id, after, ...(before ? { before } : {}) });
    return after;
  };
  const make = async (
    operation: Operation,
    kind: ApiKey['kind'],
    allowedOrigins: string[],
  ): Promise<ApiKey> => {
    const { id, text } = await createKey(operation.queries, clock, makeId, {
      ...operation.scope,
      kind: kind === 'secret' ? 'sk' : 'pk',
      allowedOrigins,
    });
    return { ...(await finish(operation, 'key.created', id)), key: text };
  };
  const alive = async (operation: Operation, id: string): Promise<ApiKey> => {
    const key = await find(operation, id);
    if (key.revoked_at !== undefined && Date.parse(key.revoked_at) <= clock.nowMs())
      throw new RefusedError('conflict', 'The key has been revoked.');
    return key;
  };

  return {
    create(operation, { kind, allowed_origins: origins }) {
      // In live, nobody should find out later that any page could use the key.
      const required = kind === 'publishable' && operation.scope.environment === 'live';
      refuseFields([
        ...(required && origins === undefined
          ? [{ pointer: '/allowed_origins', message: 'is required for a publishable key in live' }]
          : []),
        ...(kind === 'secret' && origins !== undefined
          ? [{ pointer: '/allowed_origins', message: 'is for publishable keys only' }]
          : []),
      ]);
      return make(operation, kind, origins ?? ['*']);
    },
    async update(operation, id, allowedOrigins) {
      const before = await alive(operation, id);
      if (before.kind === 'secret')
        refuseFields([{ pointer: '/allowed_origins', message: 'is for publishable keys only' }]);
      await setAllowedOrigins(operation.queries, operation.scope, id, allowedOrigins);
      return finish(operation, 'key.updated', id, before);
    },
    async roll(operation, id, overlapS) {
      const before = await alive(operation, id);
      const made = await make(operation, before.kind, before.allowed_origins);
      await revokeKey(operation.queries, operation.scope, id, clock.nowMs() + overlapS * 1_000);
      await finish(operation, 'key.rolled', id, before);
      return made;
    },
    async revoke(operation, id) {
      const before = await find(operation, id);
      await revokeKey(operation.queries, operation.scope, id, clock.nowMs());
      await finish(operation, 'key.revoked', id, before);
    },
  };
}
