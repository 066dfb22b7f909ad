import type { Service } from '../../src/program/assemble.ts';

/** A route that reads a JSON body. */
export interface BodyRoute {
  method: string;
  url: string;
  /** Whether the route ignores its body, which the service parses all the same. */
  isIgnored: boolean;
  schema: object;
  limit: number;
}

type App = Service['app'];

/** Parses the API's routes from the route tree that Fastify prints, such as `GET /v1/keys/:id`. */
export function listRoutes(app: App): string[] {
  const ancestors: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^(.*?)[├└]── (\S+)(?: \((.*)\))?/.exec(line) ?? [];
      ancestors.splice(indent.length / 4, Infinity, part);
      const path = ancestors.join('').replaceAll(/:\/\//g, ':id/');
      return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${path}`);
    })
    .filter((route) => /^(GET|POST|PUT|PATCH|DELETE) \/(v1|panel\/api)\//.test(route));
}

const kib = 1_024;
/** Routes with another limit than all others. */
const limits: [pattern: RegExp, bytes: number][] = [
  [/ \/v1\/events$/, 256 * kib],
  [/ \/panel\/api\/(session|setup|account)/, 4 * kib],
];
/** The first reads bytes, and not JSON. The second ends the session with which the panel's routes are called. */
const excluded = ['POST /panel/api/media', 'DELETE /panel/api/session'];

/** Those of the panel that need no body. */
const ignored = ['POST /panel/api/account/codes', 'POST /panel/api/users/:id/link'];

/** The panel's routes are not part of the published interface. */
const panelSchemas: Record<string, object> = {
  'POST /panel/api/policies/try': {
    properties: { request: { $ref: 'DecisionRequest#' }, policy: { $ref: 'PolicyRequest#' } },
  },
};
const panelSchema = {
  properties: Object.fromEntries(
    ['email', 'password', 'code', 'name'].map((name) => [name, { type: 'string' }]),
  ),
};

/** Lists all routes that read a JSON body, with the schema of the body and its size limit. */
export function listBodyRoutes({ app }: Service): BodyRoute[] {
  type Content = Record<string, { schema: object }>;
  const { paths = {} } = app.swagger() as {
    paths?: Record<string, Record<string, { requestBody?: { content: Content } }>>;
  };
  const schemas = new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { requestBody }]): [string, object | undefined] => [
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        requestBody?.content['application/json']?.schema,
      ]),
    ),
  );
  return listRoutes(app)
    .filter((route) => !route.startsWith('GET ') && !excluded.includes(route))
    .map((route) => {
      const [method = '', path = ''] = route.split(' ');
      return {
        method,
        url: path.replaceAll(/:\w+/g, 'x_1'),
        isIgnored: schemas.has(route) ? schemas.get(route) === undefined : ignored.includes(route),
        schema: schemas.get(route) ?? panelSchemas[route] ?? panelSchema,
        limit: limits.find(([pattern]) => pattern.test(route))?.[1] ?? 64 * kib,
      };
    });
}
