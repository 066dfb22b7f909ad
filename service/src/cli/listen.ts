import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhookEventTypes } from '@trueward/protocol';
import type { WebhookEvent } from '@trueward/protocol/wire';
import { signWebhook } from 'trueward/server';
import { readConfig } from '../config.ts';
import { parseKeyText } from '../key/key-text.ts';
import { type Command, readArguments, say, tell, UsageError } from './command.ts';
import { createEventFeed } from './event-feed.ts';

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
