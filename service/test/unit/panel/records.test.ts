import { expect, test } from 'vitest';
import { findChanges, omitEmpty } from '../../../panel/src/api/changes.ts';
import { createCursorPages, readAll } from '../../../panel/src/api/cursors.ts';
import type { ApiResponse, Call } from '../../../panel/src/api/call.ts';
import { changeAll } from '../../../panel/src/api/data-provider.ts';
import { writeAuditCsv } from '../../../panel/src/activity/audit-csv.ts';
import { selectPage } from '../../../panel/src/api/select-page.ts';

test('an update contains only changed fields, with null for cleared ones', () => {
  const original = {
    id: 'plc_1',
    updated_at: '2026-01-01T00:00:00.000Z',
    name: 'revive',
    cooldown_s: 0,
    frequency_cap: { max: 3, per_s: 60 },
    categories: ['1', '2'],
  };
  expect(findChanges(original, { ...original, categories: ['1', '2'] })).toEqual({});
  expect(
    findChanges(original, {
      ...original,
      updated_at: 'later',
      cooldown_s: 5,
      frequency_cap: { max: null, per_s: '' },
      categories: [],
    }),
  ).toEqual({ cooldown_s: 5, frequency_cap: null, categories: [] });
});

test('omitEmpty removes empty fields but keeps empty lists and objects', () => {
  expect(
    omitEmpty({ a: '', b: null, c: { d: null }, when: {}, list: [], off: false, zero: 0 }),
  ).toEqual({
    when: {},
    list: [],
    off: false,
    zero: 0,
  });
});

const records = [
  { id: '1', name: 'Meadow', review: { status: 'approved' }, weight: 10 },
  { id: '2', name: 'Harbour', review: { status: 'rejected' }, weight: 9 },
  { id: '3', name: 'Lantern', review: { status: 'approved' }, weight: 100 },
];
const selectNames = (params: Parameters<typeof selectPage>[1]) => {
  const { data, total } = selectPage(records, params);
  return [data.map(({ name }) => name as string), total];
};

test('a list can be searched, filtered, sorted and paginated', () => {
  const sort = { field: 'weight', order: 'DESC' } as const;
  expect(selectNames({ sort })).toEqual([['Lantern', 'Meadow', 'Harbour'], 3]);
  expect(selectNames({ sort, filter: { 'review.status': 'approved' } })).toEqual([
    ['Lantern', 'Meadow'],
    2,
  ]);
  expect(selectNames({ filter: { q: 'HARB' } })).toEqual([['Harbour'], 1]);
  expect(selectNames({ sort, pagination: { page: 2, perPage: 2 } })).toEqual([['Harbour'], 3]);
});

/** Simulates a paginated list of records, newest first. */
function createList(count: number): { call: Call; paths: string[] } {
  const paths: string[] = [];
  const call: Call = async <T>(path: string) => {
    paths.push(path);
    const { searchParams } = new URL(path, 'http://service.test');
    const limit = Number(searchParams.get('limit'));
    const start = Number(searchParams.get('starting_after') ?? 0);
    const end = Math.min(count, start + limit);
    const data = Array.from({ length: end - start }, (_value, index) => start + index + 1);
    const body = {
      data,
      has_more: end < count,
      ...(end < count ? { next_cursor: String(end) } : {}),
    };
    return { body, etag: undefined } as ApiResponse<T>;
  };
  return { call, paths: paths };
}

test('returning to an earlier page of a cursor-paginated list sends a single request', async () => {
  const { call, paths } = createList(10);
  const pages = createCursorPages(call);
  expect((await pages.read('/list', 3, 3)).data).toEqual([7, 8, 9]);
  expect(paths).toHaveLength(3);
  expect((await pages.read('/list', 2, 3)).data).toEqual([4, 5, 6]);
  expect(paths).toHaveLength(4);
  expect(await pages.read('/list', 4, 3)).toMatchObject({ data: [10], has_more: false });
});

test('readAll follows the cursors to the end of a list', async () => {
  expect(await readAll<number>(createList(250).call, '/list')).toHaveLength(250);
});

test('changing several objects goes on after an error, and says how many failed', async () => {
  const changed: unknown[] = [];
  const change = (id: unknown) => {
    if (id === 2) return Promise.reject(new Error('It is in use.'));
    changed.push(id);
    return Promise.resolve();
  };
  await expect(changeAll([1, 2, 3], change)).rejects.toThrow(
    '1 of 3 could not be changed. It is in use.',
  );
  expect(changed).toEqual([1, 3]);
  await expect(changeAll([2], change)).rejects.toThrow(/^It is in use\.$/);
  await changeAll([4], change);
});

test('the audit log as CSV has a row for each changed field, and no formulas', () => {
  const entry = {
    id: 'aud_1',
    environment: 'live',
    created_at: '2026-01-02T03:04:05.000Z',
    actor: 'ada@example.com',
    action: 'placement.updated',
    target_id: 'plc_1',
    before: { name: '=1+1', cooldown_s: 0, limits: 'a' },
    after: { name: '=1+1', cooldown_s: 90, limits: 'say "b"' },
  } as const;
  expect(writeAuditCsv([entry]).split('\r\n')).toEqual([
    'time,actor,action,name,object_id,field,before,after',
    "2026-01-02T03:04:05.000Z,ada@example.com,placement.updated,'=1+1,plc_1,cooldown,0 s,90 s",
    `2026-01-02T03:04:05.000Z,ada@example.com,placement.updated,'=1+1,plc_1,limits,a,"say ""b"""`,
  ]);
});
