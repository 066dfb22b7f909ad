import { impressionId } from './openrtb/request.ts';

/**
 * The origin of the built-in test source, which simulates an ad network. The URL's query string selects the response.
 * No request is sent over the network. Domains under `.invalid` never resolve (RFC 6761), so these URLs cannot belong
 * to anyone else.
 */
const origin = 'https://test-source.invalid';

const outcomes = {
  vast: ['fill', 'wrapper', 'no_bid', 'timeout', 'error', 'invalid'],
  openrtb: ['fill', 'wrapper', 'no_bid', 'timeout', 'error', 'invalid', 'below_floor'],
} as const;

type Kind = keyof typeof outcomes;
type Outcome = (typeof outcomes)[Kind][number];

/** The test source's ad. */
export const testAd = {
  /** A tag that always returns this ad. */
  tagUrl: `${origin}/vast?outcome=fill`,
  /** The `creativeKey` in the test source's offers. */
  creativeKey: 'test-source.invalid test-ad',
  advertiserName: 'Test advertiser',
  advertiserDomain: 'test-advertiser.example',
  mediaUrl: `${origin}/test-ad.mp4`,
  /** Name of a media file that ships with the service. */
  file: 'meadow.mp4',
} as const;

export const isTestSourceUrl = (url: string): boolean => url.startsWith(`${origin}/`);

/** Returns what is wrong with a test source's configured URL, or undefined if the URL is valid. */
export function findTestSourceProblem(kind: Kind, url: string): string | undefined {
  if (readOutcome(kind, new URL(url)) !== undefined) return undefined;
  return `must be ${origin}/${kind}?outcome=… for the test source, with one of ${outcomes[kind].join(', ')}`;
}

function readOutcome(kind: Kind, { pathname, searchParams }: URL): Outcome | undefined {
  if (pathname !== `/${kind}`) return undefined;
  return outcomes[kind].find((outcome) => outcome === searchParams.get('outcome'));
}

/** Undefined if the source never responds. */
export type TestResponse = { httpStatus: number; text: string } | undefined;

/**
 * Returns the test source's response to an ad request.
 *
 * @param body the body of a bid request; absent for a VAST tag
 */
export function respondAsTestSource(url: string, body?: string): TestResponse {
  const kind: Kind = body === undefined ? 'vast' : 'openrtb';
  const outcome = readOutcome(kind, new URL(url));
  if (outcome === undefined) return { httpStatus: 404, text: '' };
  if (outcome === 'timeout') return undefined;
  if (outcome === 'error') return { httpStatus: 500, text: '' };
  if (outcome === 'no_bid')
    return body === undefined
      ? makeOkResponse('<VAST version="4.2"/>')
      : { httpStatus: 204, text: '' };
  if (body !== undefined)
    return makeOkResponse(outcome === 'invalid' ? '{"id":' : makeBid(body, outcome));
  if (outcome === 'invalid') return makeOkResponse('<VAST version="4.2"><Ad>');
  return makeOkResponse(outcome === 'wrapper' ? wrapperVast : inlineVast);
}

const makeOkResponse = (text: string): TestResponse => ({ httpStatus: 200, text });

/** Returns a bid that is one currency unit above the floor, or half the floor for `below_floor`. */
function makeBid(body: string, outcome: Outcome): string {
  const { id, imp, cur } = JSON.parse(body) as {
    id: string;
    imp: [{ bidfloor?: number }];
    cur: [string];
  };
  const floor = imp[0].bidfloor ?? 0;
  return JSON.stringify({
    id,
    cur: cur[0],
    seatbid: [
      {
        bid: [
          {
            id: 'test-bid',
            impid: impressionId,
            price: outcome === 'below_floor' ? floor / 2 : floor + 1,
            crid: 'test-ad',
            adomain: [testAd.advertiserDomain],
            mtype: 2,
            adm: outcome === 'wrapper' ? wrapperVast : inlineVast,
            nurl: `${origin}/win?price=\${AUCTION_PRICE}`,
            lurl: `${origin}/loss?reason=\${AUCTION_LOSS}`,
            burl: `${origin}/bill?price=\${AUCTION_PRICE}&at=\${AUCTION_IMP_TS}`,
          },
        ],
      },
    ],
  });
}

const trackingElements = ['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete']
  .map((event) => `<Tracking event="${event}">${origin}/track?event=${event}</Tracking>`)
  .join('');

const inlineVast = `<VAST version="4.2"><Ad id="test-ad"><InLine>
  <AdSystem>Test source</AdSystem><AdTitle>Test ad</AdTitle>
  <Advertiser>${testAd.advertiserDomain}</Advertiser>
  <Impression>${origin}/track?event=impression</Impression>
  <Creatives><Creative>
    <UniversalAdId idRegistry="test-source.invalid">test-ad</UniversalAdId>
    <Linear>
      <Duration>00:00:12</Duration>
      <TrackingEvents>${trackingElements}</TrackingEvents>
      <VideoClicks><ClickThrough>https://${testAd.advertiserDomain}/</ClickThrough></VideoClicks>
      <MediaFiles><MediaFile delivery="progressive" type="video/mp4" width="640" height="360">${testAd.mediaUrl}</MediaFile></MediaFiles>
    </Linear>
  </Creative></Creatives>
</InLine></Ad></VAST>`;

const wrapperVast = `<VAST version="4.2"><Ad id="test-wrapper"><Wrapper>
  <AdSystem>Test source</AdSystem>
  <Impression>${origin}/track?event=wrapper_impression</Impression>
  <VASTAdTagURI>${testAd.tagUrl}</VASTAdTagURI>
</Wrapper></Ad></VAST>`;
