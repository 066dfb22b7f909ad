import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** Stores uploaded files. A file's name is the hash of its content, so its content never changes. */
export interface MediaStore {
  put(name: string, body: Buffer, type: string): Promise<void>;
  /** Where to read files: a local folder, or a function that fetches one file. */
  readonly source: { folder: string } | { fetch: FetchMedia };
  /** Deletes a file. Succeeds even if the file does not exist. */
  remove(name: string): Promise<void>;
}

/**
 * Fetches a file, or a range of bytes in the syntax of the HTTP `Range` header (`bytes=0-99`). Resolves to undefined if
 * the file does not exist.
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
      await mkdir(folder, { recursive: true });
      // Writes to a temporary file first, so that a partial file is never served.
      const temporary = join(folder, `${name}.${randomUUID()}.new`);
      try {
        await writeFile(temporary, body, { flush: true });
        await rename(temporary, join(folder, name));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    source: { folder },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}
