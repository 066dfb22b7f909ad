import { describe, expect, it } from 'vitest';
import { closeChangelog, nextVersion, readChangeset } from '../../../scripts/lib/changesets.mjs';

describe('a changeset', () => {
  it('says which packages change by how much, and why', () => {
    const source = `---\n'trueward': minor\n"create-trueward": patch\n---\n\nAds in a circle.\n`;
    expect(readChangeset(source, 'a.md')).toEqual({
      bumps: { trueward: 'minor', 'create-trueward': 'patch' },
      text: 'Ads in a circle.',
    });
  });

  it.each([
    ['no packages', 'Ads in a circle.'],
    ['no text', `---\n'trueward': minor\n---\n`],
    ['another bump', `---\n'trueward': huge\n---\n\nAds.`],
  ])('with %s is refused by the name of its file', (_what, source) => {
    expect(() => readChangeset(source, 'a.md')).toThrow('a.md');
  });
});

it.each([
  ['0.1.0', ['patch', 'minor'], '0.2.0'],
  ['0.1.4', ['patch'], '0.1.5'],
  ['1.2.3', ['minor', 'major', 'patch'], '2.0.0'],
  ['1.2.3', [], '1.2.3'],
] as const)('after %s, %j comes to %s', (version, wanted, next) => {
  expect(nextVersion(version, wanted)).toBe(next);
});

it('a release takes what was unreleased, under its version and date', () => {
  const closed = closeChangelog('# Changelog\n\n## Unreleased\n\n### Added\n\n- A line.\n', {
    version: '0.2.0',
    date: '2026-12-01',
    texts: ['The first release.'],
  });
  expect(closed).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 – 2026-12-01\n\nThe first release.\n\n### Added\n\n- A line.\n',
  );
});
