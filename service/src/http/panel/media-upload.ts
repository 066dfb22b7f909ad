import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createTakeMedia, type TakenMedia } from '../../media/take-media.ts';
import { principalOf } from '../authentication/authenticate.ts';
import { actorOf } from '../operations/operations.ts';
import { ProblemError } from '../problems/problem.ts';
import { type PanelParts, text } from './panel-parts.ts';

const maxBytes = 20 * 1_024 * 1_024;

/** `POST /panel/api/media`: uploads a file for a creative, as the request body. */
export async function addMediaUpload(app: FastifyInstance, parts: PanelParts): Promise<void> {
  const { database, audit, mediaStore, uploads, publicUrl } = parts;
  const takeMedia = createTakeMedia(mediaStore, uploads);
  // In its own scope, because every other route parses JSON.
  await app.register(async (upload) => {
    upload.removeAllContentTypeParsers();
    const passThrough = async (_request: unknown, body: Buffer) => body;
    upload.addContentTypeParser('*', { parseAs: 'buffer' }, passThrough);
    upload.post<{ Querystring: { name: string }; Body: Buffer | undefined }>(
      '/panel/api/media',
      {
        bodyLimit: maxBytes,
        config: { panel: 'environment' },
        schema: {
          hide: true,
          querystring: { type: 'object', required: ['name'], properties: { name: text(255) } },
        },
      },
      async (request, reply) => {
        const { body, query, id: requestId } = request;
        if (!body || body.length === 0)
          throw new ProblemError('invalid_request', 'Send the file as the body of the request.');
        const taken = await takeMedia(body, typeOf(request));
        const response = describe(taken, publicUrl());
        const principal = principalOf(request);
        const { accountId, environment } = principal;
        await audit.record(
          {
            queries: database,
            scope: { accountId, environment },
            actor: actorOf(principal),
            requestId,
          },
          {
            action: 'media.uploaded',
            targetId: taken.name,
            after: { name: query.name, ...response },
          },
        );
        return reply.code(201).send(response);
      },
    );
  });
}

/** The media type that the browser derived from the file name; undefined if it sent none. */
function typeOf({ headers }: FastifyRequest): string | undefined {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === '' || type === 'application/octet-stream' ? undefined : type;
}

const describe = (taken: TakenMedia, publicUrl: string): object => ({
  url: `${publicUrl}/media/${taken.name}`,
  sha256: taken.sha256,
  bytes: taken.bytes,
  mime: taken.type,
  ...(taken.width === undefined ? {} : { width: taken.width, height: taken.height }),
  ...(taken.durationMs === undefined ? {} : { duration_ms: taken.durationMs }),
  ...(taken.videoCodec === undefined ? {} : { video_codec: taken.videoCodec }),
  ...(taken.audioCodec === undefined ? {} : { audio_codec: taken.audioCodec }),
});
