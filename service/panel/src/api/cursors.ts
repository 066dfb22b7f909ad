import type { Call } from './call.ts';
import { query } from './resources.ts';

export interface Page<T> {
  data: T[];
  has_more: boolean;
  next_cursor?: string;
}

/** Reads numbered pages of a list that the service paginates with cursors. */
interface CursorPages {
  read<T>(path: string, page: number, perPage: number): Promise<Page<T>>;
}

export function createCursorPages(call: Call): CursorPages {
  /** The cursors for the pages read so far, by list and page size. */
  const cursorsByList = new Map<string, string[]>();

  return {
    async read<T>(path: string, page: number, perPage: number): Promise<Page<T>> {
      const list = query(path, { limit: perPage });
      const cursors = page === 1 ? [''] : (cursorsByList.get(list) ?? ['']);
      cursorsByList.set(list, cursors);
      let currentPage = Math.min(page, cursors.length);
      for (;;) {
        const { body } = await call<Page<T>>(
          query(list, { starting_after: cursors[currentPage - 1] }),
        );
        if (body.next_cursor !== undefined) cursors[currentPage] = body.next_cursor;
        if (currentPage === page || body.next_cursor === undefined) return body;
        currentPage += 1;
      }
    },
  };
}

/** Reads all pages of a list. */
export const readAll = <T>(call: Call, path: string): Promise<T[]> =>
  readFirst<T>(call, path, Infinity);

/** Reads the first items of a list, page by page. */
export async function readFirst<T>(call: Call, path: string, count: number): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await call<Page<T>>(query(path, { limit: 100, starting_after: cursor }));
    items.push(...body.data);
    cursor = body.has_more ? body.next_cursor : undefined;
  } while (cursor !== undefined && items.length < count);
  return items.slice(0, count);
}
