import { problemStatus } from '@trueward/protocol';
import type { Problem } from '@trueward/protocol/wire';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { InProcessService } from '../in-process.ts';
import { type OpenApi, type Operation, listOperations, readOpenApi } from './operations.ts';
import { createSampler, type Sampler } from './sample.ts';
import { mutate } from './mutate.ts';
import { createTargets, type Targets } from './targets.ts';

interface FuzzOptions {
  requests: number;
  seed: number;
  onProgress?(done: number): void;
}

/** A response that violates the service's contract. */
export interface Finding {
  request: string;
  status: number;
  body: string;
  reason: string;
}

/** Matches text that must never appear in a response: SQL, stack traces, paths, internal names. */
const internalsPattern =
  /\bSELECT \w|INSERT INTO|node_modules|\.ts:\d|\bat \w+ \(|pglite|syntax error|violates/i;

/** Generates requests from the schemas, mutates them at random and sends them. Returns the invalid responses. */
export async function fuzz(
  running: InProcessService,
  options: FuzzOptions,
): Promise<{ findings: Finding[]; statuses: Map<number, number> }> {
  const document = await readOpenApi(running.url);
  const operations = listOperations(document);
  const sampler = createSampler(document.components.schemas);
  const findProblem = createResponseCheck(document);
  const targets = await createTargets(running);
  // Fails for a path parameter without known values.
  for (const operation of operations) targets.fillPath(operation, () => 0);
  const random = mulberry32(options.seed);
  const findings: Finding[] = [];
  const statuses = new Map<number, number>();
  let sentRequests = 0;
  const worker = async (): Promise<void> => {
    while (sentRequests < options.requests) {
      sentRequests += 1;
      if (sentRequests % 1_000 === 0) options.onProgress?.(sentRequests);
      const operation = operations[Math.floor(random() * operations.length)];
      if (!operation) throw new Error('The OpenAPI document is empty.');
      const request = buildRequest(operation, sampler, targets, running, random);
      const response = await fetch(request.url, request.init);
      const body = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.ok) await targets.onResponse(operation, body);
      const reason = findProblem(operation, response.status, body, request.simulatesError);
      if (reason !== undefined) {
        findings.push({
          request: `${operation.method} ${request.url} ${String(request.init.body ?? '')}`,
          status: response.status,
          body,
          reason,
        });
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return { findings, statuses };
}

function buildRequest(
  operation: Operation,
  sampler: Sampler,
  targets: Targets,
  { url, keys }: InProcessService,
  random: () => number,
) {
  const query = new URLSearchParams(
    operation.parameters
      .filter((each) => each.in === 'query' && each.name !== 'wait_s' && random() < 0.7)
      .map(({ name, schema }) => [
        name,
        String(random() < 0.3 ? mutate('value', random) : sampler.sample(schema, random)),
      ]),
  );
  for (const [name, value] of Object.entries(targets.queryProofs(operation)))
    if (random() < 0.9) query.set(name, value);
  const kind = operation.keys[Math.floor(random() * operation.keys.length)] ?? 'publishable';
  const key = random() < 0.02 ? 'sk_live_wrong' : keys.sandbox[kind];
  const sample = operation.body && useMembers(sampler.sample(operation.body, random), targets);
  const value = random() < 0.6 ? mutate(sample, random) : sample;
  let body = operation.body ? JSON.stringify(value) : undefined;
  if (body !== undefined && random() < 0.03) body = body.slice(0, -1);
  // Simulated slow responses would only prolong the run.
  body = body?.replaceAll('"simulate":"slow"', '"simulate":"no_fill"');
  return {
    url: `${url}${targets.fillPath(operation, random)}?${query.toString()}`,
    simulatesError: body?.includes('"simulate":"error"') ?? false,
    init: {
      method: operation.method,
      headers: {
        // Operations without keys have proofs of their own, which a key would contradict.
        ...(operation.keys.length === 0 ? {} : { authorization: `Bearer ${key}` }),
        ...targets.proofs(operation, random),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(random() < 0.1 ? { 'idempotency-key': `k${Math.floor(random() * 50)}` } : {}),
        ...(random() < 0.1 ? { 'if-match': '"1"' } : {}),
      },
      ...(body === undefined ? {} : { body }),
    },
  };
}

/** Replaces the members of a body that only mean something if they are real. */
function useMembers(body: unknown, { members }: Targets): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const known = Object.entries(members).filter(([name]) => name in body);
  return { ...body, ...Object.fromEntries(known) };
}

/** Creates a function that returns the reason a response is invalid, or undefined if it is valid. */
function createResponseCheck({ components }: OpenApi) {
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'openapi', components });
  const compile = (schema: object): ValidateFunction =>
    ajv.compile(
      JSON.parse(
        JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'),
      ) as object,
    );
  const validators = new Map<object, ValidateFunction>();
  const isProblem = compile({ $ref: '#/components/schemas/Problem' });
  return (operation: Operation, status: number, body: string, simulatesError: boolean) => {
    if (internalsPattern.test(body)) return 'the response leaks internals';
    if (status >= 300) {
      const problem = parse(body);
      if (!isProblem(problem)) return 'the body is not a problem document';
      const { code } = problem as Problem;
      if (problemStatus[code] !== status) return 'the problem code does not match the status';
      return status >= 500 && !simulatesError ? 'the service failed' : undefined;
    }
    if (!(String(status) in operation.responses)) return 'the status is not documented';
    const schema = operation.responses[String(status)];
    if (schema === undefined) return undefined;
    const validate = validators.get(schema) ?? compile(schema);
    validators.set(schema, validate);
    return validate(parse(body))
      ? undefined
      : `the body does not match its schema: ${ajv.errorsText(validate.errors)}`;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The body is not JSON.
  }
}

/** A small seeded random number generator, so that findings are reproducible. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
