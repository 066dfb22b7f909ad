import type { Schema } from './sample.ts';

/** An operation in the OpenAPI document. */
export interface Operation {
  method: string;
  /** The path template, such as `/v1/placements/{id}`. */
  path: string;
  id: string;
  /** The kinds of keys that may call the operation. */
  keys: ('publishable' | 'secret')[];
  body?: Schema;
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[];
  /** The response schema for each status; undefined if the response has no JSON body. */
  responses: Record<string, Schema | undefined>;
}

export interface OpenApi {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
}

interface Content {
  'application/json'?: { schema: Schema };
}
interface RawOperation {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: Operation['parameters'];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

/** Fetches a service's OpenAPI document. */
export async function readOpenApi(url: string): Promise<OpenApi> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
}

export function listOperations({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]): Operation => {
      const body = raw.requestBody?.content['application/json']?.schema;
      return {
        method: method.toUpperCase(),
        path,
        id: raw.operationId,
        keys: (raw.security ?? []).flatMap((scheme) =>
          'publishableKey' in scheme ? 'publishable' : 'secretKey' in scheme ? 'secret' : [],
        ),
        ...(body ? { body } : {}),
        parameters: raw.parameters ?? [],
        responses: Object.fromEntries(
          Object.entries(raw.responses).map(([status, { content }]) => [
            status,
            content?.['application/json']?.schema,
          ]),
        ),
      };
    }),
  );
}
