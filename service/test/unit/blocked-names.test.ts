import { expect, test } from 'vitest';
import { findBlockedNames } from '../../src/program/cli/blocked-names.ts';

test.each<[string, string[]]>([
  ['https://ads.studio.example', ['ads']],
  ['https://eu.ads2.studio.example', ['ads2']],
  ['https://adserver.studio.example', ['adserver']],
  ['https://ad-server-1.studio.example', ['ad-server-1']],
  ['https://studio.example/ads', ['ads']],
  ['https://studio.example/advertising/v1', ['advertising']],
  ['https://play.studio.example', []],
  ['https://uploads.roads.example/adsorption', []],
  ['http://127.0.0.1:8787', []],
  ['not a URL', []],
])('%s has the blocked parts %j', (url, names) => {
  expect(findBlockedNames(url)).toEqual(names);
});
