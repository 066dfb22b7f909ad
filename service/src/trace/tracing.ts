import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { createLane, type OpenLane } from '../store/group-commit.ts';

/** Span attributes. */
export type Attributes = Record<string, string | number | boolean>;

/** A span that covers a piece of work. */
export interface Span {
  /** The trace context as HTTP headers. Empty if tracing is disabled. */
  readonly headers: Readonly<Record<string, string>>;
  setAttributes(attributes: Attributes): void;
  fail(message: string): void;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Records the service's work as spans. */
export interface Tracing {
  /** Records a span for each request, as part of the client's trace if there is one. Absent if tracing is disabled. */
  listener?(listener: Listener): Listener;
  /** Sets a request's id and route. `route` is undefined if no route matched. */
  nameRequest(request: IncomingMessage, id: string, route: string | undefined): void;
  /** Returns a function that creates lanes with a span for each transaction, linked to the requests in it. */
  lane(name: string): OpenLane;
  /** Runs background work in its own trace. */
  run<T>(work: Work, run: (span: Span) => Promise<T>): Promise<T>;
  /** Flushes the remaining spans. Never rejects, and does not wait for an unresponsive collector. */
  stop(): Promise<void>;
}

export interface Work {
  name: string;
  /** Whether the work is an outgoing request. */
  outgoing?: true;
  attributes?: Attributes;
}

const noSpan: Span = { headers: {}, setAttributes: () => undefined, fail: () => undefined };

/** Tracing that records nothing. */
export const noTracing: Tracing = {
  nameRequest: () => undefined,
  lane: () => createLane,
  run: (_work, run) => run(noSpan),
  stop: () => Promise.resolve(),
};

/** Settings for the collector and the sampler. */
export interface TraceSettings {
  /** The collector's OTLP/HTTP base URL, without `/v1/traces`. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  sampler: SamplerName;
  /** The fraction of traces that a ratio sampler keeps, from 0 to 1. */
  ratio: number;
}

/** The samplers in the OpenTelemetry specification that take either no argument or a ratio. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof samplerNames)[number];

/**
 * Parses headers such as `name=value,name=value` with percent-encoded values. Returns undefined if they are invalid.
 */
export function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const [, name, value] =
      /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]+(?: [\x21-\x7e]+)*)\s*$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) return undefined;
    try {
      headers[name] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return headers;
}

/** Loads the OpenTelemetry packages only if a collector is configured. */
export async function openTracing(
  settings: TraceSettings | undefined,
  log: Logger,
): Promise<Tracing> {
  if (settings === undefined) return noTracing;
  const { createOtlpTracing } = await import('./otlp-tracing.ts');
  return createOtlpTracing(settings, log);
}
