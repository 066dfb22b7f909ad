import { createHash } from 'node:crypto';
import type { FastifyRequest, FastifyReply } from 'fastify';
import type { Configuration } from '../decision/configuration.ts';
import type { Principal } from '../access/principal.ts';
import type { SecretBox } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import { lockConfiguration } from '../store/config-version.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries, Scope, Database } from '../store/database.ts';
import type { IfMatch, Revision } from '../store/if-match.ts';
import { getPrincipal } from './authentication/authenticate.ts';
import type { RequirePermission } from './authentication/require-permission.ts';
import { ProblemError } from './problem.ts';

/** The response of an operation. */
export interface OperationResponse {
  status: number;
  body?: object;
  /** The revision of the object in the body, sent as the `ETag`. */
  revision?: Revision;
  /** The member of the body that contains a secret. It is not stored, so a replayed response doesn't contain it. */
  shownOnce?: string;
}

/** How long responses are kept. */
const retentionMs = 86_400_000;

/**
 * Runs `work` once per idempotency key. A retry returns the first response. The key, the operation and the response are
 * committed in one transaction. The key is inserted first and is unique, so a concurrent retry waits for the first
 * request.
 *
 * @throws ProblemError when the key has been used with a different request.
 */
export async function runOnce(
  deps: { queries: Queries; box: SecretBox; clock: Clock },
  scope: Scope,
  request: FastifyRequest,
  work: () => Promise<OperationResponse>,
): Promise<OperationResponse & { replayed: boolean }> {
  const { queries, clock } = deps;
  const key = readKey(request);
  if (key === undefined) return { ...(await work()), replayed: false };
  const row = [scope.accountId, scope.environment, key];
  await queries.query('DELETE FROM idempotency_keys WHERE account_id = $1 AND created_at < $2', [
    scope.accountId,
    new Date(clock.nowMs() - retentionMs),
  ]);
  const insertedRows = await queries.query(
    `INSERT INTO idempotency_keys (account_id, environment, key, request_hash, created_at)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING key`,
    [...row, hashRequest(request), new Date(clock.nowMs())],
  );
  if (insertedRows.length === 0)
    return { ...(await readStoredResponse(deps, row, request)), replayed: true };
  const response = await work();
  await storeResponse(deps, row, response);
  return { ...response, replayed: false };
}

/** How long a request that runs outside a transaction may take. Afterward, a retry runs again. */
const claimMs = 60_000;

/**
 * Like {@link runOnce}, for work that can't share a transaction with the key. The key is stored before the work starts,
 * and removed if the work fails.
 */
export async function runOnceDetached(
  deps: { queries: Queries; box: SecretBox; clock: Clock },
  { accountId, environment }: Scope,
  request: FastifyRequest,
  work: () => Promise<object>,
): Promise<{ body: object; replayed: boolean }> {
  const { queries, clock } = deps;
  const key = readKey(request);
  if (key === undefined) return { body: await work(), replayed: false };
  const row = [accountId, environment, key];
  const now = new Date(clock.nowMs());
  const claimed = await queries.query(
    `INSERT INTO idempotency_keys AS known (account_id, environment, key, request_hash, created_at)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account_id, environment, key) DO UPDATE SET created_at = $5
        WHERE known.answer IS NULL AND known.request_hash = $4 AND known.created_at < $6 RETURNING key`,
    [...row, hashRequest(request), now, new Date(now.getTime() - claimMs)],
  );
  if (claimed.length === 0) {
    const { body = {} } = await readStoredResponse(deps, row, request);
    return { body, replayed: true };
  }
  try {
    const body = await work();
    await storeResponse(deps, row, { status: 200, body });
    return { body, replayed: false };
  } catch (error) {
    await queries.query(
      `DELETE FROM idempotency_keys WHERE account_id = $1 AND environment = $2 AND key = $3
        AND answer IS NULL AND created_at = $4`,
      [...row, now],
    );
    throw error;
  }
}

async function storeResponse(
  { queries, box }: { queries: Queries; box: SecretBox },
  row: string[],
  { shownOnce, body, ...response }: OperationResponse,
): Promise<void> {
  const storedBody = Object.fromEntries(
    Object.entries(body ?? {}).filter(([name]) => name !== shownOnce),
  );
  const stored = body === undefined ? response : { ...response, body: storedBody };
  await queries.query(
    `UPDATE idempotency_keys SET status = $4, answer = $5
      WHERE account_id = $1 AND environment = $2 AND key = $3`,
    [...row, response.status, box.seal(JSON.stringify(stored))],
  );
}

async function readStoredResponse(
  { queries, box }: { queries: Queries; box: SecretBox },
  row: string[],
  request: FastifyRequest,
): Promise<OperationResponse> {
  const [stored] = await queries.query<{ request_hash: string; answer: string | null }>(
    `SELECT request_hash, answer FROM idempotency_keys
      WHERE account_id = $1 AND environment = $2 AND key = $3`,
    row,
  );
  if (stored?.request_hash !== hashRequest(request)) {
    throw new ProblemError(
      'idempotency_key_reused',
      'This Idempotency-Key has already been used with a different request; use a new key for each request.',
    );
  }
  if (stored.answer === null) {
    throw new ProblemError(
      'request_in_progress',
      'The first request with this key is still in progress.',
      {
        retryAfterS: 1,
      },
    );
  }
  return JSON.parse(box.open(stored.answer)) as OperationResponse;
}

function readKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ProblemError(
    'invalid_request',
    'An Idempotency-Key must have 1 to 255 printable ASCII characters, without spaces.',
  );
}

const hashRequest = ({ method, url, body }: FastifyRequest): string =>
  createHash('sha256')
    .update(`${method} ${url}\n${JSON.stringify(body ?? null)}`)
    .digest('hex');

interface Deps {
  database: Database;
  configuration: Configuration;
  box: SecretBox;
  clock: Clock;
  requirePermission: RequirePermission;
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
  requirePermission,
  wake,
}: Deps): RunOperation {
  return async (request, reply, work) => {
    const principal = getPrincipal(request);
    const { accountId, environment } = principal;
    const scope = { accountId, environment };
    const response = await database.transaction(async (queries) => {
      await lockConfiguration(queries, accountId);
      await requirePermission(queries, request);
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

/** Formats an object's revision as a strong entity tag. */
export const toEntityTag = (revision: Revision): string => `"${revision}"`;

/**
 * Returns the `If-Match` condition (RFC 9110, 13.1.1), or undefined if any revision matches.
 *
 * @throws ProblemError `precondition_required` when a session sends no condition. A person decides on what the page
 * shows, so the page must say which revision it shows, or `*` for a decision that doesn't depend on it.
 */
export function readIfMatch(request: FastifyRequest): IfMatch {
  const header = request.headers['if-match'];
  if (header === undefined && getPrincipal(request).kind === 'session') {
    throw new ProblemError(
      'precondition_required',
      'Send the ETag of the revision that the user saw in the header `If-Match`, or `*` for any revision.',
    );
  }
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (revision) => tags.includes(toEntityTag(revision));
}
