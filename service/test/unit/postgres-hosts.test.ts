import { expect, test } from 'vitest';
import { listHostUrls } from '../../src/platform/list-host-urls.ts';
import { createHosts } from '../../src/store/postgres-hosts.ts';

test('a URL with several hosts becomes one URL per host', () => {
  expect(listHostUrls('postgres://user:p%2C@one:5432,two/db?ssl=true')).toEqual([
    'postgres://user:p%2C@one:5432/db?ssl=true',
    'postgres://user:p%2C@two/db?ssl=true',
  ]);
  expect(listHostUrls('postgres:///db')).toEqual(['postgres:///db']);
  for (const text of ['https://one/db', 'postgres://one:x,two/db', 'one,two', ''])
    expect(listHostUrls(text)).toEqual([]);
});

test('the first host is chosen at random', () => {
  const text = 'postgres://one,two,three/db';
  const first = [0, 0.4, 0.9].map((random) => new (createHosts(text, () => random).Client)().host);
  expect(first).toEqual(['one', 'two', 'three']);
});
