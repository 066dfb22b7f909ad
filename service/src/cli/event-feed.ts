import type { Problem, WebhookEvent } from '@trueward/protocol/wire';
import { linkSignal } from '../platform/link-signal.ts';
import { CommandError, say } from './command.ts';

interface EventPage {
  data: WebhookEvent[];
  next_cursor?: string;
}

/** Reads the events of a service as they happen. */
export interface EventFeed {
  /**
   * What has come since the last call, the oldest first; the first call hands back nothing. A
   * service that does not answer has nothing new, and that is said once.
   *
   * @throws CommandError when the service refuses, or does not answer the first call.
   */
  read(signal: AbortSignal): Promise<WebhookEvent[]>;
}

/** Ids come in order but for some milliseconds and commits that take long: so far is looked back. */
const lookBack = 1_000;

export function createEventFeed(service: string, key: string): EventFeed {
  const seen = new Set<string>();
  let started = false;
  let silent = false;

  const readPage = async (cursor: string | undefined, signal: AbortSignal): Promise<EventPage> => {
    const query = cursor === undefined ? '' : `&starting_after=${cursor}`;
    const linked = linkSignal(signal, { timeoutMs: 10_000 });
    try {
      const answer = await fetch(`${service}/v1/webhook-events?limit=100${query}`, {
        headers: { authorization: `Bearer ${key}` },
        signal: linked.signal,
      });
      if (answer.ok) return (await answer.json()) as EventPage;
      if (answer.status >= 500 || answer.status === 429) throw new Error(`status ${answer.status}`);
      const problem = (await answer.json().catch(() => ({}))) as Partial<Problem>;
      throw new CommandError(
        `${service} refuses (${answer.status}): ${problem.detail ?? 'it is no ad service'}`,
      );
    } finally {
      linked.release();
    }
  };

  /** Page by page back to what is known. */
  const readNew = async (signal: AbortSignal): Promise<WebhookEvent[]> => {
    const fresh: WebhookEvent[] = [];
    let cursor: string | undefined;
    do {
      const page = await readPage(cursor, signal);
      const unknown = page.data.filter(({ id }) => !seen.has(id));
      fresh.push(...unknown);
      const allNew = unknown.length === page.data.length;
      cursor = started && allNew ? page.next_cursor : undefined;
    } while (cursor !== undefined);
    return fresh.toReversed();
  };

  return {
    async read(signal) {
      try {
        const events = await readNew(signal);
        for (const { id } of events) seen.add(id);
        for (const id of seen) if (seen.size > lookBack) seen.delete(id);
        if (silent) say(`${service} answers again.`);
        silent = false;
        const first = !started;
        started = true;
        return first ? [] : events;
      } catch (error) {
        if (signal.aborted) return [];
        if (error instanceof CommandError) throw error;
        const reason = describe(error);
        if (!started) throw new CommandError(`${service} does not answer: ${reason}`);
        if (!silent) say(`${service} does not answer (${reason}); trying again.`);
        silent = true;
        return [];
      }
    },
  };
}

function describe(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || String(cause) : String(cause);
}
