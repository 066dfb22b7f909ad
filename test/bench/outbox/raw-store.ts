/** Opens a bare IndexedDB store with auto-increment keys. No queue based on IndexedDB can be faster. */
export const openRawStore = (name: string): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () =>
      request.result.createObjectStore('events', { autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Stores the values in one transaction that is committed immediately. Resolves when they are stored. */
export const putAll = (database: IDBDatabase, events: string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const transaction = database.transaction('events', 'readwrite', { durability: 'relaxed' });
    const store = transaction.objectStore('events');
    for (const event of events) store.put(event);
    transaction.commit();
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });

/** The `limit` contenders send nothing. Their flush only clears the store. */
export const clear = (database: IDBDatabase): Promise<void> =>
  new Promise((resolve) => {
    const transaction = database.transaction('events', 'readwrite');
    transaction.objectStore('events').clear();
    transaction.oncomplete = () => resolve();
  });
