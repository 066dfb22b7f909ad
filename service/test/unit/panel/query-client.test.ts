import { expect, test } from 'vitest';
import { createQueryClient } from '../../../panel/src/api/query-client.ts';

/** Changes a key as React-admin does. Returns which data is read again. */
async function change(mutationKey: string[] | undefined, isRefused = false): Promise<string[]> {
  const client = createQueryClient(false);
  const queries = [
    ['keys', 'getList'],
    ['keys', 'getOne'],
    ['users', 'getList'],
  ];
  for (const queryKey of queries) client.setQueryData(queryKey, { rate_limit: 5 });
  const mutation = client.getMutationCache().build(client, {
    ...(mutationKey && { mutationKey }),
    mutationFn: () => (isRefused ? Promise.reject(new Error('refused')) : Promise.resolve({})),
    // React-admin keeps what the response doesn't have.
    onSuccess: () => void client.setQueryData(['keys', 'getList'], { rate_limit: 5 }),
  });
  await mutation.execute(undefined).catch(() => undefined);
  return queries
    .filter((queryKey) => client.getQueryState(queryKey)?.isInvalidated)
    .map((queryKey) => queryKey.join(' '));
}

test('a resource is read again after a change, and nothing else is', async () => {
  expect(await change(['keys', 'update'])).toEqual(['keys getList', 'keys getOne']);
  expect(await change(['keys', 'update'], true)).toEqual([]);
  // An action, which says itself what it has changed.
  expect(await change(undefined)).toEqual([]);
});
