import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';

/** Serves `/openapi.json` for every route that is added afterwards; named schemas become components. */
export async function addOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Trueward ad service',
        version: '1',
        description: 'Ad decisions, events, rewards and their webhooks.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      components: {
        securitySchemes: {
          publishableKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`pk_sandbox_…` or `pk_live_…`',
          },
          secretKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`sk_sandbox_…` or `sk_live_…`; on a server only',
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) =>
        typeof schema['$id'] === 'string' ? schema['$id'] : `def-${index}`,
    },
    transform: ({ schema, url, route }) => {
      const keys = route.config?.keys;
      return {
        url,
        schema: {
          ...schema,
          security: (keys ?? []).map((kind) => ({
            [kind === 'pk' ? 'publishableKey' : 'secretKey']: [],
          })),
          response: {
            ...(schema?.response as object | undefined),
            default: {
              description: 'The request failed.',
              content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
            },
          },
        },
      };
    },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}
