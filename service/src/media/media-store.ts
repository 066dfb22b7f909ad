import type { Readable } from 'node:stream';

/** Where uploaded files are; their names are hashes of their content, so they never change. */
export interface MediaStore {
  put(name: string, body: Buffer, type: string): Promise<void>;
  /** How the files are read: from a folder of this machine, or with a request for each. */
  readonly source: { folder: string } | { fetch: FetchMedia };
  /** Removing a file that does not exist succeeds. */
  remove(name: string): Promise<void>;
}

/**
 * Asks the store for a file, or for the part that `range` names, in the syntax of the HTTP header
 * (`bytes=0-99`). Undefined when there is no such file.
 */
export type FetchMedia = (
  name: string,
  request: { method: 'GET' | 'HEAD'; range: string | undefined },
) => Promise<FetchedMedia | undefined>;

/** What the store answered: all of a file, a part of it, or that it has no such part. */
export interface FetchedMedia {
  status: 200 | 206 | 416;
  /** `content-length` and `content-range`, where the store sent them. */
  headers: Record<string, string>;
  body: Readable;
}
