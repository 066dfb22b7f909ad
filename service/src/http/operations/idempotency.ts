import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { SecretBox } from '../../key/secret-box.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queries, Scope } from '../../store/database.ts';
import { ProblemError } from '../problems/problem.ts';

/** The response of an operation. */
export interface OperationResponse {
  status: number;
  body?: object;
  /** The revision of the object in the body; sent as the `ETag`. */
  revision?: number;
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
  const { queries, box, clock } = deps;
  const key = readKey(request);
  if (key === undefined) return { ...(await work()), replayed: false };
  const row = [scope.accountId, scope.environment, key];
  await queries.query('DELETE FROM idempotency_keys WHERE account_id = $1 AND created_at < $2', [
    scope.accountId,
    new Date(clock.nowMs() - retentionMs),
  ]);
  const inserted = await queries.query(
    `INSERT INTO idempotency_keys (account_id, environment, key, request_hash, created_at)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING key`,
    [...row, hashRequest(request), new Date(clock.nowMs())],
  );
  if (inserted.length === 0)
    return { ...(await readStoredResponse(deps, row, request)), replayed: true };
  const response = await work();
  await queries.query(
    `UPDATE idempotency_keys SET status = $4, answer = $5
      WHERE account_id = $1 AND environment = $2 AND key = $3`,
    [...row, response.status, box.seal(JSON.stringify(response))],
  );
  return { ...response, replayed: false };
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
      'This Idempotency-Key was used with a different request; use a new one for each request.',
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
