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
  answer(asked: { principal: KeyPrincipal; body: Body } & Exchange): Promise<object>;
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
    void exchange(route, parts, request, response);
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

/** Never rejects. */
async function exchange(
  route: HotRoute<unknown>,
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedMs = performance.now();
  const id = randomUUID();
  parts.tracing.named(request, id, route.path);
  const sent: Record<string, string | number> = { 'request-id': id };
  const headers: AnswerHeaders = {
    getHeader: (name) => sent[name],
    header: (name, value) => (sent[name] = value),
  };
  const asker: Asker = {
    id,
    get ip() {
      return parts.clientAddress(request);
    },
    headers: request.headers,
    log: parts.log,
  };
  let status = 200;
  let text: string;
  try {
    text = JSON.stringify(await run(route, parts, request, { asker, headers }));
    sent['content-type'] = 'application/json; charset=utf-8';
  } catch (error) {
    if (request.errored) return; // the client has gone before it had sent everything
    const problem = answerProblem(error, id);
    if (problem.unexpected)
      parts.log.error({ err: error, requestId: id, route: route.path }, 'a request failed');
    status = problem.document.status;
    text = JSON.stringify(problem.document);
    Object.assign(sent, problem.headers);
  }
  if (parts.draining.aborted) sent['connection'] = 'close';
  sent['content-length'] = Buffer.byteLength(text);
  response.writeHead(status, sent).end(text);

  const ms = performance.now() - startedMs;
  parts.metrics.observeRequest(
    { method: 'POST', route: route.path, status: String(status) },
    ms / 1_000,
  );
  if (parts.log.isLevelEnabled('debug')) {
    const told = { requestId: id, method: 'POST', route: route.path, status, ms: Math.round(ms) };
    parts.log.debug(told, 'answered');
  }
}

async function run(
  { keys, validate, answer }: HotRoute<unknown>,
  { admitKey }: Parts,
  request: IncomingMessage,
  { asker, headers }: Exchange,
): Promise<object> {
  const principal = await admitKey(asker, headers, keys);
  const body = parseJson(await readBody(request));
  if (!validate(body)) throw invalidRequest(validate.errors ?? [], 'body');
  return answer({ principal, body, asker, headers });
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
