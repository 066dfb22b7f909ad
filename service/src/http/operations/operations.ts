import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration } from '../../decision/configuration.ts';
import type { Principal } from '../../key/principal.ts';
import type { SecretBox } from '../../key/secret-box.ts';
import type { Clock } from '../../platform/clock.ts';
import type { IfMatch } from '../../resource/resource-manager.ts';
import { lockConfiguration } from '../../resource/resource-store.ts';
import type { Operation } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { type OperationResponse, runOnce } from './idempotency.ts';

interface Deps {
  database: Database;
  configuration: Configuration;
  box: SecretBox;
  clock: Clock;
  /** Wakes the dispatcher, because there may be new deliveries. */
  wake(): void;
}

/**
 * Runs an operator's request in one transaction, and responds after this process has applied the change. Handles
 * `Idempotency-Key` for every operation.
 */
export type RunOperation = (
  request: FastifyRequest,
  reply: FastifyReply,
  work: (operation: Operation) => Promise<OperationResponse>,
) => Promise<FastifyReply>;

export function createRunOperation({
  database,
  configuration,
  box,
  clock,
  wake,
}: Deps): RunOperation {
  return async (request, reply, work) => {
    const principal = getPrincipal(request);
    const { accountId, environment } = principal;
    const scope = { accountId, environment };
    const response = await database.transaction(async (queries) => {
      await lockConfiguration(queries, accountId);
      return runOnce({ queries, box, clock }, scope, request, () =>
        work({ queries, scope, actor: getActor(principal), requestId: request.id }),
      );
    });
    if (response.replayed) void reply.header('idempotency-replayed', 'true');
    else {
      await configuration.refresh(accountId);
      wake();
    }
    if (response.revision !== undefined) void reply.header('etag', toEntityTag(response.revision));
    return reply.code(response.status).send(response.body);
  };
}

/** Returns the actor for the audit log: a user's e-mail address or a key's id. */
export const getActor = (principal: Principal): string =>
  principal.kind === 'session' ? principal.email : principal.keyId;

/** Formats the revision of an object as a strong entity tag. */
export const toEntityTag = (revision: number): string => `"${revision}"`;

/** Returns the condition of the `If-Match` header (RFC 9110, 13.1.1), or undefined if there is none. */
export function readIfMatch(request: FastifyRequest): IfMatch {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (revision) => tags.includes(toEntityTag(revision));
}
