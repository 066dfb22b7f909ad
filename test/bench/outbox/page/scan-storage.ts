import { sampleIds } from './sample-event.ts';

/** Returns all text in a stored value, however it is wrapped. */
async function textIn(value: unknown): Promise<string> {
  if (typeof value === 'string') return value;
  if (value instanceof ArrayBuffer) return new TextDecoder().decode(value);
  if (ArrayBuffer.isView(value)) return new TextDecoder().decode(value);
  if (value instanceof Blob) return value.text();
  if (typeof value !== 'object' || value === null) return '';
  const texts = await Promise.all(Object.values(value).map(textIn));
  return texts.join(' ');
}

const result = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function textsInDatabase(name: string): Promise<string[]> {
  const database = await result(indexedDB.open(name));
  const texts: string[] = [];
  for (const store of database.objectStoreNames) {
    const values = await result<unknown[]>(database.transaction(store).objectStore(store).getAll());
    texts.push(await textIn(values));
  }
  database.close();
  return texts;
}

/**
 * The distinct ids of the events in this origin's storage. All contestants are scanned in the same way, without their
 * own code, so that none can miscount.
 */
export async function storedEventIds(): Promise<string[]> {
  const texts = Object.values({ ...localStorage }) as string[];
  for (const { name } of await indexedDB.databases())
    if (name !== undefined) texts.push(...(await textsInDatabase(name)));
  return [...new Set(texts.flatMap(sampleIds))];
}
