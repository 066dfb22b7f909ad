import { deflateSync } from 'node:zlib';

/** A file that a hostile operator or source could send, and what is wrong with it. */
export interface HostileFile {
  name: string;
  bytes: Buffer;
}

const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
};
const u16 = (value: number): Buffer => Buffer.from([(value >> 8) & 255, value & 255]);
const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const repeat = (bytes: Buffer, times: number): Buffer => Buffer.alloc(bytes.length * times, bytes);

/** An ISO base media box. `size` overrides the size that the box claims. */
function box(type: string, content: readonly Buffer[] = [], size?: number): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(size ?? body.length + 8), text(type), body]);
}
const ftyp = box('ftyp', [text('isom'), u32(512), text('isomiso2avc1mp41')]);
const mdat = box('mdat', [Buffer.alloc(64)]);

const matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
const avcC = box('avcC', [
  Buffer.from([1, 0x42, 0xc0, 0x1e, 0xff, 0xe1, 0, 4, 0x67, 0x42, 0xc0, 0x1e, 1, 0, 2, 0x68, 0xce]),
]);
const avc1 = box('avc1', [
  Buffer.alloc(6),
  u16(1),
  Buffer.alloc(16),
  u16(320),
  u16(180),
  u32(0x480000, 0x480000, 0),
  u16(1),
  Buffer.alloc(32),
  u16(24),
  u16(0xffff),
  avcC,
]);

type Tables = Partial<Record<'stts' | 'stsc' | 'stsz' | 'stco' | 'co64' | 'ctts' | 'stss', Buffer>>;

/** A video whose sample tables are replaced. */
function mp4(tables: Tables, { duration = 2_000, extra = [] as Buffer[] } = {}): Buffer {
  const table = (type: keyof Tables, fallback: Buffer): Buffer =>
    box(type, [tables[type] ?? fallback]);
  const optional = (['co64', 'ctts', 'stss'] as const).flatMap((type) =>
    tables[type] ? [box(type, [tables[type]])] : [],
  );
  const stbl = box('stbl', [
    box('stsd', [u32(0, 1), avc1]),
    table('stts', u32(0, 1, 1, duration)),
    table('stsc', u32(0, 1, 1, 1, 1)),
    table('stsz', u32(0, 64, 1)),
    ...(tables.co64 ? [] : [table('stco', u32(0, 1, 48))]),
    ...optional,
  ]);
  const hdlr = box('hdlr', [u32(0, 0), text('vide'), Buffer.alloc(13)]);
  const minf = box('minf', [box('vmhd', [Buffer.alloc(12)]), stbl]);
  const mdhd = box('mdhd', [u32(0, 0, 0, 1_000, duration, 0x55c40000)]);
  const mdia = box('mdia', [mdhd, hdlr, minf]);
  const tkhd = box('tkhd', [
    u32(7, 0, 0, 1, 0, duration, 0, 0, 0, 0),
    matrix,
    u32(320 << 16, 180 << 16),
  ]);
  const mvhd = box('mvhd', [
    u32(0, 0, 0, 1_000, duration, 0x10000, 0x1000000, 0, 0),
    matrix,
    Buffer.alloc(24),
    u32(2),
  ]);
  return Buffer.concat([ftyp, mdat, box('moov', [mvhd, box('trak', [tkhd, mdia]), ...extra])]);
}

const huge = 200_000_000;
const nest = (type: string, depth: number): Buffer => {
  let inner: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level += 1) inner = box(type, [inner]);
  return inner;
};

const movies = (): [string, Buffer][] => [
  [
    'mp4 whose stts claims one entry with 200 million samples',
    mp4({ stts: u32(0, 1, huge, 1), stsz: u32(0, 1, huge) }),
  ],
  ['mp4 whose stts claims 200 million entries', mp4({ stts: u32(0, huge, 1, 1) })],
  ['mp4 whose stsz claims 200 million samples of one size', mp4({ stsz: u32(0, 1, huge) })],
  ['mp4 whose stsz claims 200 million sizes', mp4({ stsz: u32(0, 0, huge, 1) })],
  ['mp4 whose stsc claims 200 million entries', mp4({ stsc: u32(0, huge, 1, 1, 1) })],
  [
    'mp4 whose stsc claims 4 billion samples in a chunk',
    mp4({ stsc: u32(0, 1, 1, 0xffffffff, 1) }),
  ],
  ['mp4 whose stco claims 200 million chunks', mp4({ stco: u32(0, huge, 48) })],
  ['mp4 whose co64 claims 200 million chunks', mp4({ co64: u32(0, huge, 0, 48) })],
  ['mp4 whose ctts claims 200 million entries', mp4({ ctts: u32(0, huge, 1, 1) })],
  ['mp4 whose ctts repeats one entry 4 billion times', mp4({ ctts: u32(0, 1, 0xffffffff, 1) })],
  ['mp4 whose stss claims 200 million entries', mp4({ stss: u32(0, huge, 1) })],
  ['mp4 whose chunks lie far beyond the file', mp4({ stco: u32(0, 1, 0xfffffff0) })],
  ['mp4 with the longest duration', mp4({}, { duration: 0xffffffff })],
  ['mp4 with a duration of 0', mp4({}, { duration: 0 })],
  [
    'mp4 with two million real stts entries',
    mp4({
      stts: Buffer.concat([u32(0, 2_000_000), repeat(u32(1, 1), 2_000_000)]),
      stsz: u32(0, 1, 2_000_000),
    }),
  ],
  [
    'mp4 with 2.4 million empty boxes',
    Buffer.concat([ftyp, mdat, repeat(box('free'), 2_400_000), box('moov')]),
  ],
  [
    'mp4 with a moov of two million empty boxes',
    Buffer.concat([ftyp, mdat, box('moov', [repeat(box('free'), 2_000_000)])]),
  ],
  [
    'mp4 with 100,000 tracks',
    Buffer.concat([ftyp, mdat, box('moov', [repeat(box('trak'), 100_000)])]),
  ],
  [
    'mp4 with boxes nested 2,000 levels deep',
    Buffer.concat([ftyp, mdat, box('moov', [nest('trak', 2_000)])]),
  ],
  [
    'mp4 whose moov claims more than the file',
    Buffer.concat([ftyp, mdat, box('moov', [], 0x7fffffff)]),
  ],
  [
    'mp4 whose box has the size 0 in the middle',
    Buffer.concat([ftyp, box('mdat', [], 0), box('moov')]),
  ],
  [
    'mp4 whose box has a 64-bit size of 2^63',
    Buffer.concat([ftyp, u32(1), text('mdat'), u32(0x80000000, 0), box('moov')]),
  ],
  ['mp4 without a track', Buffer.concat([ftyp, mdat, box('moov')])],
  [
    'fragmented mp4 whose trun claims 200 million samples',
    Buffer.concat([
      mp4(
        { stts: u32(0, 0), stsz: u32(0, 0, 0), stsc: u32(0, 0), stco: u32(0, 0) },
        { extra: [box('mvex', [box('trex', [u32(0, 1, 1, 1, 1, 0)])])] },
      ),
      box('moof', [
        box('mfhd', [u32(0, 1)]),
        box('traf', [box('tfhd', [u32(0x20000, 1)]), box('trun', [u32(1, huge, 0)])]),
      ]),
    ]),
  ],
  [
    'fragmented mp4 with 100,000 fragments',
    Buffer.concat([
      mp4(
        { stts: u32(0, 0), stsz: u32(0, 0, 0), stsc: u32(0, 0), stco: u32(0, 0) },
        { extra: [box('mvex', [box('trex', [u32(0, 1, 1, 1, 1, 0)])])] },
      ),
      repeat(
        box('moof', [
          box('mfhd', [u32(0, 1)]),
          box('traf', [box('tfhd', [u32(0x20000, 1)]), box('trun', [u32(0, 1)])]),
        ]),
        100_000,
      ),
    ]),
  ],
  [
    'fragmented mp4 whose sidx claims 65,535 references',
    Buffer.concat([
      ftyp,
      box('sidx', [u32(0, 1, 1_000, 0, 0), u16(0), u16(65_535)]),
      mdat,
      box('moov'),
    ]),
  ],
  [
    'avif whose iloc claims 65,535 items',
    Buffer.concat([
      box('ftyp', [text('avif'), u32(0), text('avifmif1')]),
      box('meta', [u32(0), box('iloc', [u32(0), u16(0x4440), u16(65_535)])]),
      mdat,
    ]),
  ],
  [
    'avif with nested ipco boxes',
    Buffer.concat([
      box('ftyp', [text('avif'), u32(0), text('avifmif1')]),
      box('meta', [u32(0), nest('ipco', 5_000)]),
      mdat,
    ]),
  ],
];

/** An EBML element. `size` overrides the size that the element claims. */
function ebml(id: string, content: Buffer, size = content.length): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(size) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), length, content]);
}
const ebmlHeader = ebml(
  '1a45dfa3',
  Buffer.concat([ebml('4282', text('webm')), ebml('4287', Buffer.from([4]))]),
);
const info = ebml('1549a966', ebml('2ad7b1', Buffer.from([15, 66, 64])));
const track = ebml(
  'ae',
  Buffer.concat([
    ebml('d7', Buffer.from([1])),
    ebml('83', Buffer.from([1])),
    ebml('86', text('V_VP9')),
    ebml('e0', Buffer.concat([ebml('b0', u16(320)), ebml('ba', u16(180))])),
  ]),
);
const webm = (...parts: Buffer[]): Buffer =>
  Buffer.concat([ebmlHeader, ebml('18538067', Buffer.concat([info, ...parts]))]);
const cue = ebml(
  'bb',
  Buffer.concat([
    ebml('b3', Buffer.from([1])),
    ebml('b7', Buffer.concat([ebml('f7', Buffer.from([1])), ebml('f1', Buffer.from([1]))])),
  ]),
);
const block = ebml('a3', Buffer.from([0x81, 0, 0, 0x80, 0]));

const webms = (): [string, Buffer][] => [
  ['webm with 200,000 cues', webm(ebml('1654ae6b', track), ebml('1c53bb6b', repeat(cue, 200_000)))],
  [
    'webm with 200,000 empty clusters',
    webm(ebml('1654ae6b', track), repeat(ebml('1f43b675', Buffer.alloc(0)), 200_000)),
  ],
  [
    'webm with a cluster of a million blocks',
    webm(
      ebml('1654ae6b', track),
      ebml('1f43b675', Buffer.concat([ebml('e7', Buffer.from([0])), repeat(block, 1_000_000)])),
    ),
  ],
  ['webm with 100,000 tracks', webm(ebml('1654ae6b', repeat(track, 100_000)))],
  [
    'webm whose cluster claims 2^55 bytes',
    webm(ebml('1654ae6b', track), ebml('1f43b675', Buffer.alloc(4), 2 ** 50)),
  ],
  ['webm with void elements only', webm(repeat(ebml('ec', Buffer.alloc(0)), 1_500_000))],
  [
    'webm with tags nested 5,000 levels deep',
    webm(
      ebml('1654ae6b', track),
      Array.from({ length: 5_000 }).reduce<Buffer>(
        (inner) => ebml('1254c367', inner),
        Buffer.alloc(0),
      ),
    ),
  ],
];

const crcless = (type: string, content: Buffer): Buffer =>
  Buffer.concat([u32(content.length), text(type), content, u32(0)]);
const pngStart = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
  crcless('IHDR', Buffer.concat([u32(1, 1), Buffer.from([8, 6, 0, 0, 0])])),
]);
const png = (...chunks: Buffer[]): Buffer =>
  Buffer.concat([pngStart, ...chunks, crcless('IEND', Buffer.alloc(0))]);
const jpegEnd = Buffer.from([0xff, 0xd9]);
const segment = (marker: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), u16(content.length + 2), content]);
const gifStart = Buffer.concat([text('GIF89a'), Buffer.from([1, 0, 1, 0, 0, 0, 0])]);
const riff = (...chunks: Buffer[]): Buffer => {
  const body = Buffer.concat([text('WEBP'), ...chunks]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([text('RIFF'), size, body]);
};

const images = (): [string, Buffer][] => [
  ['png with 1.5 million empty chunks', png(repeat(crcless('tEXt', Buffer.alloc(0)), 1_500_000))],
  [
    'png of 2^31 pixels',
    Buffer.concat([
      pngStart.subarray(0, 16),
      u32(0x7fffffff, 0x7fffffff),
      Buffer.from([8, 6, 0, 0, 0]),
      u32(0),
      crcless('IEND', Buffer.alloc(0)),
    ]),
  ],
  [
    'png whose chunk claims 4 GB',
    Buffer.concat([pngStart, u32(0xffffffff), text('IDAT'), text('IEND')]),
  ],
  ['png with a decompression bomb', png(crcless('IDAT', deflateSync(Buffer.alloc(8_000_000))))],
  [
    'png with 100,000 animation frames',
    png(crcless('acTL', u32(0xffffffff, 0)), repeat(crcless('fcTL', Buffer.alloc(26)), 100_000)),
  ],
  [
    'jpeg with 4.9 million segments',
    Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      repeat(segment(0xe0, Buffer.alloc(0)), 4_900_000),
      jpegEnd,
    ]),
  ],
  [
    'jpeg with only fill bytes',
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(8_000_000, 0xff), jpegEnd]),
  ],
  [
    'jpeg whose exif points to itself',
    Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      segment(
        0xe1,
        Buffer.concat([
          text('Exif\0\0MM\0*'),
          u32(8),
          u16(65_535),
          repeat(Buffer.from([1, 0x12, 0, 3, 0, 0, 0, 1, 0, 0, 0, 8]), 5_000),
        ]),
      ),
      jpegEnd,
    ]),
  ],
  [
    'gif with a million frames',
    Buffer.concat([
      gifStart,
      repeat(Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0]), 1_000_000),
      text(';'),
    ]),
  ],
  [
    'gif with endless sub-blocks',
    Buffer.concat([
      gifStart,
      Buffer.from([0x21, 0xfe]),
      repeat(Buffer.from([1, 0]), 4_000_000),
      text(';'),
    ]),
  ],
  [
    'webp with two million empty chunks',
    riff(repeat(Buffer.concat([text('JUNK'), Buffer.alloc(4)]), 2_000_000)),
  ],
  [
    'webp of 2^24 pixels',
    riff(text('VP8X'), Buffer.from([10, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255])),
  ],
];

const texts = (): [string, Buffer][] => [
  [
    'svg with entities that expand to gigabytes',
    text(
      `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "${'a'.repeat(1_000)}"><!ENTITY b "${'&a;'.repeat(1_000)}">]><svg>&b;</svg>`,
    ),
  ],
  [
    'svg nested 100,000 levels deep',
    text(`<svg xmlns="http://www.w3.org/2000/svg">${'<g>'.repeat(100_000)}</svg>`),
  ],
  ['svg with a million attributes', text(`<svg ${'a="" '.repeat(200_000)}></svg>`)],
  ['svg after many comments', text(`${'<!---->'.repeat(140_000)}<svg></svg>`)],
  ['svg after many spaces', text(`${' '.repeat(1_000_000)}<svg></svg>`)],
  ['svg with an endless viewBox', text(`<svg viewBox="${'1 '.repeat(400_000)}"></svg>`)],
  ['svg with an endless width', text(`<svg width="${'9'.repeat(900_000)}" height="1"></svg>`)],
  ['html after many unclosed comments', text(`${'<!--'.repeat(250_000)}<html>`)],
  [
    'html that is not UTF-8',
    Buffer.concat([text('<!doctype html>'), Buffer.alloc(1_000_000, 0xff)]),
  ],
  ['html of 20 MB', text(`<!doctype html>${'a'.repeat(20_000_000)}`)],
  [
    'vtt with a million cues',
    text(`WEBVTT\n\n${'00:00.000 --> 00:01.000\na\n\n'.repeat(300_000)}`),
  ],
  ['zeros', Buffer.alloc(20_000_000)],
  ['only a signature', Buffer.from([0x89, 0x50, 0x4e, 0x47])],
];

/** Creates the corpus: files for every container and table that the service parses. */
export const createHostileFiles = (): HostileFile[] =>
  [...movies(), ...webms(), ...images(), ...texts()].map(([name, bytes]) => ({ name, bytes }));
