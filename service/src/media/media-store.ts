import { randomUUID, createHash } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AwsClient } from 'aws4fetch';
import { makeDataFolder, replaceFile } from '../platform/durable-files.ts';

/** Stores uploaded files. A file's name is the hash of its content, so its content never changes. */
export interface MediaStore {
  put(name: string, body: Buffer, type: string): Promise<void>;
  /** Where files are read from: a local folder, or a function that fetches one file. */
  readonly source: { folder: string } | { fetch: FetchMedia };
  /** Deletes a file. Succeeds even if the file does not exist. */
  remove(name: string): Promise<void>;
}

/**
 * Fetches a file, or a byte range in HTTP `Range` header syntax (`bytes=0-99`). Resolves to undefined if the file does
 * not exist.
 */
type FetchMedia = (
  name: string,
  request: { method: 'GET' | 'HEAD'; range: string | undefined },
) => Promise<FetchedMedia | undefined>;

/** The response to a request for a file. The status indicates a whole file, a range, or an unsatisfiable range. */
interface FetchedMedia {
  status: 200 | 206 | 416;
  /** `content-length` and `content-range`, if the store sent them. */
  headers: Record<string, string>;
  body: Readable;
}

/** Stores files in a folder. Creates the folder when the first file is stored. */
export function createFolderStore(folder: string): MediaStore {
  const readSize = async (name: string): Promise<number | undefined> => {
    try {
      const info = await stat(join(folder, name));
      return info.isFile() ? info.size : undefined;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  };
  return {
    async put(name, body) {
      if ((await readSize(name)) === body.length) return;
      makeDataFolder(dirname(folder));
      await mkdir(folder, { recursive: true });
      // Writes to a temporary file first, so that a partial file is never served.
      const draft = join(folder, `${name}.${randomUUID()}.new`);
      await replaceFile(join(folder, name), body, { draft });
    },
    source: { folder },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

/** An S3-compatible bucket. */
export interface S3Bucket {
  /** The path-style URL of the bucket, such as `https://s3.eu-central-1.amazonaws.com/ads`. */
  url: string;
  region: string;
  keyId: string;
  secret: string;
}

/** Timeout for the response headers. There is no timeout for the body, because players may read it slowly. */
const timeoutMs = 30_000;

/** Stores files in a bucket. The service proxies them to players, so the bucket can stay private. */
export function createS3Store({ url, region, keyId, secret }: S3Bucket): MediaStore {
  const client = new AwsClient({
    accessKeyId: keyId,
    secretAccessKey: secret,
    service: 's3',
    region,
    retries: 2,
  });
  const send = async (method: string, name: string, init: RequestInit = {}): Promise<Response> => {
    const response = await withTimeout((signal) =>
      client.fetch(`${url}/${name}`, { method, signal, ...init }),
    );
    if (response.ok || response.status === 404 || response.status === 416) return response;
    const text = await response.text();
    throw new Error(`The media store returned ${response.status}: ${text.slice(0, 200)}`);
  };
  return {
    async put(name, body, type) {
      const response = await send('PUT', name, {
        body: new Uint8Array(body),
        headers: {
          'content-type': type,
          // Makes the signature cover the content.
          'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
        },
      });
      if (!response.ok) throw new Error("The media store's bucket does not exist.");
    },
    source: {
      async fetch(name, { method, range }) {
        const headers = range === undefined ? {} : { range };
        const response = await send(method, name, { headers });
        if (response.status === 404) return undefined;
        const sizeHeaders = pick(response.headers, ['content-length', 'content-range']);
        if (response.status === 416) {
          await response.body?.cancel();
          return {
            status: 416,
            headers: { ...sizeHeaders, 'content-length': '0' },
            body: Readable.from([]),
          };
        }
        return {
          status: response.status === 206 ? 206 : 200,
          headers: sizeHeaders,
          body: response.body
            ? Readable.fromWeb(response.body as ReadableStream)
            : Readable.from([]),
        };
      },
    },
    async remove(name) {
      await send('DELETE', name);
    },
  };
}

const pick = (headers: Headers, names: string[]): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => names.includes(name)));

async function withTimeout(send: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const timeout = new AbortController();
  const timer = setTimeout(
    () =>
      timeout.abort(new Error(`The media store did not respond within ${timeoutMs / 1_000} s.`)),
    timeoutMs,
  );
  try {
    return await send(timeout.signal);
  } finally {
    clearTimeout(timer);
  }
}
