import { linePattern } from '@trueward/protocol';
import type { GrantBudgetList, GrantBudgetRequest, WalletReport } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { isTimeZone } from '../../history/time-buckets.ts';
import { errorsWhere } from '../../platform/domain-error.ts';
import { type Clock, hourMs, requireInstant } from '../../platform/time.ts';
import type { AuditLog } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import { requireMatch } from '../../store/if-match.ts';
import { listGrantBudgets, revisionOfBudgets, setGrantBudget } from '../../wallet/grant-budgets.ts';
import { readWalletReport } from '../../wallet/wallet-report.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { changeHeaders } from '../openapi.ts';
import { readIfMatch, type RunOperation, toEntityTag } from '../operations.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  database: Database;
  clock: Clock;
  audit: AuditLog;
  runOperation: RunOperation;
}

interface ReportParams {
  from: string;
  to: string;
  tz: string;
}

/** The longest period, in days. Unlike other reports, this one reads each entry. */
const maxDays = 92;

/** Adds the routes for all wallets of an environment: the report, and the budgets for what users give. */
export function addWalletOperationRoutes(app: FastifyInstance, deps: Deps): void {
  const { database, clock, audit, runOperation } = deps;
  app.get<{ Querystring: ReportParams }>(
    '/v1/wallet-reports',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'readWalletReport',
        summary: 'Read what players were credited with and what they spent, per day',
        querystring: {
          type: 'object',
          additionalProperties: false,
          required: ['from', 'to'],
          properties: {
            from: { type: 'string', format: 'date-time', description: 'Inclusive.' },
            to: {
              type: 'string',
              format: 'date-time',
              description: `Exclusive; at most ${maxDays} days after \`from\`.`,
            },
            tz: {
              type: 'string',
              maxLength: 64,
              default: 'UTC',
              description:
                'The time zone that defines days: an IANA name, such as `Europe/Berlin`.',
            },
          },
        },
        response: { 200: { description: 'The report.', $ref: 'WalletReport#' } },
      },
    },
    (request): Promise<WalletReport> => {
      const { from, to, tz: timeZone } = request.query;
      const [fromMs, toMs] = [requireInstant(from), requireInstant(to)];
      const errors = errorsWhere(
        [toMs <= fromMs, '/to', 'must be after `from`'],
        [
          toMs - fromMs > maxDays * 24 * hourMs,
          '/to',
          `is more than ${maxDays} days after \`from\``,
        ],
        [!isTimeZone(timeZone), '/tz', 'must be an IANA name such as Europe/Berlin, or UTC'],
      );
      if (errors.length > 0)
        throw new ProblemError('invalid_request', 'The query string is not valid.', { errors });
      const query = { fromMs, toMs, timeZone };
      return readWalletReport(database, getPrincipal(request), query, clock.nowMs());
    },
  );
  app.get(
    '/v1/grant-budgets',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'listGrantBudgets',
        summary: 'List how much users may give to players per day',
        response: { 200: { description: 'The budgets.', $ref: 'GrantBudgetList#' } },
      },
    },
    async (request, reply) => {
      const data = await listGrantBudgets(database, getPrincipal(request), clock.nowMs());
      const body: GrantBudgetList = { data };
      return reply.header('etag', toEntityTag(revisionOfBudgets(data))).send(body);
    },
  );
  app.put<{ Params: { type: string }; Body: GrantBudgetRequest }>(
    '/v1/grant-budgets/:type',
    {
      config: { keys: ['sk'], role: 'owner', power: 'grants' },
      schema: {
        operationId: 'setGrantBudget',
        summary: 'Set how much users may give to players per day',
        description:
          'For what is given in the panel. Without a budget, nothing can be given there. Grants with a secret key are not limited. `If-Match` is the `ETag` of the list. Recorded in the audit log.',
        params: {
          type: 'object',
          required: ['type'],
          properties: { type: { type: 'string', maxLength: 64, pattern: linePattern } },
        },
        headers: changeHeaders,
        body: { $ref: 'GrantBudgetRequest#' },
        response: { 200: { description: 'The budget.', $ref: 'GrantBudget#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { type } = request.params;
        const { amount, duration_s: durationS } = request.body;
        const { queries, scope } = operation;
        const before = await listGrantBudgets(queries, scope, clock.nowMs());
        requireMatch(readIfMatch(request), revisionOfBudgets(before));
        const budget = { type, amount, durationS };
        const body = await setGrantBudget(queries, scope, budget, clock.nowMs());
        const after = { amount, duration_s: durationS };
        await audit.record(operation, { action: 'grant_budget.set', targetId: type, after });
        return { status: 200, body };
      }),
  );
}
