import type { Service } from '../../src/program/assemble.ts';

/** A route that accepts a JSON body. */
export interface BodyRoute {
  method: string;
  url: string;
  schema: object;
  limit: number;
}

const kib = 1_024;
/** The panel's routes are not part of the published interface. */
const panelRoutes: [method: string, url: string, limit?: number][] = [
  ['POST', '/panel/api/session', 4 * kib],
  ['POST', '/panel/api/setup', 4 * kib],
  ['POST', '/panel/api/account/password', 4 * kib],
  ['POST', '/panel/api/account/codes/confirm', 4 * kib],
  ['DELETE', '/panel/api/account/codes', 4 * kib],
  ['POST', '/panel/api/policies/try'],
  ['POST', '/panel/api/sources/src_1/try'],
  ['POST', '/panel/api/users'],
  ['PATCH', '/panel/api/users/usr_1'],
];

/** Lists all routes that accept a JSON body, with the schema of the body and its size limit. */
export function listBodyRoutes({ app }: Service): BodyRoute[] {
  const { paths = {} } = app.swagger() as {
    paths?: Record<string, Record<string, { requestBody?: { content: Content } }>>;
  };
  type Content = Record<string, { schema: object }>;
  const published = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      const limit = (path === '/v1/events' ? 256 : 64) * kib;
      const url = path.replaceAll(/\{\w+\}/g, 'x_1');
      return schema ? [{ method: method.toUpperCase(), url, schema, limit }] : [];
    }),
  );
  return [
    ...published,
    ...panelRoutes.map(([method, url, limit = 64 * kib]) => ({
      method,
      url,
      limit,
      schema: url.endsWith('policies/try')
        ? {
            properties: {
              request: { $ref: 'DecisionRequest#' },
              policy: { $ref: 'PolicyRequest#' },
            },
          }
        : { properties: { email: { type: 'string' }, code: { type: 'string' } } },
    })),
  ];
}
