import type { RetentionRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { throwFieldErrors } from '../../platform/domain-error.ts';
import { checkLookbacks } from '../../resource/check-document.ts';
import {
  describeRetention,
  readAccountRetention,
  type ServiceRetention,
  setAccountRetention,
} from '../../store/account-retention.ts';
import type { AuditLog } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import { hashRevision, requireMatch } from '../../store/if-match.ts';
import type { Principal } from '../../access/principal.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { changeHeaders } from '../openapi.ts';
import { readIfMatch, type RunOperation, toEntityTag } from '../operations.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  database: Database;
  audit: AuditLog;
  retention: ServiceRetention;
  runOperation: RunOperation;
}

const retentionResponse = { description: 'How long data is kept.', $ref: 'Retention#' };

/** Adds the routes that show and set how long an account's data is kept. */
export function addRetentionRoutes(app: FastifyInstance, deps: Deps): void {
  const { database, audit, retention, runOperation } = deps;
  app.get(
    '/v1/retention',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'readRetention',
        summary: 'Read how long data is kept',
        response: { 200: retentionResponse },
      },
    },
    async (request, reply) => {
      const shown = await describeRetention(database, getPrincipal(request).accountId, retention);
      return reply.header('etag', toEntityTag(hashRevision(shown))).send(shown);
    },
  );
  app.put<{ Body: RetentionRequest }>(
    '/v1/retention',
    {
      config: { keys: ['sk'], role: 'owner', power: 'retention' },
      schema: {
        operationId: 'setRetention',
        summary: 'Set how long data is kept',
        description:
          'For both environments of the account. What is older is deleted within an hour, and can’t be restored. Reports keep their totals. Recorded in the audit log. Requires a live key.',
        headers: changeHeaders,
        body: { $ref: 'RetentionRequest#' },
        response: { 200: retentionResponse },
      },
    },
    (request, reply) => {
      checkEnvironment(getPrincipal(request));
      return runOperation(request, reply, async (operation) => {
        const { queries, scope } = operation;
        const { accountId } = scope;
        const before = await describeRetention(queries, accountId, retention);
        requireMatch(readIfMatch(request), hashRevision(before));
        await setAccountRetention(queries, accountId, retention, request.body);
        const { decisionsMs } = await readAccountRetention(queries, accountId, retention);
        throwFieldErrors(await checkLookbacks(queries, accountId, decisionsMs));
        const after = await describeRetention(queries, accountId, retention);
        await audit.record(operation, {
          action: 'retention.set',
          targetId: accountId,
          before,
          after,
        });
        return { status: 200, body: after, revision: hashRevision(after) };
      });
    },
  );
}

/** @throws ProblemError for a key that may only change the sandbox. */
function checkEnvironment({ kind, environment }: Principal): void {
  if (kind === 'session' || environment === 'live') return;
  throw new ProblemError(
    'environment_mismatch',
    'The sandbox key would change how long live data is kept: send a live secret key, or use the panel.',
  );
}
