import { describe, expect, test } from 'vitest';
import {
  getBillingNoticeUrl,
  expandImpressionTime,
  expandMarkup,
  getLossNoticeUrl,
  locateMarkup,
  getWinNoticeUrl,
} from '../../../src/demand/openrtb/notices.ts';
import { formatCpm, toMicros } from '../../../src/demand/offer.ts';
import { type Bid, lossReasons } from '../../../src/demand/openrtb/response.ts';
import { inline, resolve, tags, createUrl, vast, wrapper } from '../vast/fixtures.ts';

const auction = { requestId: 'req-1' };
const createBid = (overrides: Partial<Bid> = {}): Bid => ({
  id: 'b1',
  seat: 's 1',
  bidId: 'r1',
  priceMicros: 2_500_000,
  currency: 'USD',
  advertiserDomains: ['shop.example'],
  creativeId: 'c1',
  categories: [],
  attributes: [],
  ...overrides,
});
const url = (query: string) => `https://bidder.example/?${query}`;

describe('notices', () => {
  test.each([
    ['${AUCTION_ID}', 'req-1'],
    ['${AUCTION_IMP_ID}', '1'],
    ['${AUCTION_BID_ID}', 'r1'],
    ['${AUCTION_SEAT_ID}', 's%201'],
    ['${AUCTION_AD_ID}', ''],
    ['${AUCTION_PRICE}', '2.5'],
    ['${AUCTION_CURRENCY}', 'USD'],
    ['${AUCTION_MBR}', '1'],
    ['${AUCTION_LOSS}', '0'],
    ['${AUCTION_MIN_TO_WIN}', ''],
    ['${AUCTION_SOMETHING}', ''],
    ['${AUCTION_PRICE:B64}', ''],
    ['%24%7BAUCTION_PRICE%7D', '2.5'],
    ['${PRICE}', '${PRICE}'],
  ])('a win notice replaces %s with %j', (macro, value) => {
    expect(getWinNoticeUrl(createBid({ nurl: url(`a=${macro}&b`) }), auction)).toBe(
      url(`a=${value}&b`),
    );
  });

  test.each([
    [url('t=${AUCTION_IMP_TS}&p=${AUCTION_PRICE}'), url('t=1700000000000&p=2.5')],
    [
      'https://bidder.example/${AUCTION_IMP_TS}/${AUCTION_PRICE}',
      'https://bidder.example/1700000000000/2.5',
    ],
    [url('t=%24%7Bauction_imp_ts%7D'), url('t=1700000000000')],
    [url('t=${AUCTION_IMP_TS:B64}&'), url('t=&')],
  ])('a billing notice contains the impression time: %s', (burl, expected) => {
    const expanded = getBillingNoticeUrl(createBid({ burl }), auction);
    expect(expandImpressionTime(expanded ?? '', 1_700_000_000_000)).toBe(expected);
  });

  test('a win notice does not contain the impression time', () => {
    expect(getWinNoticeUrl(createBid({ nurl: url('t=${AUCTION_IMP_TS}') }), auction)).toBe(
      url('t='),
    );
    const markup = url('t=${AUCTION_IMP_TS}');
    expect(locateMarkup(createBid({ markup }), auction)).toMatchObject({ tagUrl: url('t=') });
  });

  test('trackers in the markup keep the impression-time macro', () => {
    const source = locateMarkup(createBid({ markup: '<VAST>${AUCTION_IMP_TS}' }), auction);
    expect(source).toEqual({ markup: '<VAST>${AUCTION_IMP_TS}' });
    expect(expandImpressionTime(url('t=${AUCTION_IMP_TS}'), undefined)).toBe(url('t='));
    expect(expandImpressionTime(url('p=${AUCTION_PRICE}'), 1)).toBe(url('p=${AUCTION_PRICE}'));
  });

  test('a loss notice contains the reason but no price', () => {
    const lurl = url('l=${AUCTION_LOSS}&p=${AUCTION_PRICE}&i=${AUCTION_ID}');
    expect(getLossNoticeUrl(createBid({ lurl }), auction, lossReasons.outbid)).toBe(
      url('l=102&p=&i=req-1'),
    );
  });

  test('a bid without notice URLs has no notices', () => {
    expect(getWinNoticeUrl(createBid(), auction)).toBeUndefined();
    expect(getBillingNoticeUrl(createBid(), auction)).toBeUndefined();
    expect(getLossNoticeUrl(createBid(), auction, lossReasons.outbid)).toBeUndefined();
  });

  test.each(['https://', 'https://user:secret@bidder.example/', 'https://${AUCTION_X}/'])(
    'a notice URL is rejected if it is %s',
    (nurl) => {
      expect(getWinNoticeUrl(createBid({ nurl }), auction)).toBeUndefined();
    },
  );

  test('a notice accepts ids that are not well-formed Unicode', () => {
    const notice = getWinNoticeUrl(
      createBid({ seat: '\uD800', nurl: url('${AUCTION_SEAT_ID}') }),
      auction,
    );
    expect(notice).toBe(url('%EF%BF%BD'));
  });
});

describe('a bid’s markup', () => {
  test('can be part of the bid', () => {
    const markup = ' <VAST><!-- ${AUCTION_PRICE} --></VAST>';
    expect(locateMarkup(createBid({ markup, nurl: url('win') }), auction)).toEqual({
      markup: '<VAST><!-- 2.5 --></VAST>',
    });
  });

  test('has price macros replaced in the bidder’s trackers', async () => {
    const price = (name: string) =>
      tags('Impression', `https://t.example/${name}?p=\${AUCTION_PRICE}`);
    const markup = vast(wrapper(createUrl('ad'), { body: price('bid') }));
    const source = locateMarkup(createBid({ markup }), auction);
    if (!source) throw new Error('Expected markup.');
    const { result } = await resolve({ ad: vast(inline({ body: price('ad') })) }, {}, source);
    expect(result.ad?.trackers.impression).toEqual([
      'https://t.example/bid?p=2.5',
      // Auction macros are replaced only in the bid's own markup, not in the documents that it refers to.
      'https://t.example/ad?p=${AUCTION_PRICE}',
    ]);
  });

  test('can be a URL', () => {
    const markup = url('p=${AUCTION_PRICE}');
    expect(locateMarkup(createBid({ markup, nurl: url('win') }), auction)).toEqual({
      tagUrl: url('p=2.5'),
      isWinNotice: false,
    });
  });

  test('can be the response to the win notice', () => {
    const winningBid = createBid({ nurl: url('p=${AUCTION_PRICE}') });
    expect(locateMarkup(winningBid, auction)).toEqual({ tagUrl: url('p=2.5'), isWinNotice: true });
    expect(expandMarkup('<VAST>${AUCTION_CURRENCY}</VAST>', winningBid, auction)).toBe(
      '<VAST>USD</VAST>',
    );
  });

  test.each([
    '{"native": {}}',
    '%3CVAST%3E%3C/VAST%3E',
    'PFZBU1Q+PC9WQVNUPg==',
    'ftp://a.example/vast',
  ])(
    'that is unusable, such as %s, does not make the service claim that the bid has won',
    (markup) => {
      expect(locateMarkup(createBid({ markup, nurl: url('win') }), auction)).toBeUndefined();
    },
  );

  test('is missing if the bid has neither markup nor a win notice', () => {
    expect(locateMarkup(createBid(), auction)).toBeUndefined();
  });

  test('has at most a thousand macros replaced', () => {
    const markup = '${AUCTION_SEAT_ID}'.repeat(14_000);
    const expanded = expandMarkup(markup, createBid({ seat: 's'.repeat(500) }), auction);
    expect(expanded).toBe('s'.repeat(500_000));
  });

  test('contains escaped ids', () => {
    const markup = '<VAST><Error>${AUCTION_SEAT_ID}</Error></VAST>';
    expect(locateMarkup(createBid({ markup, seat: '</Error>&' }), auction)).toEqual({
      markup: '<VAST><Error>%3C%2FError%3E%26</Error></VAST>',
    });
  });
});

describe('prices', () => {
  test.each([
    [2.5, 2_500_000, '2.5'],
    [0.1 + 0.2, 300_000, '0.3'],
    [0.000_001, 1, '0.000001'],
    [10_000, 10_000_000_000, '10000'],
    [100, 100_000_000, '100'],
  ])('a CPM of %s is %s micros, formatted as %s', (cpm, micros, text) => {
    expect(toMicros(cpm)).toBe(micros);
    expect(formatCpm(micros)).toBe(text);
  });
});
