import type { Webhook } from '@trueward/protocol/wire';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/platform/time.ts';
import { createOtlpExporter } from '../../src/trace/otlp-tracing.ts';
import { startInProcess } from '../in-process.ts';
import { createDatabaseSettings } from '../postgres-database.ts';
import { startService } from '../start-service.ts';
import { createManualClock } from '../manual-clock.ts';
import { createClient } from './client.ts';
import { type CollectedSpan, startCollector } from './collector.ts';
import { startReceiver } from './receiver.ts';

type Collector = Awaited<ReturnType<typeof startCollector>>;

async function openCollector(port?: number): Promise<Collector> {
  const collector = await startCollector(port);
  onTestFinished(() => collector.close());
  return collector;
}

/** Starts a service that exports its spans to this collector. `stop` resolves after all spans have been exported. */
const startTracedService = (
  collector: Pick<Collector, 'url'>,
  env: Record<string, string> = {},
  clock: Clock = systemClock,
) =>
  startInProcess(
    { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, RATE_LIMITS: 'off', ...env },
    { clock },
  );

/** Returns the ids of the span's parent and of the spans that it links to. */
const listLinkedSpanIds = ({ parentSpanId = '', links }: CollectedSpan): string[] => [
  parentSpanId,
  ...links.map(({ spanId }) => spanId),
];

test('stopping the service exports the spans for decisions, events and webhooks', async () => {
  const collector = await openCollector();
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const clock = createManualClock(Date.now());
  const env = {
    OTEL_SERVICE_NAME: 'ads-eu',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret',
  };
  const service = await startTracedService(collector, env, clock);
  const client = createClient(service);
  const { body: webhook } = await client.call<Webhook>('POST', '/v1/webhooks', client.secret, {
    url: receiver.url,
    events: ['decision.served'],
  });
  const decisionResponse = await client.decide({
    placement: 'revive',
    user_ref: 'traced',
    formats: ['image'],
  });
  clock.advance(1_000); // an impression requires one second of visibility
  await client.report(client.createImpression(decisionResponse.body));
  const [delivery] = await receiver.waitForRequests(1);
  const deliveries = `/v1/webhooks/${webhook.id}/deliveries`;
  await expect
    .poll(async () => (await client.call('GET', deliveries, client.secret)).body)
    .toMatchObject({ data: [{ state: 'delivered' }] });
  await service.stop();

  expect(collector.requests[0]).toMatchObject({
    path: '/v1/traces',
    headers: { authorization: 'Bearer secret' },
  });
  const [decision] = collector.findByName('POST /v1/decisions');
  expect(decision).toMatchObject({
    kind: 2,
    resource: { 'service.name': 'ads-eu' },
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/decisions',
      'http.response.status_code': 200,
      'trueward.request_id': decisionResponse.headers.get('request-id'),
    },
  });
  expect(decision?.parentSpanId).toBeUndefined();
  expect(collector.findByName('commit decisions')).toMatchObject([
    { traceId: decision?.traceId, parentSpanId: decision?.spanId, links: [] },
  ]);
  const [report] = collector.findByName('POST /v1/events');
  expect(collector.findByName('commit events')).toMatchObject([
    {
      traceId: report?.traceId,
      parentSpanId: report?.spanId,
      attributes: { 'trueward.batch_size': 1 },
    },
  ]);
  const [attempt] = collector.findByName('webhook attempt');
  expect(attempt).toMatchObject({
    kind: 3,
    attributes: {
      'trueward.webhook_id': webhook.id,
      'trueward.event_id': (JSON.parse(delivery?.body ?? '') as { id: string }).id,
      'trueward.attempt': 1,
      'http.response.status_code': 200,
    },
  });
  expect(delivery?.headers['traceparent']).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`);
  expect(collector.spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['upkeep partitions', 'upkeep old rows', 'upkeep unused files']),
  );
});

test("a request continues its client's trace after the body has been read", async () => {
  const collector = await openCollector();
  const service = await startTracedService(collector);
  const client = createClient(service);
  const traceId = 'ab'.repeat(16);
  const traceparent = `00-${traceId}-${'cd'.repeat(8)}-01`;
  const request = { placement: 'revive', user_ref: 'traced' };
  const headers = { traceparent };
  await client.call('POST', '/v1/decisions', client.publishable, request, headers);
  // The span's route must not contain the query string.
  await client.call('POST', '/v1/decisions?usual=no', client.publishable, request, headers);
  await client.call('GET', '/v1/nothing-here', undefined, undefined, headers);
  await service.stop();
  const requests = collector.findByName('POST /v1/decisions');
  expect(requests).toMatchObject([
    { traceId, parentSpanId: 'cd'.repeat(8) },
    { traceId, parentSpanId: 'cd'.repeat(8) },
  ]);
  expect(collector.findByName('commit decisions').map(listLinkedSpanIds)).toEqual(
    requests.map(({ spanId }) => [spanId]),
  );
  expect(collector.findByName('GET')).toMatchObject([
    { traceId, attributes: { 'http.response.status_code': 404 } },
  ]);
});

test("a transaction's span is linked to the span of each request in its batch", async () => {
  const collector = await openCollector();
  const service = await startTracedService(collector);
  const client = createClient(service);
  const responses = await Promise.all(
    Array.from({ length: 40 }, () => client.decide({ placement: 'revive', user_ref: 'traced' })),
  );
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  await service.stop();
  const requests = collector.findByName('POST /v1/decisions').map(({ spanId }) => spanId);
  const batches = collector.findByName('commit decisions');
  expect(requests).toHaveLength(40);
  expect(batches.length).toBeLessThan(40);
  expect(batches.flatMap(listLinkedSpanIds).toSorted()).toEqual(requests.toSorted());
  expect(batches.map(({ attributes }) => attributes['trueward.batch_size'])).toEqual(
    batches.map((batch) => listLinkedSpanIds(batch).length),
  );
});

test('only sampled traces are exported', async () => {
  const collector = await openCollector();
  const service = await startTracedService(collector, {
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  });
  const client = createClient(service);
  await client.decide({ placement: 'revive', user_ref: 'traced' });
  await client.call(
    'POST',
    '/v1/decisions',
    client.publishable,
    { placement: 'revive', user_ref: 'traced' },
    {
      traceparent: `00-${'ef'.repeat(16)}-${'cd'.repeat(8)}-01`,
    },
  );
  await service.stop();
  expect(collector.spans.map(({ name, traceId }) => `${name} ${traceId}`).toSorted()).toEqual([
    `POST /v1/decisions ${'ef'.repeat(16)}`,
    `commit decisions ${'ef'.repeat(16)}`,
  ]);
});

/** Returns a URL at which no server is listening. */
async function findUnusedUrl(): Promise<string> {
  const { url, close } = await startCollector();
  await close();
  return url;
}

test('an unavailable collector does not affect requests', async () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = await findUnusedUrl();
  const service = await startService({
    env: { ...(await createDatabaseSettings()), OTEL_EXPORTER_OTLP_ENDPOINT },
  });
  const { status } = await createClient(service).decide({
    placement: 'revive',
    user_ref: 'traced',
  });
  expect(status).toBe(200);
  // If stopping took more than five seconds, the exit code would be 1.
  expect(await service.stop()).toBe(0);
});

test('a collector outage and its recovery are each logged once', async () => {
  const endpoint = await findUnusedUrl();
  const logLines: string[] = [];
  const log = pino({}, { write: (line) => void logLines.push(line) });
  const exporter = createOtlpExporter({ endpoint, headers: {} }, log);
  const send = () => new Promise((resolve) => exporter.export([], resolve));
  await Promise.all([send(), send(), send()]);
  const readMessages = () => logLines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(readMessages()).toEqual([expect.stringContaining('does not accept traces')]);
  await openCollector(Number(new URL(endpoint).port));
  await send();
  await send();
  expect(readMessages().slice(1)).toEqual(['the collector accepts traces again']);
  await exporter.shutdown();
});

/** Makes a process exit when it loads an OpenTelemetry package. */
const loader = `export const resolve = (name, context, next) => {
  if (name.startsWith('@opentelemetry/')) throw new Error('The service loads ' + name);
  return next(name, context);
};`;
const hooks = `import { register } from 'node:module';
  register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(loader))});`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hooks)}`;

test('without a collector, the OpenTelemetry packages are not loaded', async () => {
  const settings = { ...(await createDatabaseSettings()), NODE_OPTIONS };
  const service = await startService({ env: settings });
  expect(
    (await createClient(service).decide({ placement: 'revive', user_ref: 'traced' })).status,
  ).toBe(200);
  expect(await service.stop()).toBe(0);
  const env = { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: await findUnusedUrl() };
  await expect(startService({ env })).rejects.toThrow('The service loads @opentelemetry/');
});
