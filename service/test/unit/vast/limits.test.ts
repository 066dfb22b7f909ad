import { expect, test } from 'vitest';
import { parseWebUrl } from '../../../src/demand/web-url.ts';
import {
  createUrl,
  inline,
  readAd,
  resolve,
  type Resolution,
  rules,
  tags,
  tracking,
  vast,
  wrapper,
} from './fixtures.ts';

const element = (content: string): string => `<VAST>${content}</VAST>`;
const resolveOne = (document: string) => resolve({ start: document });
const longest = 262_144;
const resolveChain = (length: number): Promise<Resolution> => {
  const start = vast(wrapper(createUrl('b')));
  const [b, c] = [vast(wrapper(createUrl('c'))), vast(inline())];
  return resolve({
    start: start.padEnd(longest),
    b: b.padEnd(length - longest - c.length),
    c,
  });
};
const seconds = (ms: number): string =>
  `00:0${Math.floor(ms / 60_000)}:${((ms % 60_000) / 1_000).toFixed(3).padStart(6, '0')}`;

test.each<[string, limit: number, (size: number) => Promise<Resolution>, refusal: string]>([
  [
    'characters in a document',
    longest,
    (size) => resolveOne(element(' '.repeat(size - 13))),
    'characters; expected at most',
  ],
  ['characters in a chain of documents', 524_288, resolveChain, 'characters in total'],
  [
    'characters in a URL',
    16_384,
    (size) => resolve({}, {}, { tagUrl: createUrl('').padEnd(size, 'a') }),
    'macros expanded; expected at most',
  ],
  ['nodes', 5_000, (size) => resolveOne(element('<a/>'.repeat(size - 1))), 'more than 5000 nodes'],
  [
    'levels',
    32,
    (size) => resolveOne(element('<a>'.repeat(size - 1) + '</a>'.repeat(size - 1))),
    'more than 32 levels',
  ],
  [
    'bare ampersands',
    2_000,
    (size) => resolveOne(element('&'.repeat(size))),
    'more than 2000 bare ampersands',
  ],
  [
    'trackers',
    300,
    (size) =>
      resolveOne(
        vast(
          inline({
            body: tags('Impression', ...Array(size).fill(createUrl('a'))),
            // These are not requested, so they don't count.
            tracking: [
              tracking('acceptInvitation', createUrl('a')),
              tracking('progress', createUrl('a')),
              tracking('start', 'javascript:a'),
            ].join(''),
          }),
        ),
      ),
    'trackers; expected at most 300',
  ],
  [
    'milliseconds',
    rules.maxDurationMs,
    (size) => resolveOne(vast(inline({ duration: seconds(size) }))),
    'ms; expected 5000 to 120000 ms',
  ],
  [
    'milliseconds less than that',
    0,
    (size) => resolveOne(vast(inline({ duration: seconds(rules.minDurationMs - size) }))),
    'ms; expected 5000 to 120000 ms',
  ],
])(
  'a document may have as many %s as the limit of %i, and none more',
  async (_, limit, read, refusal) => {
    const readReason = async (size: number) => (await read(size)).result.noAd?.reason ?? '';
    expect(await readReason(limit)).not.toContain(refusal);
    expect(await readReason(limit + 1)).toContain(refusal);
  },
);

test.each([
  ['bitrate', rules.media.maxBitrate, (bitrate: number) => `bitrate="${bitrate}"`],
  ['size', rules.media.maxBytes, (bytes: number) => `fileSize="${bytes}"`],
])('a file at the limit of its %s is preferred to a smaller one', async (_, limit, describe) => {
  const file = (attributes: string, name: string) =>
    `<MediaFile type="video/mp4" delivery="progressive" ${attributes}>${createUrl(name)}</MediaFile>`;
  const choose = async (size: number) => {
    const best = file(`width="1280" height="720" ${describe(size)}`, 'best');
    const small = file('width="320" height="180" bitrate="100"', 'small');
    return (await readAd(inline({ media: best + small }))).media.url;
  };
  expect(await choose(limit)).toBe(createUrl('best'));
  expect(await choose(limit + 1)).toBe(createUrl('small'));
});

test('a URL may be 8,192 characters long, as it is written and as it is read', () => {
  const url = 'https://a.example/'.padEnd(8_192, 'b');
  expect(parseWebUrl(url)).toBe(url);
  expect(parseWebUrl(`${url}b`)).toBeUndefined();
  // One that gets shorter, and one that gets longer.
  expect(parseWebUrl(`https://a.example/./${'b'.repeat(8_174)}`)).toBeUndefined();
  expect(parseWebUrl(`https://a.example/${'b'.repeat(8_172)} `.concat('b'))).toBeUndefined();
});
