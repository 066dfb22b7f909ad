import { inline, mp4, tags, tracking, vast } from '../../../service/test/unit/vast/fixtures.ts';

/** Maximum document size that the service accepts, minus room for the id in a bid response. */
const maxBytes = 262_144 - 64;

/** A typical ad from an ad server. It has an impression, the usual tracking events and a click-through URL. */
export const adFrom = (server: string, name: string): string =>
  vast(
    inline({
      body:
        `<Advertiser>https://${name}.example/</Advertiser>` +
        tags('Impression', `${server}/tracker/impression?t=[CACHEBUSTING]`),
      creative: `<UniversalAdId idRegistry="ad-id.org">${name}</UniversalAdId>`,
      duration: '00:00:03',
      media: mp4('', `${server}/media.mp4`),
      tracking: ['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete']
        .map((event) => tracking(event, `${server}/tracker/${event}?t=[CACHEBUSTING]`))
        .join(''),
      clicks: tags('ClickThrough', `https://${name}.example/`),
    }),
  );

/** Creates a bid response with this ad. The source server fills in the id of the request. */
export const bidFrom = (server: string, name: string): string =>
  JSON.stringify({
    id: 'REQUEST_ID',
    cur: 'USD',
    seatbid: [
      {
        bid: [
          {
            id: 'bid',
            impid: '1',
            price: 3.5,
            crid: name,
            adomain: [`${name}.example`],
            mtype: 2,
            adm: adFrom(server, name).replace(/<UniversalAdId.*?<\/UniversalAdId>/, ''),
            burl: `${server}/tracker/bill?p=\${AUCTION_PRICE}`,
          },
        ],
      },
    ],
  });

/** A document of the maximum size, filled with copies of `piece`. */
const fill = (piece: string, before: string, after = ''): string =>
  before +
  piece.repeat(Math.floor((maxBytes - before.length - after.length) / piece.length)) +
  after;

const linear = '<VAST version="4.2"><Ad><InLine><Creatives><Creative><Linear>';
const longUrl = `https://t.example/?${'a'.repeat(8_000)}`;
const bids = '{"id":"REQUEST_ID","cur":"USD","seatbid":[{"bid":[';

/** Documents of the maximum size that are expensive to parse. The keys describe their contents. */
export const adversarialTags: Record<string, string> = {
  'open elements': fill('<a>', '<VAST>'),
  elements: fill('<a b=""/>', '<VAST>', '</VAST>'),
  'media files': fill(
    '<MediaFile type="video/mp4">https://a.example</MediaFile>',
    `${linear}<MediaFiles>`,
  ),
  'tracking events': fill(
    '<Tracking event="start">https://t.example/a</Tracking>',
    `${linear}<TrackingEvents>`,
  ),
  'one CDATA section': fill('x', '<VAST><Ad><![CDATA[', ']]></Ad></VAST>'),
  'CDATA sections': fill('<![CDATA[]]>', '<VAST>', '</VAST>'),
  ampersands: fill('&', '<VAST>', '</VAST>'),
  'long URLs': vast(
    inline({ body: tags('Impression', ...Array.from({ length: 31 }, () => longUrl)) }),
  ),
  ads: fill('<Ad><InLine/></Ad>', '<VAST>', '</VAST>'),
};

export const adversarialBids: Record<string, string> = {
  'empty bids': fill('{},', bids, '{}]}]}'),
  'bids with only a price': fill('{"price":1},', bids, '{}]}]}'),
  'seats without bids': fill('{},', '{"id":"REQUEST_ID","seatbid":[', '{}]}'),
  'nested arrays': fill('[', bids),
  'thousand-digit numbers': fill(`${'9'.repeat(1_000)},`, bids, '0]}]}'),
  'one long string': fill('x', `${bids}{"adm":"`, '"}]}]}'),
  'escaped characters': fill('\\u0041', `${bids}{"adm":"`, '"}]}]}'),
  'macros in an ad': fill(
    '${AUCTION_PRICE}',
    `${bids}{"id":"b","impid":"1","price":2,"adomain":["a.example"],"crid":"c","mtype":2,"adm":"<VAST>`,
    '"}]}]}',
  ),
};
