import { countryCodes } from '@trueward/protocol/countries';
import { expect, test } from 'vitest';
import { unfilledReason } from '../../../../protocol/schemas/decision.ts';
import { rewardReason } from '../../../../protocol/schemas/reward.ts';
import { findDifferences } from '../../../panel/src/activity/differences.ts';
import {
  categories,
  countries,
  getCategoryName,
  getCountryName,
  isCategoryId,
  isLanguage,
  languages,
} from '../../../panel/src/common/catalogs.ts';
import {
  formatDuration,
  formatElapsed,
  parseDuration,
} from '../../../panel/src/common/duration.ts';
import { formatFieldNumber, getFieldLabel } from '../../../panel/src/common/fields.ts';
import { describeAdReason, describeRewardReason } from '../../../panel/src/common/reasons.ts';
import { describePolicy } from '../../../panel/src/policy/describe-policy.ts';
import { normalizeCategory, normalizeLanguage } from '../../../src/platform/names.ts';

test.each([
  ['0', 0],
  ['500 ms', 500],
  ['30 s', 30_000],
  ['30s', 30_000],
  ['1.5 s', 1_500],
  ['90 seconds', 90_000],
  ['10 min', 600_000],
  ['1 h 30 min', 5_400_000],
  ['1 hour, 30 minutes', 5_400_000],
  [' 24 H ', 86_400_000],
  ['2 days', 172_800_000],
  ['1 week', 604_800_000],
  // The unit isn't clear.
  ['30', undefined],
  ['86400', undefined],
  ['1,000 ms', undefined],
  ['-5 s', undefined],
  ['5 parsecs', undefined],
  ['soon', undefined],
  ['', undefined],
  ['1e3 s', undefined],
])('reads “%s” as %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  [0, '0 s'],
  [500, '500 ms'],
  [1_500, '1.5 s'],
  [5_000, '5 s'],
  [90_000, '90 s'],
  [600_000, '10 min'],
  [5_400_000, '90 min'],
  [86_400_000, '24 h'],
  [604_800_000, '7 days'],
])('formats %s ms as “%s”, and reads it back', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  [12_340, '12.3 s'],
  [125_000, '2 min 5 s'],
  [3_600_000, '1 h'],
  [93_600_000, '1 day 2 h'],
  [187_200_000, '2 days 4 h'],
])('formats %s ms roughly as “%s”', (ms, text) => {
  expect(formatElapsed(ms)).toBe(text);
});

test.each([
  ['late_window_s', 86_400, undefined, 'late window', '24 h'],
  ['per_s', 600, 'frequency_cap', 'per', '10 min'],
  ['per_s', 50, 'rate_limit', 'per s', '50'],
  ['min_view_ms', 5_000, undefined, 'min view', '5 s'],
  ['cpm_micros', 2_500_000, undefined, 'cpm', '2.5'],
  ['weight', 86_400, undefined, 'weight', '86400'],
])('%s: %s has its unit in words', (name, value, group, label, text) => {
  expect(getFieldLabel(name, group)).toBe(label);
  expect(formatFieldNumber(name, value, group)).toBe(text);
});

test('the audit log compares nested fields one by one, with their units', () => {
  expect(
    findDifferences(
      { id: '1', cooldown_s: 0, frequency_cap: { max: 3, per_s: 600 }, placements: ['a'] },
      { id: '1', cooldown_s: 90, frequency_cap: { max: 3, per_s: 3_600 }, placements: ['a', 'b'] },
    ),
  ).toEqual([
    { name: 'cooldown', from: '0 s', to: '90 s' },
    { name: 'frequency cap per', from: '10 min', to: '1 h' },
    { name: 'placements', from: 'a', to: 'a, b' },
  ]);
});

test('countries, languages and categories have names, and the service accepts their ids', () => {
  expect(countries.map(({ id }) => id).toSorted()).toEqual(countryCodes.toSorted());
  for (const { id, name } of countries) expect(name, id).not.toBe(id);
  expect(getCountryName('DE')).toBe('Germany');
  for (const { id, name } of languages) {
    expect(name, id).not.toBe(id);
    expect(normalizeLanguage(id)).toBe(id);
  }
  for (const { id } of categories) expect(normalizeCategory(id)).toBe(id);
  expect(getCategoryName('IAB8')).toBe('Food & drink');
  expect(getCategoryName('IAB7-39')).toBe('Health & fitness (IAB7-39)');
  expect(getCategoryName('150')).toBe('150');
});

test.each([
  'food',
  'IAB7-39',
  'iab7',
  'IAB27',
  'IAB7-',
  'IAB07_039',
  'IAB0007',
  '150',
  'v9i3On',
  'JLBCU7',
  'a b',
  '',
])('the panel offers “%s” as a category only if the service accepts it', (text) => {
  expect(isCategoryId(text)).toBe(normalizeCategory(text) !== undefined);
});

test.each(['gl', 'pt-BR', 'xx', 'german', 'DE', '1', ''])(
  'the panel offers “%s” as a language only if the service accepts it',
  (text) => {
    expect(isLanguage(text)).toBe(normalizeLanguage(text) !== undefined);
  },
);

test('a policy’s sentence names countries, languages and categories', () => {
  expect(
    describePolicy({
      placements: ['revive'],
      when: { countries: ['DE', 'AT'], languages: ['pt-BR'] },
      block: { categories: ['IAB8', 'IAB7-39'] },
    }),
  ).toBe(
    'On revive, when the country is Germany or Austria and the language is Brazilian Portuguese: ' +
      'blocks ads in the category Food & drink or Health & fitness (IAB7-39).',
  );
});

test('each reason of the service is a sentence', () => {
  const codes = (schema: object) =>
    (schema as { enum?: string[]; anyOf?: { const: string }[] }).enum ??
    (schema as { anyOf: { const: string }[] }).anyOf.map((option) => option.const);
  for (const code of codes(unfilledReason))
    expect(describeAdReason(code).text, code).toMatch(/^[A-Z].*\.$/);
  for (const code of codes(rewardReason))
    expect(describeRewardReason(code).text, code).toMatch(/^[A-Z].*\.$/);
  expect(describeAdReason('policy: No films')).toMatchObject({
    name: 'Blocked by a policy',
    text: expect.stringMatching(/^No films\. A policy blocks it\./) as string,
  });
  expect(describeAdReason('brand_new')).toEqual({ name: 'brand new', text: '' });
});
