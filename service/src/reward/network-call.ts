import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { SourceCallback as Settings } from '@trueward/protocol/wire';

/*
 * The call by the server of an ad network after a view. Networks differ in the names of their parameters and in how they
 * prove who they are: with a secret in the URL, or with an HMAC-SHA256 of the body or of the sorted query string.
 */

/** A network's call, as it arrived. */
export interface NetworkCall {
  /** The query string, without the question mark. */
  query: string;
  /** The body; empty if there is none. */
  body: Buffer;
  /** The body's media type. */
  contentType: string;
  header(name: string): string | undefined;
}

/** Networks send about a dozen parameters. Sorting thousands, before it is known who calls, would cost much. */
const maxParameters = 100;

/** Whether a call has so many parameters in its query string that no network has made it. */
export const hasTooManyParameters = ({ query }: Pick<NetworkCall, 'query'>): boolean => {
  let count = 1;
  for (let at = query.indexOf('&'); at >= 0 && count <= maxParameters; count += 1)
    at = query.indexOf('&', at + 1);
  return count > maxParameters;
};

/** The name of the parameter with the secret. */
const keyParameter = 'key';

/** A SHA-256 in hexadecimal; some networks name the algorithm first. */
const signaturePattern = /^(?:sha256=)?([0-9a-f]{64})$/i;

/** Whether the call proves that it comes from the network. */
export function isAuthentic(
  call: NetworkCall,
  { signature_header: signatureHeader }: Settings,
  secret: string,
): boolean {
  if (signatureHeader === undefined) {
    const bearer = /^Bearer +(\S+)$/i.exec(call.header('authorization') ?? '')?.[1];
    const key = bearer ?? new URLSearchParams(call.query).get(keyParameter) ?? '';
    return isEqual(hash(key), hash(secret));
  }
  const hex = signaturePattern.exec(call.header(signatureHeader) ?? '')?.[1];
  if (hex === undefined) return false;
  const signature = Buffer.from(hex, 'hex');
  return listSignedTexts(call).some((text) =>
    isEqual(createHmac('sha256', secret).update(text).digest(), signature),
  );
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

const isEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** What the network may have signed. It may have encoded the query string differently for its signature. */
function listSignedTexts({ body, query }: NetworkCall): (Buffer | string)[] {
  if (body.length > 0) return [body];
  const asSent = query.split('&').toSorted(compareNames).join('&');
  const encodedAnew = new URLSearchParams(query);
  encodedAnew.sort();
  return [asSent, encodedAnew.toString()];
}

const compareNames = (a: string, b: string): number => {
  const [nameA = '', nameB = ''] = [a.split('=')[0], b.split('=')[0]];
  return nameA < nameB ? -1 : nameA > nameB ? 1 : 0;
};

/** Returns the decision's id, or the names of the parameters that the call has instead. */
export function findDecisionId(
  call: NetworkCall,
  { decision_parameter: name, signature_header: signature }: Settings,
): { id: string } | { expected: string; received: string[] } {
  const isQuerySigned = signature === undefined || call.body.length === 0;
  const parameters = readParameters(isQuerySigned ? call : { ...call, query: '' });
  const id = parameters.get(name);
  if (id !== undefined && id !== '') return { id };
  return { expected: name, received: [...parameters.keys()].filter((key) => key !== keyParameter) };
}

/** Reads the parameters of the query string and the body. */
function readParameters({ body, contentType, query }: NetworkCall): Map<string, string> {
  // Some servers begin a text with a byte order mark.
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  const fromBody = /\bjson\b/i.test(contentType)
    ? readJson(text)
    : [...new URLSearchParams(text).entries()];
  return new Map([...fromBody, ...new URLSearchParams(query).entries()]);
}

/** Reads the members of a flat object. Anything else has no parameters. */
function readJson(text: string): [string, string][] {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, member]): [string, string][] =>
      typeof member === 'string' ? [[name, member]] : [],
    );
  } catch {
    return [];
  }
}
