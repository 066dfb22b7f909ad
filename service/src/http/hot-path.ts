import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { KeyKind } from '../key/key-text.ts';
import type { KeyPrincipal } from '../key/principal.ts';
import { asciiJson } from '../platform/ascii-json.ts';
import type { AdmitKey } from './authenticate.ts';
import type { ClientAddress } from './client-address.ts';
import type { Country } from './country.ts';
import type { AnswerHeaders, Asker } from './exchange.ts';
import type { PlainAnswer, PlainHandler, PlainRequest } from './front/plain-exchange.ts';
import type { Head } from './front/read-head.ts';
import { parseJson } from './json-body.ts';
import { answerProblem, invalidRequest } from './problem.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import type { Validate } from './validation.ts';

/** A route that most requests go to: a `POST` of JSON with a key. */
export interface HotRoute<Body, Answer> {
  path: string;
  keys: readonly KeyKind[];
  validate: Validate;
  answer(asked: { principal: KeyPrincipal; body: Body } & Exchange): Promise<Answer>;
  /** The answer as JSON in ASCII. */
  write(answer: Answer): string;
}

interface Exchange {
  asker: Asker;
  headers: AnswerHeaders;
}

interface Parts {
  admitKey: AdmitKey;
  metrics: ServiceMetrics;
  country: Pick<Country, 'screen'>;
  bodyLimit: number;
  clientAddress: ClientAddress;
  draining: AbortSignal;
  log: Logger;
}

/**
 * Answers the usual form of a request as it comes from its connection, by the same checks and with the
 * same answer as the route of Fastify, whose hooks cost as much as a decision. Anything unusual (a body
 * that is too long, or not JSON; a query string) is left to that route.
 */
export function createHotPath(
  routes: readonly HotRoute<never, unknown>[],
  parts: Parts,
): PlainHandler {
  const byPath = new Map(routes.map((route) => [route.path, route as HotRoute<unknown, unknown>]));
  return {
    takes: ({ method, path, headers }) =>
      method === 'POST' && byPath.has(path) && isUsual(headers, parts.bodyLimit),
    answer(request) {
      const route = byPath.get(request.head.path);
      if (!route) throw new Error(`Nothing here answers ${request.head.path}.`);
      return new HotExchange(route, parts, request).run();
    },
  };
}

function isUsual(headers: Head['headers'], bodyLimit: number): boolean {
  const length = Number(headers['content-length']);
  const type = headers['content-type'];
  return (
    length > 0 &&
    length <= bodyLimit &&
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
  readonly headers: IncomingHttpHeaders;
  readonly log: Logger;
  readonly #startedMs = performance.now();
  readonly #sent: Record<string, string | number> = { 'request-id': this.id };
  readonly #route: HotRoute<unknown, unknown>;
  readonly #parts: Parts;
  readonly #request: PlainRequest;

  constructor(route: HotRoute<unknown, unknown>, parts: Parts, request: PlainRequest) {
    this.headers = request.head.headers;
    this.log = parts.log;
    this.#route = route;
    this.#parts = parts;
    this.#request = request;
    parts.country.screen(this.#sender);
  }

  get #sender() {
    return { headers: this.headers, socket: this.#request.socket };
  }
  get ip(): string {
    return this.#parts.clientAddress(this.#sender);
  }
  getHeader(name: string): unknown {
    return this.#sent[name];
  }
  header(name: string, value: string | number): void {
    this.#sent[name] = value;
  }

  /** Never rejects. */
  async run(): Promise<PlainAnswer> {
    const { keys, validate, answer, write } = this.#route;
    try {
      const admitted = this.#parts.admitKey(this, this, keys);
      const principal = admitted instanceof Promise ? await admitted : admitted;
      const body = parseJson(this.#request.body);
      if (!validate(body)) throw invalidRequest(validate.errors ?? [], 'body');
      const answered = await answer({ principal, body, asker: this, headers: this });
      this.#sent['content-type'] = 'application/json; charset=utf-8';
      return this.#end(200, write(answered));
    } catch (error) {
      return this.#refuse(error);
    }
  }

  #refuse(error: unknown): PlainAnswer {
    const { document, headers, unexpected } = answerProblem(error, this.id);
    if (unexpected)
      this.log.error(
        { err: error, request_id: this.id, route: this.#route.path },
        'a request failed',
      );
    Object.assign(this.#sent, headers);
    return this.#end(document.status, asciiJson(document));
  }

  #end(status: number, body: string): PlainAnswer {
    const { draining, metrics, log } = this.#parts;
    const ms = performance.now() - this.#startedMs;
    const route = this.#route.path;
    metrics.observeRequest('POST', route, String(status), ms / 1_000);
    if (log.isLevelEnabled('debug')) {
      const told = { request_id: this.id, method: 'POST', route, status, ms: Math.round(ms) };
      log.debug(told, 'answered');
    }
    return { status, headers: this.#sent, body, isLast: draining.aborted };
  }
}
