import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { KeyKind } from '../key/key-text.ts';
import type { KeyPrincipal } from '../key/principal.ts';
import type { Tracing } from '../trace/tracing.ts';
import type { AdmitKey } from './authenticate.ts';
import type { AnswerHeaders, Asker } from './exchange.ts';
import { parseJson } from './json-body.ts';
import { answerProblem, invalidRequest } from './problem.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import type { Validate } from './validation.ts';

/** A route that most requests go to: a `POST` of JSON with a key. */
export interface HotRoute<Body> {
  path: string;
  keys: readonly KeyKind[];
  validate: Validate;
  /** Makes the answer, as JSON. */
  answer(asked: { principal: KeyPrincipal; body: Body } & Exchange): Promise<string>;
}

interface Exchange {
  asker: Asker;
  headers: AnswerHeaders;
}

interface Parts {
  admitKey: AdmitKey;
  metrics: ServiceMetrics;
  tracing: Pick<Tracing, 'named'>;
  bodyLimit: number;
  clientAddress(request: IncomingMessage): string;
  draining: AbortSignal;
  log: Logger;
}

/** Takes a request on, or hands back false: then it is for the rest of the application. */
export type HotPath = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Answers the usual form of a request straight on `node:http`, by the same checks and with the same
 * answer as the route of Fastify, whose hooks cost as much as a decision. Anything unusual (a body of
 * unknown length, or too long, or not JSON; a query string) is left to that route.
 */
export function createHotPath(routes: readonly HotRoute<never>[], parts: Parts): HotPath {
  const byPath = new Map(routes.map((route) => [route.path, route as HotRoute<unknown>]));
  return (request, response) => {
    const route = request.method === 'POST' ? byPath.get(request.url ?? '') : undefined;
    if (!route || !isUsual(request, parts.bodyLimit)) return false;
    void new HotExchange(route, parts, request, response).run();
    return true;
  };
}

function isUsual({ headers }: IncomingMessage, bodyLimit: number): boolean {
  const length = Number(headers['content-length']);
  const type = headers['content-type'];
  return (
    length > 0 &&
    length <= bodyLimit &&
    headers.expect === undefined &&
    (type === 'application/json' || type === 'text/plain' || type === 'text/plain;charset=UTF-8')
  );
}

/**
 * One request and its answer. A class, and no literal with a getter: each of those is of a hidden class
 * of its own, which kept a tenth of every request from the collector of garbage until the next full
 * collection, and made all code that read it slower.
 */
class HotExchange implements Asker, AnswerHeaders {
  readonly id = randomUUID();
  readonly headers: IncomingMessage['headers'];
  readonly log: Logger;
  readonly #startedMs = performance.now();
  readonly #sent: Record<string, string | number> = { 'request-id': this.id };
  readonly #route: HotRoute<unknown>;
  readonly #parts: Parts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(
    route: HotRoute<unknown>,
    parts: Parts,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.headers = request.headers;
    this.log = parts.log;
    this.#route = route;
    this.#parts = parts;
    this.#request = request;
    this.#response = response;
    parts.tracing.named(request, this.id, route.path);
  }

  get ip(): string {
    return this.#parts.clientAddress(this.#request);
  }
  getHeader(name: string): unknown {
    return this.#sent[name];
  }
  header(name: string, value: string | number): void {
    this.#sent[name] = value;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    try {
      const answer = await this.#answer();
      this.#sent['content-type'] = 'application/json; charset=utf-8';
      this.#send(200, answer);
    } catch (error) {
      // Otherwise the client has gone before it had sent everything.
      if (!this.#request.errored) this.#refuse(error);
    }
  }

  async #answer(): Promise<string> {
    const { keys, validate, answer } = this.#route;
    const principal = await this.#parts.admitKey(this, this, keys);
    const body = parseJson(await readBody(this.#request));
    if (!validate(body)) throw invalidRequest(validate.errors ?? [], 'body');
    return answer({ principal, body, asker: this, headers: this });
  }

  #refuse(error: unknown): void {
    const { document, headers, unexpected } = answerProblem(error, this.id);
    if (unexpected)
      this.log.error(
        { err: error, requestId: this.id, route: this.#route.path },
        'a request failed',
      );
    Object.assign(this.#sent, headers);
    this.#send(document.status, JSON.stringify(document));
  }

  #send(status: number, text: string): void {
    const { draining, metrics, log } = this.#parts;
    if (draining.aborted) this.#sent['connection'] = 'close';
    this.#sent['content-length'] = Buffer.byteLength(text);
    this.#response.writeHead(status, this.#sent).end(text);

    const ms = performance.now() - this.#startedMs;
    const route = this.#route.path;
    metrics.observeRequest({ method: 'POST', route, status: String(status) }, ms / 1_000);
    if (log.isLevelEnabled('debug')) {
      const told = { requestId: this.id, method: 'POST', route, status, ms: Math.round(ms) };
      log.debug(told, 'answered');
    }
  }
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const [first] = chunks;
      resolve((chunks.length === 1 && first ? first : Buffer.concat(chunks)).toString());
    });
    request.once('error', reject);
  });
}
