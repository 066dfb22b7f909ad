import { randomBytes } from 'node:crypto';
import type { SourceCallback } from '@trueward/protocol/wire';
import type { SecretBox } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries } from '../store/database.ts';
import type { IfMatch } from '../store/if-match.ts';
import type { ResourceManager } from './resource-manager.ts';
import { createSourceSecrets } from './source-secrets.ts';

/** Changes how ad networks confirm the views of a source. A source has a callback if and only if it has a secret. */
export interface SourceCallbacks {
  /**
   * Sets a source's callback, and returns its secret.
   *
   * @param secret by default, a new one is made
   */
  set(
    operation: Operation,
    target: { id: string; ifMatch: IfMatch },
    callback: SourceCallback,
    secret?: string,
  ): Promise<string>;
  remove(operation: Operation, target: { id: string; ifMatch: IfMatch }): Promise<void>;
  /** Reads the secret of a source that has a callback. */
  readSecret(accountId: string, source: { id: string }): Promise<string>;
}

interface Deps {
  database: Queries;
  box: SecretBox;
  clock: Pick<Clock, 'nowMs'>;
  resourceManager: Pick<ResourceManager, 'change'>;
}

export function createSourceCallbacks(deps: Deps): SourceCallbacks {
  const { change } = deps.resourceManager;
  const secrets = createSourceSecrets<string>(deps, 'source_callback', 'callback');
  return {
    async set(
      operation,
      target,
      callback,
      secret = `cbs_${randomBytes(24).toString('base64url')}`,
    ) {
      const source = { kind: 'source', action: 'callback_changed', ...target } as const;
      await change(operation, source, (before) => ({ ...before, callback }));
      await secrets.store(operation, target.id, secret);
      return secret;
    },
    async remove(operation, target) {
      const source = { kind: 'source', action: 'callback_removed', ...target } as const;
      await change(operation, source, ({ callback: _callback, ...rest }) => rest);
      await secrets.store(operation, target.id, undefined);
    },
    readSecret: secrets.read,
  };
}
