import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhookEventTypes } from '@trueward/protocol';
import type { WebhookEvent, Problem } from '@trueward/protocol/wire';
import { signWebhook } from 'trueward/server';
import { readConfig } from '../config/config.ts';
import { parseKeyText } from '../key/key-text.ts';
import { type Command, readArguments, say, tell, UsageError, CommandError } from './command.ts';
import { linkSignal } from '../platform/link-signal.ts';

const pollMs = 500;
const timeoutMs = 10_000;

export const listenCommand: Command = {
  name: 'listen',
  summary: 'forward sandbox webhooks to a receiver on this machine',
  help: `Usage: trueward-service listen --forward-to <url> [options]

  --forward-to <url>  where your receiver listens: http://localhost:3000/webhooks
  --service <url>     the service (default PUBLIC_URL, or http://HOST:PORT)
  --key <key>         a secret sandbox key (default: the variable TRUEWARD_SECRET_KEY, which
                      other users of this machine cannot see)
  --events <types>    only these, separated by commas

Prints one line of JSON with the signing secret to verify with, then one line for each event
that was forwarded, until Ctrl-C. Only what happens from now on is forwarded, each event once.
No webhook has to be registered, and the service need not be able to reach this machine.`,
  async run(args) {
    const { values } = readArguments(args, {
      'forward-to': { type: 'string' },
      service: { type: 'string' },
      key: { type: 'string' },
      events: { type: 'string' },
    });
    const target = readAddress('forward-to', values['forward-to']);
    const types = readTypes(values.events);
    const config = readConfig(process.env);
    const service = readAddress(
      'service',
      values.service ?? config.publicUrl ?? `http://${config.host}:${config.port}`,
    );
    const feed = createEventFeed(
      service,
      readKey(values.key ?? process.env['TRUEWARD_SECRET_KEY']),
    );
    const stopping = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => stopping.abort());

    await feed.read(stopping.signal);
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    tell({ listening: true, forward_to: target, secret });
    while (!stopping.signal.aborted) {
      const events = await feed.read(stopping.signal);
      for (const event of events.filter(({ type }) => types.includes(type))) {
        say(`${event.type} ${event.id} → ${await forward(target, event, secret)}`);
      }
      await sleep(pollMs, undefined, { signal: stopping.signal }).catch(() => undefined); // it is the end
    }
  },
};

/** Posts one event, signed, and says how it went. */
async function forward(target: string, event: WebhookEvent, secret: string): Promise<string> {
  const body = JSON.stringify(event);
  const startedMs = performance.now();
  try {
    const answer = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(await signWebhook(body, secret, Math.floor(Date.now() / 1_000), event.id)),
      },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.body?.cancel();
    return `${answer.status} in ${Math.round(performance.now() - startedMs)} ms`;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return cause instanceof Error ? cause.message || String(cause) : String(cause);
  }
}

function readAddress(name: string, text: string | undefined): string {
  if (text !== undefined && /^https?:/.test(text) && URL.canParse(text))
    return text.replace(/\/+$/, '');
  const got = text === undefined ? 'it is missing' : `got ${JSON.stringify(text)}`;
  throw new UsageError(`--${name} must be an http or https address; ${got}.`);
}

function readTypes(text: string | undefined): readonly string[] {
  if (text === undefined) return webhookEventTypes;
  const types = text.split(',').map((type) => type.trim());
  const unknown = types.find((type) => !webhookEventTypes.some((known) => known === type));
  if (unknown === undefined) return types;
  throw new UsageError(
    `--events has ${JSON.stringify(unknown)}; there is ${webhookEventTypes.join(', ')}.`,
  );
}

function readKey(text: string | undefined): string {
  if (text === undefined)
    throw new UsageError('Set TRUEWARD_SECRET_KEY, or give --key: a secret sandbox key.');
  const { kind, environment } = parseKeyText(text) ?? {};
  if (kind === 'sk' && environment === 'sandbox') return text;
  throw new UsageError(
    kind === undefined
      ? 'The key is not one: its form or its checksum is wrong.'
      : `The key is a ${kind === 'sk' ? 'secret' : 'publishable'} ${environment} key; expected a secret sandbox key.`,
  );
}

interface EventPage {
  data: WebhookEvent[];
  next_cursor?: string;
}

/** Reads the events of a service as they happen. */
interface EventFeed {
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

function createEventFeed(service: string, key: string): EventFeed {
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
