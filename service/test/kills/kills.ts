import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision, EventBatchResult } from '@trueward/protocol/wire';
import { Agent, request } from 'undici';
import { type RunningService, startService } from '../start-service.ts';
import { openKillStore } from './processes.ts';

interface KillOptions {
  kills: number;
  /** Default: the embedded database. */
  databaseUrl?: string;
  onRound?(text: string): void;
}

interface KillReport {
  decisions: number;
  events: number;
  /** Acknowledged ids that are not in the database. */
  lost: string[];
  /** Report counts that differ from the number of rows. */
  inconsistent: string[];
}

const playerCount = 32;
/** The service acknowledges at least this many decisions, and as many events, before it is killed. */
const minAcknowledgments = 100;

/** Repeatedly kills a service under load. After each kill, checks that the database contains all acknowledged data. */
export async function killRepeatedly({
  kills,
  databaseUrl,
  onRound,
}: KillOptions): Promise<KillReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trueward-kills-'));
  const env = {
    RATE_LIMITS: 'off',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  };
  const acknowledged = { decisions: new Set<string>(), events: new Set<string>() };
  const report: KillReport = { decisions: 0, events: 0, lost: [], inconsistent: [] };
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const service = await startService({ dataDir, env });
      const load = startLoad(service, acknowledged);
      await load.minimumReached;
      // Kills the service at an arbitrary point.
      await sleep(Math.random() * 500);
      await service.kill();
      await load.ended;
      const result = await compareWithDatabase(dataDir, databaseUrl, acknowledged);
      report.lost = result.lost;
      report.inconsistent.push(...result.inconsistent);
      report.decisions = acknowledged.decisions.size;
      report.events = acknowledged.events.size;
      onRound?.(
        `kill ${kill}: ${report.decisions} decisions and ${report.events} events acknowledged so far, ${result.lost.length} lost`,
      );
      if (result.lost.length > 0 || result.inconsistent.length > 0) break;
    }
    return report;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type AcknowledgedIds = Record<'decisions' | 'events', Set<string>>;

/** Starts players that request ads and report events until the service is killed. */
function startLoad(
  service: RunningService,
  acknowledged: AcknowledgedIds,
): { minimumReached: Promise<void>; ended: Promise<unknown> } {
  const agent = new Agent({ connections: playerCount });
  const countsBefore = { decisions: acknowledged.decisions.size, events: acknowledged.events.size };
  let reportMinimumReached: () => void = () => undefined;
  const minimumReached = new Promise<void>((resolve) => (reportMinimumReached = resolve));
  const checkMinimum = (): void => {
    const decisions = acknowledged.decisions.size - countsBefore.decisions;
    const events = acknowledged.events.size - countsBefore.events;
    if (decisions >= minAcknowledgments && events >= minAcknowledgments) reportMinimumReached();
  };
  const post = async <T>(path: string, body: object): Promise<T> => {
    const response = await request(service.url + path, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        authorization: `Bearer ${service.keys.sandbox.publishable}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`);
    return JSON.parse(text) as T;
  };
  const runPlayer = async (): Promise<void> => {
    for (;;) {
      const decision = await post<Decision>('/v1/decisions', {
        placement: 'revive',
        user_ref: randomUUID(),
      });
      acknowledged.decisions.add(decision.id);
      const occurred_at = new Date().toISOString();
      const { results } = await post<EventBatchResult>('/v1/events', {
        sent_at: occurred_at,
        events: ['start', 'first_quartile'].map((type) => ({
          id: randomUUID(),
          type,
          decision_id: decision.id,
          token: decision.token,
          occurred_at,
        })),
      });
      for (const { id, status } of results)
        if (status === 'accepted') acknowledged.events.add(`${decision.id}/${id}`);
      checkMinimum();
    }
  };
  const players = Array.from({ length: playerCount }, () =>
    runPlayer().catch((error: unknown) => {
      // An error response fails the run. Other errors are expected, because the service was killed.
      if (error instanceof Error && error.message.startsWith('/v1/')) throw error;
    }),
  );
  const allEnded = Promise.all(players).then(() => agent.destroy());
  return {
    minimumReached: Promise.race([minimumReached, allEnded.then(() => undefined)]),
    ended: allEnded,
  };
}

/** Opens the database as a restarted service would, and compares it with the acknowledged ids. */
async function compareWithDatabase(
  dataDir: string,
  databaseUrl: string | undefined,
  { decisions, events }: AcknowledgedIds,
): Promise<Pick<KillReport, 'lost' | 'inconsistent'>> {
  const database = await openKillStore({ dataDir, databaseUrl });
  try {
    const storedDecisions = await database.query<{ id: string }>('SELECT id FROM decisions');
    const storedEvents = await database.query<{ id: string }>(
      `SELECT decision_id || '/' || id AS id FROM recorded_events`,
    );
    const storedIds = new Set([...storedDecisions, ...storedEvents].map(({ id }) => id));
    const [sums] = await database.query<{ requests: number }>(
      `SELECT coalesce(sum(count), 0)::bigint AS requests FROM rollup_counts
        WHERE metric IN ('filled', 'no_fill', 'blocked')`,
    );
    return {
      lost: [...decisions, ...events].filter((id) => !storedIds.has(id)),
      inconsistent:
        sums?.requests === storedDecisions.length
          ? []
          : [
              `${storedDecisions.length} decisions, but the report counts ${sums?.requests} requests`,
            ],
    };
  } finally {
    await database.close();
  }
}
