import type { Readable } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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
type FetchMedia = (
  name: string,
  request: { method: 'GET' | 'HEAD'; range: string | undefined },
) => Promise<FetchedMedia | undefined>;

/** What the store answered: all of a file, a part of it, or that it has no such part. */
interface FetchedMedia {
  status: 200 | 206 | 416;
  /** `content-length` and `content-range`, where the store sent them. */
  headers: Record<string, string>;
  body: Readable;
}

/** Keeps files in a folder, which is made with the first one. */
export function createFolderStore(folder: string): MediaStore {
  const sizeOf = async (name: string): Promise<number | undefined> => {
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
      if ((await sizeOf(name)) === body.length) return;
      await mkdir(folder, { recursive: true });
      // Aside and moved: nobody is served half a file, and a kill leaves none.
      const draft = join(folder, `${name}.${randomUUID()}.new`);
      try {
        await writeFile(draft, body, { flush: true });
        await rename(draft, join(folder, name));
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
    source: { folder },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}
