import { promisifyRequest, type UseStore } from 'idb-keyval';
import type { Clock } from './clock.ts';

/** One IndexedDB database that opens itself, and again after the browser closed it. */
export interface Database {
  /** Access to one store, in the shape of idb-keyval's, so that its calls work on it. */
  store(name: string, durability?: IDBTransactionDurability): UseStore;
  /** Opens it now, so that the first write does not wait. Rejects when it can't be opened. */
  open(): Promise<void>;
  /** Closes the connection. What is still asked for afterwards is done by one that closes at once. */
  close(): void;
}

export interface DatabaseOptions {
  name: string;
  /** The stores, and whether each makes its own increasing keys. */
  stores: Record<string, { autoIncrement: boolean }>;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
  /** Called when an operation takes longer than half a second, and when none does any more. */
  onSlow?(isSlow: boolean): void;
}

/**
 * What has no answer after so long has failed, in milliseconds, because what waits for it must go on.
 * Some browsers never answer an open request (https://bugs.webkit.org/show_bug.cgi?id=226547).
 */
const timeoutMs = 5_000;
/** One timer watches all work: a timer for each write took a tenth of what an event costs. */
const checkMs = 500;
/** At the second check, after 500 to 1,000 ms, work is slow. */
const checksUntilSlow = 2;

/** Resolves when the transaction is stored. Not idb-keyval's helper: that rejects without the cause. */
export const completed = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('The database aborted.'));
  });

/** Creates a {@link Database}; nothing is opened yet. */
export function createDatabase(options: DatabaseOptions): Database {
  let connection: IDBDatabase | undefined;
  let opening: Promise<IDBDatabase> | undefined;
  let closed = false;
  const pending = new Set<{ checks: number; fail(error: Error): void }>();
  /** Number of slow operations. */
  let slow = 0;
  let cancelWatch: (() => void) | undefined;

  const adopt = (database: IDBDatabase): IDBDatabase => {
    connection = database;
    // iOS closes connections of pages that were long in the background, and a newer release in another
    // tab must not wait for us.
    database.onclose = database.onversionchange = () => forget(database);
    return database;
  };
  const forget = (database: IDBDatabase): void => {
    // Waits for the transactions that have begun.
    database.close();
    if (connection === database) connection = opening = undefined;
  };
  const tidy = (): void => {
    if (!closed) return;
    if (connection) forget(connection);
    if (pending.size > 0) return;
    cancelWatch?.();
    cancelWatch = undefined;
  };

  /** Looks at what has no answer yet; by itself it ends once there is nothing. */
  const watch = (): void => {
    cancelWatch ??= options.clock.after(checkMs, () => {
      cancelWatch = undefined;
      for (const work of pending) {
        work.checks += 1;
        if (work.checks === checksUntilSlow) setSlow(slow + 1);
        if (work.checks > timeoutMs / checkMs) work.fail(new Error('The database is silent.'));
      }
      if (pending.size > 0) watch();
    });
  };
  const setSlow = (count: number): void => {
    slow = count;
    options.onSlow?.(slow > 0);
  };

  const inTime = <T>(begun: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const settled = (): void => {
        if (pending.delete(work) && work.checks >= checksUntilSlow) setSlow(slow - 1);
      };
      const work = {
        checks: 0,
        fail(error: Error) {
          settled();
          reject(error);
        },
      };
      pending.add(work);
      watch();
      begun.finally(settled).then(resolve, reject);
    });

  const open = async (): Promise<IDBDatabase> => {
    const request = (options.indexedDB ?? indexedDB).open(options.name, 1);
    request.onupgradeneeded = () => {
      for (const [name, { autoIncrement }] of Object.entries(options.stores))
        request.result.createObjectStore(name, { autoIncrement });
    };
    return adopt(await promisifyRequest(request));
  };
  const failed = (error: unknown): never => {
    opening = undefined;
    throw error;
  };

  // A rejected `opening` stays until the browser answers, so that later writes do not wait again.
  const connect = async (): Promise<IDBDatabase> =>
    connection ?? (await (opening ??= inTime(open().catch(failed))));

  return {
    store: (name, durability = 'relaxed') => {
      return async (mode, callback) => {
        const begin = async (): Promise<IDBObjectStore> => {
          const database = connection ?? (await connect());
          try {
            return database.transaction(name, mode, { durability }).objectStore(name);
          } catch (error) {
            forget(database);
            throw error;
          }
        };
        // A connection can be dead without having said so; a new one is tried once.
        const store = await begin().catch(begin);
        try {
          return await inTime(Promise.resolve(callback(store)));
        } catch (error) {
          // The next one gets a connection that has not failed.
          forget(store.transaction.db);
          throw error;
        } finally {
          tidy();
        }
      };
    },
    open: () => connect().then(tidy),
    close() {
      closed = true;
      tidy();
    },
  };
}
