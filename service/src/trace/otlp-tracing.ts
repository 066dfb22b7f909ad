import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span as OpenSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator, ExportResultCode } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  TracerProvider,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { createLane, type Lane, type LaneOptions, type OpenLane } from '../store/group-commit.ts';
import type { SamplerName, TraceSettings, Tracing } from './tracing.ts';

/** How long shutdown waits for the collector. The whole process has five seconds to stop. */
const flushTimeoutMs = 1_500;

/**
 * Exports traces to an OpenTelemetry collector. Doesn't use OpenTelemetry's global state, so that several services can
 * run in one process without mixing their traces.
 */
export function createOtlpTracing(settings: TraceSettings, log: Logger): Tracing {
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': settings.serviceName,
        'service.instance.id': randomUUID(),
      }),
    ),
    sampler: createSampler(settings.sampler, settings.ratio),
    // A transaction's span links to each of its requests, up to 200 of them.
    spanLimits: { linkCountLimit: 200, attributeValueLengthLimit: 500 },
    spanProcessors: [new BatchSpanProcessor({ exporter: createOtlpExporter(settings, log) })],
  });
  const tracer = provider.getTracer('trueward');
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();
  const requests = new WeakMap<IncomingMessage, OpenSpan>();

  const beginRequest = (request: IncomingMessage, response: ServerResponse): Context => {
    const { method = '', headers } = request;
    const parentContext = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const attributes = { 'http.request.method': method };
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parentContext);
    requests.set(request, span);
    response.once('close', () => {
      endRequest(span, response);
    });
    return trace.setSpan(parentContext, span);
  };

  return {
    listener: (listener) => (request, response) => {
      const context = beginRequest(request, response);
      // Fastify reads the body in the request's event handlers. Without `bind`, they would run outside this context.
      contexts.bind(context, request);
      contexts.with(context, listener, undefined, request, response);
    },
    nameRequest(request, id, route) {
      const span = requests.get(request);
      span?.setAttribute('trueward.request_id', id);
      if (route === undefined) return;
      span?.setAttribute('http.route', route).updateName(`${request.method} ${route}`);
    },
    lane: (name) => createTracedLane(name, tracer, () => trace.getSpanContext(contexts.active())),
    async run({ name, outgoing, attributes = {} }, run) {
      const kind = outgoing ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const span = tracer.startSpan(name, { kind, attributes }, ROOT_CONTEXT);
      const context = trace.setSpan(ROOT_CONTEXT, span);
      const headers: Record<string, string> = {};
      propagator.inject(context, headers, defaultTextMapSetter);
      const fail = (message: string): void => {
        span.setStatus({ code: SpanStatusCode.ERROR, message });
      };
      try {
        const setAttributes = span.setAttributes.bind(span);
        return await contexts.with(context, run, undefined, { headers, setAttributes, fail });
      } catch (error) {
        fail(String(error));
        throw error;
      } finally {
        span.end();
      }
    },
    async stop() {
      const stopped = new AbortController();
      const flushed = provider.shutdown().catch((error: unknown) => {
        log.warn({ err: error }, 'could not export the last traces');
      });
      const timeout = sleep(flushTimeoutMs, undefined, { signal: stopped.signal });
      await Promise.race([flushed, timeout]);
      stopped.abort();
      await timeout.catch(() => undefined);
      contexts.disable();
    },
  };
}

function endRequest(span: OpenSpan, response: ServerResponse): void {
  // The client may have disconnected before a status was sent.
  if (response.headersSent) span.setAttribute('http.response.status_code', response.statusCode);
  else span.setAttribute('error.type', 'client_gone');
  if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/**
 * Creates lanes that record a span for each transaction. The span belongs to the trace of the first sampled request in
 * the transaction, and has links to the other requests.
 */
function createTracedLane(
  name: string,
  tracer: Tracer,
  getActiveSpan: () => SpanContext | undefined,
): OpenLane {
  return <T extends object, R>(options: LaneOptions<T, R>): Lane<T, R> => {
    const origins = new WeakMap<T, SpanContext>();
    const lane = createLane<T, R>({
      ...options,
      async commit(items, attempt) {
        const span = begin(items.flatMap((item) => origins.get(item) ?? []));
        span.setAttribute('trueward.batch_size', items.length);
        try {
          return await options.commit(items, attempt);
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
          throw error;
        } finally {
          span.end();
        }
      },
    });
    return {
      ...lane,
      push(item) {
        const origin = getActiveSpan();
        if (origin) origins.set(item, origin);
        return lane.push(item);
      },
    };
  };

  function begin(origins: readonly SpanContext[]) {
    const sampledOrigins = origins.filter(({ traceFlags }) => traceFlags & TraceFlags.SAMPLED);
    const [first = origins[0], ...others] = sampledOrigins;
    const links = others.map((context) => ({ context }));
    const parent = first ? trace.setSpanContext(ROOT_CONTEXT, first) : ROOT_CONTEXT;
    return tracer.startSpan(`commit ${name}`, { links }, parent);
  }
}

/** Creates the sampler that has the given name in the OpenTelemetry specification. */
function createSampler(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** Timeout for an export. Shorter than the interval between batches. */
const timeoutMs = 4_000;

/** Exports spans over OTLP/HTTP. Logs when a collector outage starts and ends. */
export function createOtlpExporter(
  { endpoint, headers }: Pick<TraceSettings, 'endpoint' | 'headers'>,
  log: Logger,
): SpanExporter {
  const url = `${endpoint}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs });
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        const failed = code !== ExportResultCode.SUCCESS;
        if (failed && !isFailing)
          log.warn(
            { err: error },
            'the collector does not accept traces; dropping them until it recovers',
          );
        if (!failed && isFailing) log.info('the collector accepts traces again');
        isFailing = failed;
        // Reports success, because the package would otherwise write every failure to the console.
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
