import { findSampleIds } from './sample-event.ts';

/** Returns all text in a stored value, whatever its structure. */
async function readText(value: unknown): Promise<string> {
  if (typeof value === 'string') return value;
  if (value instanceof ArrayBuffer) return new TextDecoder().decode(value);
  if (ArrayBuffer.isView(value)) return new TextDecoder().decode(value);
  if (value instanceof Blob) return value.text();
  if (typeof value !== 'object' || value === null) return '';
  const strings = await Promise.all(Object.values(value).map(readText));
  return strings.join(' ');
}

const waitForResult = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function readDatabase(name: string): Promise<string[]> {
  const database = await waitForResult(indexedDB.open(name));
  const strings: string[] = [];
  for (const store of database.objectStoreNames) {
    const values = await waitForResult<unknown[]>(
      database.transaction(store).objectStore(store).getAll(),
    );
    strings.push(await readText(values));
  }
  database.close();
  return strings;
}

/**
 * Returns the distinct event ids in this origin's storage. Reads every contender's storage in the same way, without using
 * the contender's own code.
 */
export async function storedEventIds(): Promise<string[]> {
  const strings = Object.values({ ...localStorage }) as string[];
  for (const { name } of await indexedDB.databases())
    if (name !== undefined) strings.push(...(await readDatabase(name)));
  return [...new Set(strings.flatMap(findSampleIds))];
}
