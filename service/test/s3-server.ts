import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fake S3 server with one in-memory bucket. Rejects requests with invalid signatures. */
export interface S3Server {
  url: string;
  region: string;
  keyId: string;
  secret: string;
  objects: Map<string, { body: Buffer; type: string }>;
  /** The reason for each rejected request. */
  rejections: string[];
  stop(): Promise<void>;
}

const credentials = { region: 'eu-test-1', keyId: 'AKIATEST', secret: 'a/secret+of=forty' };
const bucket = '/ads/';

export async function startS3Server(): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map();
  const rejections: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const path = request.url ?? '';
      const rejection = findSignatureProblem(request, body);
      if (rejection !== undefined) {
        rejections.push(rejection);
        return response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
      }
      if (!path.startsWith(bucket)) return response.writeHead(404).end();
      if (request.method === 'PUT') {
        objects.set(path.slice(bucket.length), {
          body,
          type: request.headers['content-type'] ?? '',
        });
        return response.writeHead(200).end();
      }
      if (request.method === 'DELETE') {
        objects.delete(path.slice(bucket.length));
        return response.writeHead(204).end();
      }
      const object = objects.get(path.slice(bucket.length));
      if (!object) return response.writeHead(404).end();
      const { status, headers, part } = sliceRange(object.body, request.headers.range);
      response.writeHead(status, { ...headers, 'content-length': part.length });
      return response.end(request.method === 'HEAD' ? undefined : part);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...credentials,
    url: `http://127.0.0.1:${port}${bucket.slice(0, -1)}`,
    objects,
    rejections,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Returns the part of an object that a `Range` header selects (RFC 9110, section 14.1.2), or the whole object if there
 * is no such header.
 */
function sliceRange(body: Buffer, range = '') {
  const [match, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const isReversed = first !== '' && last !== '' && Number(last) < Number(first);
  if (match === undefined || isReversed) return { status: 200, headers: {}, part: body };
  const start = first === '' ? Math.max(0, body.length - Number(last)) : Number(first);
  const end = first === '' || last === '' ? body.length : Math.min(Number(last) + 1, body.length);
  if (start >= end)
    return { status: 416, headers: {}, part: Buffer.from('<Code>InvalidRange</Code>') };
  const headers = { 'content-range': `bytes ${start}-${end - 1}/${body.length}` };
  return { status: 206, headers, part: body.subarray(start, end) };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) =>
  createHmac('sha256', key).update(data).digest();

/**
 * Verifies a request's AWS Signature Version 4. Returns the reason if the signature is invalid, and undefined
 * otherwise. https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
function findSignatureProblem(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer,
): string | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!match) return 'no signature';
  const [, keyId, day = '', region = '', signedHeaders = '', signature] = match;
  if (keyId !== credentials.keyId || region !== credentials.region) return 'wrong key or region';
  if (!signedHeaders.split(';').includes('host')) return 'the host is not signed';
  const contentHash = String(headers['x-amz-content-sha256']);
  if (method === 'PUT' && contentHash !== sha256(body)) return 'the content is not signed';
  const time = String(headers['x-amz-date']);
  const canonical = [
    method,
    new URL(url, 'http://host').pathname,
    '',
    ...signedHeaders.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signedHeaders,
    contentHash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${credentials.secret}`, day));
  return hmac(key, text).toString('hex') === signature ? undefined : 'invalid signature';
}
