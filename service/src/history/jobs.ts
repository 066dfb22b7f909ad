import type { Job } from '@trueward/protocol/wire';
import { DomainError } from '../platform/domain-error.ts';
import type { MakeId } from '../platform/ids.ts';
import { type Clock, formatInstant } from '../platform/time.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries, Scope } from '../store/database.ts';

interface JobRow extends Omit<Job, 'created_at' | 'finished_at' | 'reason'> {
  reason: string | null;
  cursor: string | null;
  created_at: Date;
  finished_at: Date | null;
}

const columns = `id, environment, kind, request, state, reason, cursor, progress, counts, actor, created_at,
  finished_at`;

const toJob = ({ cursor: _cursor, reason, created_at, finished_at, ...job }: JobRow): Job => ({
  ...job,
  ...(reason === null ? {} : { reason }),
  created_at: created_at.toISOString(),
  ...(finished_at === null ? {} : { finished_at: finished_at.toISOString() }),
});

/** Starts a job. Its first step runs after the operation is committed. */
export async function createJob(
  { queries, scope, actor }: Operation,
  { makeId, clock }: { makeId: MakeId; clock: Pick<Clock, 'nowMs'> },
  { kind, request }: Pick<Job, 'kind' | 'request'>,
): Promise<Job> {
  const [row] = await queries.query<JobRow>(
    `INSERT INTO jobs (account_id, id, environment, kind, request, state, progress, counts, actor, created_at)
      VALUES ($1, $2, $3, $4, $5::text::jsonb, 'running', 0, '{}', $6, $7) RETURNING ${columns}`,
    [
      scope.accountId,
      makeId('job'),
      scope.environment,
      kind,
      JSON.stringify(request),
      actor,
      formatInstant(clock.nowMs()),
    ],
  );
  if (!row) throw new Error('The job was not stored.');
  return toJob(row);
}

export async function findJob(
  queries: Queries,
  { accountId, environment }: Scope,
  id: string,
): Promise<Job | undefined> {
  const [row] = await queries.query<JobRow>(
    `SELECT ${columns} FROM jobs WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id],
  );
  return row && toJob(row);
}

/** Lists jobs, newest first. Returns `limit` + 1 rows if there is another page. */
export async function listJobs(
  queries: Queries,
  { accountId, environment }: Scope,
  { limit, startingAfter }: { limit: number; startingAfter?: string },
): Promise<Job[]> {
  const rows = await queries.query<JobRow>(
    `SELECT ${columns} FROM jobs WHERE account_id = $1 AND environment = $2 AND ($3::text IS NULL OR id < $3)
      ORDER BY id DESC LIMIT $4`,
    [accountId, environment, startingAfter ?? null, limit + 1],
  );
  return rows.map(toJob);
}

/**
 * Cancels a job. What it has done so far stays done. Does nothing if the job has ended.
 *
 * @throws DomainError when the job does not exist in this environment.
 */
export async function cancelJob(
  { queries, scope }: Operation,
  id: string,
  nowMs: number,
): Promise<Job> {
  await queries.query(
    `UPDATE jobs SET state = 'canceled', finished_at = $4
      WHERE account_id = $1 AND environment = $2 AND id = $3 AND state = 'running'`,
    [scope.accountId, scope.environment, id, formatInstant(nowMs)],
  );
  const job = await findJob(queries, scope, id);
  if (job) return job;
  throw new DomainError('not_found', `Job ${id.slice(0, 64)} does not exist in this environment.`);
}

/** What a step of a job needs to know. */
interface JobInProgress {
  scope: Scope;
  id: string;
  request: Readonly<Record<string, string>>;
  /** Where the previous step stopped. Null in the first step. */
  cursor: string | null;
  createdAtMs: number;
}

interface StepResult {
  /** Where the next step continues. */
  cursor: string | null;
  progress: number;
  /** What this step did. It is added to the job's counts. */
  counts?: Readonly<Record<string, number>>;
  /** Set if this was the last step. */
  end?: 'done' | { failed: string };
  /** Whether the step had to wait for something, so that the next one should not follow immediately. */
  isWaiting?: boolean;
}

/** Does a small part of a job in a transaction: a few milliseconds' work. */
export type JobStep = (queries: Queries, job: JobInProgress) => Promise<StepResult>;

/**
 * Runs a job's next step. Returns undefined if the job has ended, or another process is doing a step.
 *
 * @param nowMs the time at which the job ends if this is its last step
 */
export async function runStep(
  queries: Queries,
  { accountId, id }: { accountId: string; id: string },
  steps: Readonly<Record<Job['kind'], JobStep>>,
  nowMs: number,
): Promise<StepResult | undefined> {
  const [row] = await queries.query<JobRow>(
    `SELECT ${columns} FROM jobs WHERE account_id = $1 AND id = $2 AND state = 'running'
      FOR UPDATE SKIP LOCKED`,
    [accountId, id],
  );
  if (!row) return undefined;
  const { environment, kind, request, cursor, created_at } = row;
  const createdAtMs = created_at.getTime();
  const scope = { accountId, environment };
  const result = await steps[kind](queries, { scope, id, request, cursor, createdAtMs });
  const counts = { ...row.counts };
  for (const [name, count] of Object.entries(result.counts ?? {}))
    counts[name] = (counts[name] ?? 0) + count;
  const { end } = result;
  await queries.query(
    `UPDATE jobs SET cursor = $3, progress = $4, counts = $5::text::jsonb, state = $6, reason = $7, finished_at = $8
      WHERE account_id = $1 AND id = $2`,
    [
      accountId,
      id,
      result.cursor,
      end === 'done' ? 1 : result.progress,
      JSON.stringify(counts),
      end === undefined ? 'running' : end === 'done' ? 'done' : 'failed',
      typeof end === 'object' ? end.failed : null,
      end === undefined ? null : formatInstant(nowMs),
    ],
  );
  return result;
}
