import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhookEventTypes } from '@trueward/protocol';
import type { WebhookEvent, Problem } from '@trueward/protocol/wire';
import { signWebhook } from 'trueward/server';
import { readConfig } from '../config/config.ts';
import { parseKeyText } from '../../access/key-store.ts';
import {
  type Command,
  readArguments,
  printMessage,
  printResult,
  UsageError,
  CommandError,
} from './command.ts';
import { monotonicMs, systemClock } from '../../platform/time.ts';
import { linkSignal } from '../../platform/bounded-request.ts';
import { onStopRequest } from '../../platform/stop-requests.ts';

const pollMs = 500;
const timeoutMs = 10_000;

export const listenCommand: Command = {
  name: 'listen',
  summary: 'forward sandbox webhooks to a receiver on this machine',
  help: `Usage: trueward-service listen --forward-to <url> [options]

  --forward-to <url>  your receiver's URL, such as http://localhost:3000/webhooks
  --service <url>     the service's URL (default: PUBLIC_URL, or http://HOST:PORT)
  --key <key>         a sandbox secret key (default: TRUEWARD_SECRET_KEY; unlike an argument, it is
                      not visible to other users on this machine)
  --events <types>    forward only these event types, comma-separated

Prints one line of JSON with the webhook secret, then one line per forwarded event, until Ctrl-C.
Only new events are forwarded, and each event only once. You don't have to register a webhook, and the service
doesn't need network access to this machine.`,
  async run(args) {
    const { values } = readArguments(args, {
      'forward-to': { type: 'string' },
      service: { type: 'string' },
      key: { type: 'string' },
      events: { type: 'string' },
    });
    const target = readUrl('forward-to', values['forward-to']);
    const types = readTypes(values.events);
    const config = readConfig(process.env);
    const service = readUrl(
      'service',
      values.service ?? config.publicUrl ?? `http://${config.host}:${config.port}`,
    );
    const feed = createEventFeed(
      service,
      readKey(values.key ?? process.env['TRUEWARD_SECRET_KEY']),
    );
    const stopping = new AbortController();
    onStopRequest(() => stopping.abort());

    await feed.read(stopping.signal);
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    printResult({ listening: true, forward_to: target, secret });
    while (!stopping.signal.aborted) {
      const events = await feed.read(stopping.signal);
      for (const event of events.filter(({ type }) => types.includes(type))) {
        printMessage(`${event.type} ${event.id} → ${await forward(target, event, secret)}`);
      }
      await sleep(pollMs, undefined, { signal: stopping.signal }).catch(() => undefined); // aborted
    }
  },
};

/** Posts one signed event, and returns a description of the result. */
async function forward(target: string, event: WebhookEvent, secret: string): Promise<string> {
  const body = JSON.stringify(event);
  const startedAtMs = monotonicMs();
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(await signWebhook(body, secret, Math.floor(systemClock.nowMs() / 1_000), event.id)),
      },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return `${response.status} in ${Math.round(monotonicMs() - startedAtMs)} ms`;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return cause instanceof Error ? cause.message || String(cause) : String(cause);
  }
}

function readUrl(name: string, text: string | undefined): string {
  if (text !== undefined && /^https?:/.test(text) && URL.canParse(text))
    return text.replace(/\/+$/, '');
  const problem = text === undefined ? 'it is missing' : `received ${JSON.stringify(text)}`;
  throw new UsageError(`--${name} must be an http or https URL; ${problem}.`);
}

function readTypes(text: string | undefined): readonly string[] {
  if (text === undefined) return webhookEventTypes;
  const types = text.split(',').map((type) => type.trim());
  const unknownType = types.find((type) => !webhookEventTypes.some((known) => known === type));
  if (unknownType === undefined) return types;
  throw new UsageError(
    `--events contains ${JSON.stringify(unknownType)}; expected ${webhookEventTypes.join(', ')}.`,
  );
}

function readKey(text: string | undefined): string {
  if (text === undefined)
    throw new UsageError(
      'Set TRUEWARD_SECRET_KEY to a sandbox secret key, or pass one with --key.',
    );
  const { kind, environment } = parseKeyText(text) ?? {};
  if (kind === 'sk' && environment === 'sandbox') return text;
  throw new UsageError(
    kind === undefined
      ? 'Not a valid API key: its format or checksum is wrong.'
      : `The key is a ${environment} ${kind === 'sk' ? 'secret' : 'publishable'} key; expected a sandbox secret key.`,
  );
}

interface EventPage {
  data: WebhookEvent[];
  next_cursor?: string;
}

/** Polls a service for new events. */
interface EventFeed {
  /**
   * Returns the events since the last call, oldest first. The first call returns no events. While the service is
   * unreachable, returns no events and prints one message.
   *
   * @throws CommandError when the service rejects the request, or is unreachable on the first call.
   */
  read(signal: AbortSignal): Promise<WebhookEvent[]>;
}

/** Number of event ids to remember. Clock skew and slow commits can make a new event's id sort before known ids. */
const maxSeenIds = 1_000;

function createEventFeed(service: string, key: string): EventFeed {
  const seenIds = new Set<string>();
  let hasStarted = false;
  let isUnreachable = false;

  const readPage = async (cursor: string | undefined, signal: AbortSignal): Promise<EventPage> => {
    const query = cursor === undefined ? '' : `&starting_after=${cursor}`;
    const linkedSignal = linkSignal(signal, { timeoutMs: 10_000 });
    try {
      const response = await fetch(`${service}/v1/webhook-events?limit=100${query}`, {
        headers: { authorization: `Bearer ${key}` },
        signal: linkedSignal.signal,
      });
      if (response.ok) return (await response.json()) as EventPage;
      if (response.status >= 500 || response.status === 429)
        throw new Error(`status ${response.status}`);
      const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
      throw new CommandError(
        `${service} returned ${response.status}: ${problem.detail ?? 'it is not a Trueward service'}`,
      );
    } finally {
      linkedSignal.release();
    }
  };

  /** Reads pages, newest events first, until a page contains a known event. */
  const readNewEvents = async (signal: AbortSignal): Promise<WebhookEvent[]> => {
    const newEvents: WebhookEvent[] = [];
    let cursor: string | undefined;
    do {
      const page = await readPage(cursor, signal);
      const unknownEvents = page.data.filter(({ id }) => !seenIds.has(id));
      newEvents.push(...unknownEvents);
      const isAllNew = unknownEvents.length === page.data.length;
      cursor = hasStarted && isAllNew ? page.next_cursor : undefined;
    } while (cursor !== undefined);
    return newEvents.toReversed();
  };

  return {
    async read(signal) {
      try {
        const events = await readNewEvents(signal);
        for (const { id } of events) seenIds.add(id);
        for (const id of seenIds) if (seenIds.size > maxSeenIds) seenIds.delete(id);
        if (isUnreachable) printMessage(`${service} is reachable again.`);
        isUnreachable = false;
        const isFirst = !hasStarted;
        hasStarted = true;
        return isFirst ? [] : events;
      } catch (error) {
        if (signal.aborted) return [];
        if (error instanceof CommandError) throw error;
        const reason = describeError(error);
        if (!hasStarted) throw new CommandError(`${service} is unreachable: ${reason}`);
        if (!isUnreachable) printMessage(`${service} is unreachable (${reason}); retrying.`);
        isUnreachable = true;
        return [];
      }
    },
  };
}

function describeError(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || String(cause) : String(cause);
}
