import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLane, type Lane, type LaneOptions } from '../store/group-commit.ts';

/** What is told of a span. */
export type Attributes = Record<string, string | number | boolean>;

/** What work can tell of its own span. */
export interface Span {
  /** By these, whoever is asked over HTTP goes on with the trace; none without tracing. */
  readonly headers: Readonly<Record<string, string>>;
  tell(attributes: Attributes): void;
  fail(message: string): void;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes a lane whose transactions are told of. */
export type OpenLane = <T extends object, R>(options: LaneOptions<T, R>) => Lane<T, R>;

/** Tells what the service does, as spans. */
export interface Tracing {
  /** Makes each request a span, which goes on with the trace of the client when it has one; absent: none. */
  listener?(listener: Listener): Listener;
  /** Says under which id a request is answered, and by which route; undefined: by none. */
  named(request: IncomingMessage, id: string, route: string | undefined): void;
  /** A span for each transaction, with a link to each request that it is for. */
  lane(name: string): OpenLane;
  /** Runs work that nobody asked for: a trace of its own. */
  run<T>(work: Work, run: (span: Span) => Promise<T>): Promise<T>;
  /** Sends what has not been sent. Never rejects, and waits for no collector that does not answer. */
  stop(): Promise<void>;
}

export interface Work {
  name: string;
  /** Whether it is a request to somebody else. */
  outgoing?: true;
  attributes?: Attributes;
}

const noSpan: Span = { headers: {}, tell: () => undefined, fail: () => undefined };

/** Tells nothing, and costs nothing: what is handed in comes back as it is. */
export const noTracing: Tracing = {
  named: () => undefined,
  lane: () => createLane,
  run: (_work, run) => run(noSpan),
  stop: () => Promise.resolve(),
};
