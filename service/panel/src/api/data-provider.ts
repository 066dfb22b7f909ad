import type { DataProvider, GetListParams, Identifier, RaRecord } from 'react-admin';
import type { Call } from './call.ts';
import { findChanges, omitEmpty } from './changes.ts';
import { createCursorPages, readAll, readFirst } from './cursors.ts';
import { listPath, getPath, streamPath } from './resources.ts';
import { selectPage } from './select-page.ts';

/** A record as the page shows it, with the `ETag` of that revision. */
export type Shown<T> = T & { etag?: string };

/** React-admin's data provider, plus `call` for all other requests. */
export interface PanelDataProvider extends DataProvider {
  call: Call;
}

interface NumberedPage {
  data: RaRecord[];
  total: number;
}

/** Maximum page size of the API's list endpoints. */
const maxIds = 100;

/** Creates the data provider for one environment. The environments share no data. */
export function createDataProvider(call: Call): PanelDataProvider {
  const cursorPages = createCursorPages(call);

  async function getList(resource: string, params: GetListParams & { signal?: AbortSignal }) {
    const { pagination: { page, perPage } = { page: 1, perPage: 25 }, filter = {}, sort } = params;
    const stream = streamPath(resource, filter as Record<string, string>);
    // An export asks for more than the service returns at once.
    if (stream !== undefined && perPage > maxIds)
      return { data: await readFirst<RaRecord>(call, stream, perPage), total: perPage };
    if (stream !== undefined) {
      const { data, has_more: hasNextPage } = await cursorPages.read<RaRecord>(
        stream,
        page,
        perPage,
      );
      const pageInfo = { hasNextPage, hasPreviousPage: page > 1 };
      // The total is known only on the last page.
      return hasNextPage ? { data, pageInfo } : { data, total: (page - 1) * perPage + data.length };
    }
    const path = listPath(resource, {
      filter: filter as Record<string, unknown>,
      sort,
      limit: perPage,
      offset: (page - 1) * perPage,
    });
    // An account has few keys and users, so the panel fetches all of them.
    if (path === undefined)
      return selectPage<RaRecord>(await readAll(call, getPath(resource)), params);
    return (await call<NumberedPage>(path, { signal: params.signal })).body;
  }
  async function getMany(resource: string, ids: readonly Identifier[]) {
    const batches = Array.from({ length: Math.ceil(ids.length / maxIds) }, (_value, index) =>
      ids.slice(index * maxIds, (index + 1) * maxIds),
    );
    const pages = await Promise.all(
      batches.map(async (batch) => {
        const path = listPath(resource, { ids: batch, limit: maxIds, offset: 0 });
        if (path !== undefined) return (await call<NumberedPage>(path)).body.data;
        const all = await readAll<RaRecord>(call, getPath(resource));
        return all.filter(({ id }) => batch.includes(id));
      }),
    );
    return pages.flat();
  }
  async function getOne(resource: string, id: Identifier) {
    const path = getPath(resource, id);
    const { body, etag } = await call<RaRecord>(path);
    return { data: { ...body, etag } };
  }

  const provider = {
    call,
    getList,
    getOne: (resource: string, { id }: { id: Identifier }) => getOne(resource, id),
    getMany: async (resource: string, { ids }: { ids: Identifier[] }) => ({
      data: await getMany(resource, ids),
    }),
    getManyReference: (
      resource: string,
      params: GetListParams & { target: string; id: Identifier },
    ) => getList(resource, { ...params, filter: { ...params.filter, [params.target]: params.id } }),
    async create(resource: string, { data }: { data: object }) {
      const { etag: _etag, ...fields } = data as Shown<Record<string, unknown>>;
      const body = omitEmpty(fields);
      return { data: (await call<RaRecord>(getPath(resource), { method: 'POST', body })).body };
    },
    async update(resource: string, { id, data, previousData }: ChangeParams) {
      const changes = findChanges(previousData, data);
      if (Object.keys(changes).length === 0) return { data: previousData };
      const options = { method: 'PATCH', body: changes, ifMatch: previousData.etag } as const;
      const { body, etag } = await call<RaRecord>(getPath(resource, id), options);
      return { data: { ...body, etag } };
    },
    async updateMany(resource: string, { ids, data }: { ids: Identifier[]; data: object }) {
      const options = { method: 'PATCH', body: data, ifMatch: '*' } as const;
      await changeAll(ids, (id) => call(getPath(resource, id), options));
      return { data: ids };
    },
    async deleteMany(resource: string, { ids }: { ids: Identifier[] }) {
      await changeAll(ids, (id) => call(getPath(resource, id), { method: 'DELETE', ifMatch: '*' }));
      return { data: ids };
    },
    async delete(resource: string, { id, previousData }: Omit<ChangeParams, 'data'>) {
      await call(getPath(resource, id), { method: 'DELETE', ifMatch: previousData.etag });
      return { data: previousData };
    },
  };
  // React-admin's methods are generic over a record type that cannot be checked at run time.
  return provider as unknown as PanelDataProvider;
}

/**
 * Changes several objects, one after the other. An object that can't be changed doesn't keep the others from being changed.
 *
 * @throws the first error, with the number of objects that could not be changed
 */
export async function changeAll(
  ids: readonly Identifier[],
  change: (id: Identifier) => Promise<unknown>,
): Promise<void> {
  const errors: Error[] = [];
  for (const id of ids) await change(id).catch((error: unknown) => errors.push(error as Error));
  const [first] = errors;
  if (!first) return;
  if (ids.length === 1) throw first;
  throw new Error(`${errors.length} of ${ids.length} could not be changed. ${first.message}`);
}

interface ChangeParams {
  id: Identifier;
  data: Record<string, unknown>;
  /** The record that the page shows. The service rejects the change if the object has been modified since. */
  previousData: Shown<Record<string, unknown>>;
}
