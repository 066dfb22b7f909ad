import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaStore } from './media-store.ts';

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
