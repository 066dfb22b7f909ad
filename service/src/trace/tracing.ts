import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLane, type OpenLane } from '../store/group-commit.ts';

/** The attributes of a span. */
export type Attributes = Record<string, string | number | boolean>;

/** The span of a piece of work, as the work sees it. */
export interface Span {
  /** Headers that propagate the trace over HTTP; empty without tracing. */
  readonly headers: Readonly<Record<string, string>>;
  tell(attributes: Attributes): void;
  fail(message: string): void;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Records the work of the service as spans. */
export interface Tracing {
  /** Wraps requests in spans, which continue the client's trace if it sent one; absent without tracing. */
  listener?(listener: Listener): Listener;
  /** Sets the id and the route of a request; undefined: no route matched. */
  named(request: IncomingMessage, id: string, route: string | undefined): void;
  /** A lane with a span per transaction, linked to its requests. */
  lane(name: string): OpenLane;
  /** Runs background work in a trace of its own. */
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

const noSpan: Span = { headers: {}, tell: () => undefined, fail: () => undefined };

/** Tracing that is off: passes everything through, at no cost. */
export const noTracing: Tracing = {
  named: () => undefined,
  lane: () => createLane,
  run: (_work, run) => run(noSpan),
  stop: () => Promise.resolve(),
};
