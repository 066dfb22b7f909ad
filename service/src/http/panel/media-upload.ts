import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createIngestMedia, type IngestedMedia, maxMediaBytes } from '../../media/ingest-media.ts';
import { toOneLine } from '../../platform/one-line.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { getActor } from '../operations.ts';
import { ProblemError } from '../problem.ts';
import { type PanelDeps, textSchema } from './panel-deps.ts';

/** No system has longer file names. */
const maxNameLength = 255;

/** Adds `POST /panel/api/media`, which uploads the request body as a file for a creative. */
export async function addMediaUpload(app: FastifyInstance, deps: PanelDeps): Promise<void> {
  const { database, audit, mediaStore, uploads, probeMedia, publicUrl } = deps;
  const ingestMedia = createIngestMedia(mediaStore, uploads, probeMedia);
  const limitUploads = createUploadLimit();
  // Registered in a separate scope, because every other route parses JSON.
  await app.register(async (upload) => {
    upload.removeAllContentTypeParsers();
    const passThrough = async (_request: unknown, body: Buffer) => body;
    upload.addContentTypeParser('*', { parseAs: 'buffer' }, passThrough);
    upload.post<{ Querystring: { name: string }; Body: Buffer | undefined }>(
      '/panel/api/media',
      {
        bodyLimit: maxMediaBytes,
        config: { panel: 'environment' },
        onRequest: limitUploads,
        schema: {
          hide: true,
          querystring: {
            type: 'object',
            required: ['name'],
            properties: { name: textSchema(maxNameLength) },
          },
        },
      },
      async (request, reply) => {
        const { body, query, id: requestId } = request;
        if (!body || body.length === 0)
          throw new ProblemError('invalid_request', 'Send the file as the request body.');
        const principal = getPrincipal(request);
        const { accountId, environment } = principal;
        const media = await ingestMedia(accountId, body, readType(request));
        const response = describe(media, publicUrl());
        await audit.record(
          {
            queries: database,
            scope: { accountId, environment },
            actor: getActor(principal),
            requestId,
          },
          {
            action: 'media.uploaded',
            targetId: media.name,
            after: { name: readFileName(query.name), ...response },
          },
        );
        return reply.code(201).send(response);
      },
    );
  });
}

/** Maximum number of files that an account uploads at the same time. The panel sends them one after another. */
const maxConcurrent = 2;

/** Limits an account's concurrent uploads, before a body is read. Each takes up to 20 MiB, and 3 s of the probe thread. */
function createUploadLimit() {
  const counts = new Map<string, number>();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { accountId } = getPrincipal(request);
    const count = counts.get(accountId) ?? 0;
    if (count >= maxConcurrent) {
      throw new ProblemError(
        'rate_limited',
        `${maxConcurrent} files are already being uploaded in this account; send one after another.`,
        { retryAfterS: 5 },
      );
    }
    counts.set(accountId, count + 1);
    reply.raw.once('close', () => {
      const remaining = (counts.get(accountId) ?? 1) - 1;
      if (remaining > 0) counts.set(accountId, remaining);
      else counts.delete(accountId);
    });
  };
}

/** Returns a file's name, without its folder, as the audit log shows it. The stored file is named after its content. */
const readFileName = (path: string): string | undefined =>
  toOneLine(path.split(/[/\\]/).at(-1) ?? '', maxNameLength);

/** Returns the media type that the browser derived from the file name, or undefined if the browser sent none. */
function readType({ headers }: FastifyRequest): string | undefined {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === '' || type === 'application/octet-stream' ? undefined : type;
}

const describe = (media: IngestedMedia, publicUrl: string): object => ({
  url: `${publicUrl}/media/${media.name}`,
  sha256: media.sha256,
  bytes: media.bytes,
  mime: media.type,
  ...(media.width === undefined ? {} : { width: media.width, height: media.height }),
  ...(media.durationMs === undefined ? {} : { duration_ms: media.durationMs }),
  ...(media.videoCodec === undefined ? {} : { video_codec: media.videoCodec }),
  ...(media.audioCodec === undefined ? {} : { audio_codec: media.audioCodec }),
});
