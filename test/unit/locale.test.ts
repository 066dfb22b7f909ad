import { expect, it } from 'vitest';
import { checkOptions } from '../../src/options.ts';
import { createPublishableKey } from '../support/stub-service.ts';

it.each([
  ['de_AT', 'de-AT'],
  ['de_AT.UTF-8', 'de-AT'],
  ['en-US@posix', 'en-US'],
  ['zh_Hant_TW', 'zh-Hant-TW'],
  ['pt-BR', 'pt-BR'],
  ['C', 'en'],
  ['C.UTF-8', 'en'],
  ['', 'en'],
  ['-', 'en'],
  ['not a language', 'en'],
  ['x'.repeat(1_000), 'en'],
])('turns the locale %j into %j', (locale, expected) => {
  const options = { publishableKey: createPublishableKey(), serviceUrl: 'https://play.test' };
  expect(checkOptions({ ...options, locale }).locale).toBe(expected);
});
