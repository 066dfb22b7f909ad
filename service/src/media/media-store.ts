import type { Readable } from 'node:stream';

/** A file that is stored. */
export interface StoredMedia {
  bytes: number;
  /** Both ends are included; absent: all of it. */
  read(range?: { start: number; end: number }): Promise<Readable>;
}

/** Where uploaded files are; their names are hashes of their content, so they never change. */
export interface MediaStore {
  put(name: string, body: Buffer, type: string): Promise<void>;
  /** Undefined when there is no such file. */
  find(name: string): Promise<StoredMedia | undefined>;
  /** A file that is not there is as good as removed. */
  remove(name: string): Promise<void>;
}
