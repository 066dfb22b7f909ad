import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { type BidRules, readBidResponse } from '../../../src/demand/openrtb/response.ts';

const rules: BidRules = {
  requestId: 'req-1',
  currency: 'USD',
  floorMicros: 1_000_000,
  blocked: {
    advertisers: ['casino.example'],
    categories: ['IAB7'],
    seats: ['s9'],
    attributes: [16],
  },
};

const createBid = (overrides: object = {}) => ({
  id: 'b1',
  impid: '1',
  price: 2.5,
  mtype: 2,
  adomain: ['shop.example'],
  crid: 'c1',
  adm: '<VAST version="4.2"/>',
  ...overrides,
});

/** Returns an object nested to this depth. */
const nestObjects = (levels: number): object =>
  levels === 0 ? {} : { inner: nestObjects(levels - 1) };
const createResponse = (bids: unknown, overrides: object = {}) =>
  JSON.stringify({ id: 'req-1', bidid: 'r1', seatbid: [{ seat: 's1', bid: bids }], ...overrides });

const read = (...bids: object[]) => readBidResponse(createResponse(bids), rules);

/** Reads a response with a single bid. Returns the reason why the bid was rejected. */
function readRejection(overrides: object, response: object = {}) {
  const result = readBidResponse(createResponse([createBid(overrides)], response), rules);
  if (result.status !== 'bids') throw new Error(result.status);
  return result.rejectedBids[0];
}

describe('reading a bid response', () => {
  test('returns a complete bid', () => {
    const fullBid = createBid({
      adid: 'a1',
      nurl: 'https://bidder.example/win?p=${AUCTION_PRICE}',
      burl: 'https://bidder.example/bill',
      lurl: 'https://bidder.example/lost',
      cat: ['IAB1'],
      attr: [1],
      exp: 300,
      dur: 20,
    });
    expect(read(fullBid)).toEqual({
      status: 'bids',
      bids: [
        {
          id: 'b1',
          seat: 's1',
          bidId: 'r1',
          adId: 'a1',
          priceMicros: 2_500_000,
          currency: 'USD',
          advertiserDomains: ['shop.example'],
          creativeId: 'c1',
          categories: ['IAB1'],
          attributes: [1],
          markup: '<VAST version="4.2"/>',
          nurl: 'https://bidder.example/win?p=${AUCTION_PRICE}',
          burl: 'https://bidder.example/bill',
          lurl: 'https://bidder.example/lost',
          expiresInS: 300,
          durationS: 20,
        },
      ],
      rejectedBids: [],
    });
  });

  test('sorts bids by price and preserves the order of ties', () => {
    const result = read(
      createBid({ id: 'low', price: 1 }),
      createBid({ id: 'first', price: 3 }),
      createBid({ id: 'second', price: 3 }),
    );
    expect(result).toMatchObject({ bids: [{ id: 'first' }, { id: 'second' }, { id: 'low' }] });
  });

  test.each([
    ['nothing', ''],
    ['an empty object', '{}'],
    ['an empty list of seats', '{"id":"req-1","seatbid":[]}'],
    ['an object without seats', '{"id":"req-1"}'],
    ['a seat without bids', createResponse([])],
  ])('finds no bids in %s', (_what, body) => {
    expect(readBidResponse(body, rules)).toEqual({ status: 'no_bid' });
  });

  test('returns the reason why there is no bid', () => {
    const body = '{"id":"req-1","seatbid":[],"nbr":2}';
    expect(readBidResponse(body, rules)).toEqual({ status: 'no_bid', noBidReason: 2 });
  });

  test.each([
    ['HTML', '<html></html>'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a truncated document', createResponse([createBid()]).slice(0, -1)],
    ['the response to another request', createResponse([createBid()], { id: 'req-2' })],
    ['a response without an id', createResponse([createBid()], { id: undefined })],
    ['a response whose seatbid is an object', createResponse([createBid()], { seatbid: {} })],
    ['a response that is nested too deeply', createResponse([createBid({ ext: nestObjects(65) })])],
  ])('treats %s as malformed', (_what, body) => {
    expect(readBidResponse(body, rules)).toMatchObject({ status: 'malformed' });
  });

  test('accepts deep nesting in extensions and brackets in strings', () => {
    const text = '[{"'.repeat(100);
    const body = createResponse([createBid({ ext: { text, nested: nestObjects(50) } })]);
    expect(readBidResponse(body, rules)).toMatchObject({ status: 'bids' });
  });

  test.each([
    ['no id', { id: undefined }, 3],
    ['the id of another impression', { impid: '2' }, 3],
    ['no price', { price: undefined }, 9],
    ['a price of 0', { price: 0 }, 9],
    ['a negative price', { price: -2 }, 9],
    ['a price of NaN', { price: Number.NaN }, 9],
    ['a price that is a string', { price: '2.5' }, 9],
    ['a price of 1e9', { price: 1e9 }, 9],
    ['a price of less than a millionth', { price: 1e-7 }, 9],
    ['a price below the floor', { price: 0.999_999 }, 100],
    ['banner markup', { mtype: 1 }, 204],
    ['no advertiser', { adomain: undefined }, 6],
    ['an empty list of advertisers', { adomain: [] }, 6],
    ['an advertiser that is not a domain', { adomain: ['shop.example', 'a b'] }, 6],
    ['a blocked advertiser', { adomain: ['casino.example'] }, 205],
    ['a subdomain of a blocked advertiser', { adomain: ['https://www.de.casino.example/x'] }, 205],
    ['no creative id', { crid: '' }, 8],
    ['a creative id with a control character', { crid: 'a\u0000b' }, 8],
    ['a creative id that is not well-formed Unicode', { crid: '\uD800' }, 8],
    ['a blocked category', { cat: ['IAB1', 'IAB7'] }, 209],
    ['a subcategory of a blocked one', { cat: ['IAB7-39'] }, 209],
    ['a blocked attribute', { attr: [16] }, 210],
    ['a blocked advertiser as a text', { adomain: 'casino.example' }, 205],
    ['a blocked category as a text', { cat: 'iab7' }, 209],
    ['a blocked attribute as a number', { attr: 16 }, 210],
    ['a blocked attribute as a text', { attr: ['16'] }, 210],
    ['an advertiser that is no text', { adomain: ['shop.example', {}] }, 6],
    ['a blocked category with zeros', { cat: ['IAB07-039'] }, 209],
    ['a blocked category with an underscore', { cat: ['iab7_39'] }, 209],
    ['another advertiser', { adomain: ['shop.example', 'other.example'] }, 6],
    ['a blocked advertiser after another', { adomain: ['shop.example', 'casino.example'] }, 205],
    ['a category that is no text', { cat: ['IAB1', { id: 'IAB7' }] }, 3],
    ['nested categories', { cat: [['IAB7']] }, 3],
    ['an attribute that is no number', { attr: ['x'] }, 3],
    ['a blocked category after many others', { cat: [...Array(50).fill('IAB1'), 'IAB7'] }, 3],
    [
      'a blocked advertiser after many',
      { adomain: [...Array(50).fill('a.example'), 'casino.example'] },
      6,
    ],
    ['no markup', { adm: undefined }, 7],
    ['JSON markup', { adm: '{}' }, 7],
    ['a win notice that is not a web URL', { adm: undefined, nurl: 'javascript:x' }, 7],
  ])('rejects a bid with %s', (_what, overrides, lossReason) => {
    expect(readRejection(overrides)).toMatchObject({
      lossReason,
      seat: 's1',
      reason: expect.any(String),
    });
  });

  test('accepts as many categories as a bid may have', () => {
    expect(read(createBid({ cat: Array(50).fill('IAB1') }))).toMatchObject({ rejectedBids: [] });
  });

  test('rejects bids from blocked seats', () => {
    const seatbid = [{ seat: 's9', bid: [createBid()] }];
    expect(readRejection({}, { seatbid })).toMatchObject({ lossReason: 104 });
  });

  test('rejects bids in another currency', () => {
    expect(readRejection({}, { cur: 'EUR' })).toMatchObject({
      lossReason: 3,
      reason: 'The bid is in "EUR"; expected USD.',
    });
  });

  test('rejects duplicate bids, but accepts the same id from different seats', () => {
    const seatbid = [
      { seat: 's1', bid: [createBid(), createBid({ price: 9 })] },
      { seat: 's2', bid: [createBid()] },
    ];
    const result = readBidResponse(createResponse([], { seatbid }), rules);
    expect(result).toMatchObject({
      bids: [{ seat: 's1', priceMicros: 2_500_000 }, { seat: 's2' }],
      rejectedBids: [{ seat: 's1', lossReason: 3 }],
    });
  });

  test('keeps valid bids when others are invalid', () => {
    const result = read(createBid({ id: 'bad', price: -1 }), createBid());
    expect(result).toMatchObject({ bids: [{ id: 'b1' }], rejectedBids: [{ id: 'bad' }] });
  });

  test.each([
    ['without a markup type, as in 2.5', { mtype: undefined }],
    ['whose markup comes with the win notice', { adm: undefined, nurl: 'https://b.example/win' }],
    ['whose markup is a URL', { adm: 'https://b.example/vast?p=${AUCTION_PRICE}' }],
    ['at the floor', { price: 1 }],
    ['from a domain that ends like a blocked one', { adomain: ['mycasino.example'] }],
    ['in a category that begins like a blocked one', { cat: ['IAB70'] }],
    ['with numeric ids', { id: 7, crid: 8 }],
    ['of an advertiser and its subdomain', { adomain: ['de.shop.example', 'www.shop.example'] }],
    ['of an advertiser as a text', { adomain: 'shop.example' }],
    ['with lists of nothing', { cat: null, attr: '' }],
    ['with nothing in its lists', { cat: ['IAB1', null, ''], attr: [null] }],
  ])('accepts a bid %s', (_what, overrides) => {
    expect(read(createBid(overrides))).toMatchObject({
      bids: [{ priceMicros: expect.any(Number) }],
    });
  });

  test('reads at most fifty bids', () => {
    const bids = Array.from({ length: 60 }, (_, index) => createBid({ id: `b${index}` }));
    expect(read(...bids)).toMatchObject({ bids: { length: 50 } });
  });

  test('reads at most two hundred seats', () => {
    const seats = (emptySeats: number) =>
      JSON.stringify({
        id: 'req-1',
        cur: 'USD',
        seatbid: [...Array.from({ length: emptySeats }, () => ({})), { bid: [createBid()] }],
      });
    expect(readBidResponse(seats(199), rules)).toMatchObject({ bids: { length: 1 } });
    expect(readBidResponse(seats(200), rules)).toEqual({ status: 'no_bid' });
  });

  test('never throws and never returns an invalid price', () => {
    const values = fc.oneof(
      fc.constantFrom(null, true, 0, -1, 1e9, 1e-9, 1e308, '', '1', [], {}, '\uD800', '__proto__'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const mutation = fc.dictionary(
      fc.constantFrom(
        ...Object.keys(createBid()),
        'nurl',
        'burl',
        'lurl',
        'cat',
        'attr',
        'exp',
        'dur',
      ),
      values,
      { maxKeys: 3 },
    );
    const outer = fc.dictionary(fc.constantFrom('id', 'cur', 'seatbid', 'nbr', 'bidid'), values, {
      maxKeys: 1,
    });
    const length = fc.option(fc.nat(400), { nil: undefined, freq: 5 });
    fc.assert(
      fc.property(fc.array(mutation, { maxLength: 4 }), outer, length, (bids, fields, end) => {
        const result = readBidResponse(
          createResponse(bids.map(createBid), fields).slice(0, end),
          rules,
        );
        if (result.status !== 'bids') return;
        for (const { priceMicros } of result.bids) {
          expect(Number.isSafeInteger(priceMicros)).toBe(true);
          expect(priceMicros).toBeGreaterThanOrEqual(rules.floorMicros);
        }
      }),
      { numRuns: inject('full') ? 10_000 : 500 },
    );
  });
});
