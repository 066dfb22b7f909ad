import type { DataProvider, GetListParams, Identifier, RaRecord } from 'react-admin';
import type { Call } from './call.ts';
import { changesOf, tidy } from './changes.ts';
import { createCursorPages, readAll } from './cursors.ts';
import { paths, streamPath } from './resources.ts';
import { selectPage } from './select-page.ts';

/** What react-admin reads and writes by, and `call` for everything that is more than that. */
export interface PanelDataProvider extends DataProvider {
  call: Call;
}

const pathOf = (resource: string, id?: Identifier): string => {
  const path = paths[resource];
  if (path === undefined) throw new Error(`There is no resource ${resource}.`);
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
};

/** Answers react-admin from `/v1`. One is made for each environment, so nothing is shared by them. */
export function createDataProvider(call: Call): PanelDataProvider {
  const cursorPages = createCursorPages(call);
  /** What each object was when it was read: a change meant for that is refused for anything newer. */
  const etags = new Map<string, string>();

  async function getList(resource: string, params: GetListParams) {
    const stream = streamPath(resource, params.filter as Record<string, string>);
    if (stream === undefined) {
      return selectPage<RaRecord>(await readAll(call, pathOf(resource)), params);
    }
    const { page, perPage } = params.pagination ?? { page: 1, perPage: 25 };
    const { data, has_more: hasNextPage } = await cursorPages.read<RaRecord>(stream, page, perPage);
    const pageInfo = { hasNextPage, hasPreviousPage: page > 1 };
    // How many there are is known on the last page only.
    return hasNextPage ? { data, pageInfo } : { data, total: (page - 1) * perPage + data.length };
  }
  async function getOne(resource: string, id: Identifier) {
    const path = pathOf(resource, id);
    const { body, etag } = await call<RaRecord>(path);
    if (etag !== undefined) etags.set(path, etag);
    return { data: body };
  }
  async function remove(resource: string, id: Identifier) {
    const path = pathOf(resource, id);
    await call(path, { method: 'DELETE' });
    etags.delete(path);
  }
  async function update(resource: string, id: Identifier, changes: object) {
    const path = pathOf(resource, id);
    const ifMatch = etags.get(path);
    const { body, etag } = await call<RaRecord>(path, { method: 'PATCH', body: changes, ifMatch });
    if (etag !== undefined) etags.set(path, etag);
    return { data: body };
  }

  const provider = {
    call,
    getList,
    getOne: (resource: string, { id }: { id: Identifier }) => getOne(resource, id),
    async getMany(resource: string, { ids }: { ids: Identifier[] }) {
      const all = await readAll<RaRecord>(call, pathOf(resource));
      return { data: all.filter(({ id }) => ids.includes(id)) };
    },
    getManyReference: (
      resource: string,
      params: GetListParams & { target: string; id: Identifier },
    ) => getList(resource, { ...params, filter: { ...params.filter, [params.target]: params.id } }),
    async create(resource: string, { data }: { data: object }) {
      const body = tidy(data as Record<string, unknown>);
      return { data: (await call<RaRecord>(pathOf(resource), { method: 'POST', body })).body };
    },
    async update(resource: string, { id, data, previousData }: ChangeParams) {
      const changes = changesOf(previousData, data);
      if (Object.keys(changes).length === 0) return { data: previousData };
      return update(resource, id, changes);
    },
    async updateMany(resource: string, { ids, data }: { ids: Identifier[]; data: object }) {
      for (const id of ids) await update(resource, id, data);
      return { data: ids };
    },
    async delete(
      resource: string,
      { id, previousData }: { id: Identifier; previousData?: object },
    ) {
      await remove(resource, id);
      return { data: previousData ?? { id } };
    },
    async deleteMany(resource: string, { ids }: { ids: Identifier[] }) {
      for (const id of ids) await remove(resource, id);
      return { data: ids };
    },
  };
  // The methods of react-admin are generic in a record type that nothing at run time could honour.
  return provider as unknown as PanelDataProvider;
}

interface ChangeParams {
  id: Identifier;
  data: Record<string, unknown>;
  previousData: Record<string, unknown>;
}
