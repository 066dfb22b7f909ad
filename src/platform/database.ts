import { promisifyRequest, type UseStore } from 'idb-keyval';
import type { Clock } from './clock.ts';
import { toList } from './guard.ts';

/** An IndexedDB database. It is opened on first use, and reopened if the browser has closed it. */
export interface Database {
  /** Returns an accessor for one object store. idb-keyval's functions accept it as their `customStore`. */
  store(name: string, durability?: IDBTransactionDurability): UseStore;
  /** Closes the connection. A later operation opens a new connection and closes it when done. */
  close(): void;
}

export interface DatabaseOptions {
  name: string;
  /** The object stores. With `autoIncrement`, a store generates increasing keys. */
  stores: Record<string, { autoIncrement: boolean }>;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
  /** Called every half second while an operation takes longer than that. */
  onSlow?(): void;
}

/**
 * Timeout for an operation, in milliseconds. Some browsers never respond to an open request
 * (https://bugs.webkit.org/show_bug.cgi?id=226547).
 */
const operationTimeoutMs = 5_000;
/**
 * How often to check the pending operations, in milliseconds. A single timer checks all of them, because a timer per
 * write would account for a tenth of the cost per event.
 */
const checkIntervalMs = 500;

/** Resolves when the transaction is committed. Rejects with the cause if it is aborted. */
export const waitForCommit = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('The database aborted.'));
  });

/**
 * Creates a {@link Database} without opening it. This replaces idb-keyval's `createStore()`, which doesn't support
 * timeouts, durability, key generators or `close()`. Its connection would also block a newer release in another tab
 * from upgrading the database.
 */
export function createDatabase(options: DatabaseOptions): Database {
  let connection: IDBDatabase | undefined;
  let opening: Promise<IDBDatabase> | undefined;
  let closed = false;
  const pending = new Set<{ checks: number; fail(): void }>();
  let cancelCheck: (() => void) | undefined;

  const discardConnection = (database: IDBDatabase): void => {
    // `close()` lets running transactions finish.
    database.close();
    if (connection === database) connection = opening = undefined;
  };
  const closeIfIdle = (): void => {
    if (!closed) return;
    if (connection) discardConnection(connection);
    if (pending.size > 0) return;
    cancelCheck?.();
    cancelCheck = undefined;
  };

  /** Checks the pending operations until there are none. */
  const scheduleCheck = (): void => {
    cancelCheck ??= options.clock.after(checkIntervalMs, () => {
      cancelCheck = undefined;
      for (const operation of pending) {
        operation.checks += 1;
        if (operation.checks > operationTimeoutMs / checkIntervalMs) operation.fail();
      }
      // An operation is slow at its second check, after 500 to 1,000 ms.
      if (toList(pending).some(({ checks }) => checks > 1)) options.onSlow?.();
      if (pending.size > 0) scheduleCheck();
    });
  };
  const withTimeout = <T>(result: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const operation = {
        checks: 0,
        fail() {
          pending.delete(operation);
          reject(new Error('The database is not responding.'));
        },
      };
      pending.add(operation);
      scheduleCheck();
      result.finally(() => pending.delete(operation)).then(resolve, reject);
    });

  const open = async (): Promise<IDBDatabase> => {
    const request = (options.indexedDB ?? indexedDB).open(options.name, 1);
    request.onupgradeneeded = () => {
      for (const [name, { autoIncrement }] of Object.entries(options.stores))
        request.result.createObjectStore(name, { autoIncrement });
    };
    const database = (connection = await promisifyRequest(request));
    // iOS closes a page's connections after the page has been in the background for a long time. On a version change, a
    // newer release in another tab is waiting for this connection to close.
    database.onclose = database.onversionchange = () => discardConnection(database);
    return database;
  };
  const connect = async (): Promise<IDBDatabase> => {
    // After a timeout, `opening` stays rejected until the browser responds, so that later writes fail immediately
    // instead of also timing out.
    opening ??= withTimeout(
      open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      }),
    );
    return connection ?? opening;
  };

  return {
    store: (name, durability = 'relaxed') => {
      return async (mode, callback) => {
        const openStore = async (): Promise<IDBObjectStore> => {
          const database = await connect();
          try {
            return database.transaction(name, mode, { durability }).objectStore(name);
          } catch (error) {
            discardConnection(database);
            throw error;
          }
        };
        // A dead connection may not have emitted a `close` event, so retry once with a new connection.
        const store = await openStore().catch(openStore);
        try {
          return await withTimeout(
            // If a request fails, idb-keyval rejects with null. The cause is in the aborted transaction.
            Promise.resolve(callback(store)).catch(async (error: unknown) => {
              if (error === null) await waitForCommit(store.transaction);
              throw error;
            }),
          );
        } catch (error) {
          // The next operation opens a new connection.
          discardConnection(store.transaction.db);
          throw error;
        } finally {
          closeIfIdle();
        }
      };
    },
    close() {
      closed = true;
      closeIfIdle();
    },
  };
}
