import type { ErrorReport, VastAd } from '../../../src/demand/vast/ad.ts';

/** The expected result for a public sample. */
export interface ExpectedResult {
  /** The selected media file, its declared duration and the click-through URL. */
  ad?: {
    media: string;
    durationMs: number;
    clickThrough?: string;
    icons?: number;
    captions?: number;
  };
  noAd?: number;
  trackers: VastAd['trackers'];
  /** Entries of the form `<offset> <URL>`. */
  progress: string[];
  errors: ErrorReport[];
}

type Trackers = VastAd['trackers'];
type Scheme = 'http' | 'https';

const noTrackers = { trackers: {}, progress: [], errors: [] };
/** Expects no ad, and error reports to these URLs. */
const expectRejection = (noAd: ErrorReport['code'], ...urls: string[]): ExpectedResult => ({
  ...noTrackers,
  noAd,
  errors: urls.length > 0 ? [{ code: noAd, urls }] : [],
});

const impression = (scheme: Scheme) => `${scheme}://example.com/track/impression`;
const createTrackingUrl = (scheme: Scheme, event: string) =>
  `${scheme}://example.com/tracking/${event}`;
const error = (scheme: Scheme) => `${scheme}://example.com/error`;
const progressAtTenSeconds = '10000 http://example.com/tracking/progress-10';
const page = 'https://iabtechlab.com/';

const quartiles = (scheme: Scheme): Trackers => ({
  firstQuartile: [createTrackingUrl(scheme, 'firstQuartile')],
  midpoint: [createTrackingUrl(scheme, 'midpoint')],
  thirdQuartile: [createTrackingUrl(scheme, 'thirdQuartile')],
});

/** The ad in most of the IAB's samples. */
const expectIntro = (
  scheme: Scheme,
  overrides: Partial<ExpectedResult> & { clickThrough?: string } = {},
): ExpectedResult => {
  const { clickThrough = page, trackers = {}, ...rest } = overrides;
  return {
    ad: { media: 'VAST-4.0-Short-Intro.mp4', durationMs: 16_000, clickThrough },
    trackers: {
      impression: [impression(scheme)],
      start: [createTrackingUrl(scheme, 'start')],
      ...quartiles(scheme),
      complete: [createTrackingUrl(scheme, 'complete')],
      ...trackers,
    },
    progress: [progressAtTenSeconds],
    errors: [],
    ...rest,
  };
};

/** The result for samples with a ClickTracking instead of a ClickThrough. */
const withoutClickThrough = (expected: ExpectedResult, ...clicks: string[]): ExpectedResult => ({
  ...expected,
  ad: { media: 'VAST-4.0-Short-Intro.mp4', durationMs: 16_000 },
  trackers: { ...expected.trackers, click: [...clicks, page] },
});

const expectWrapped = (outer: Scheme, inner: Scheme) =>
  expectIntro(inner, { trackers: { impression: [impression(outer), impression(inner)] } });

const expectViewable = (outer: Scheme): ExpectedResult => {
  const url = `${outer}://search.iabtechlab.com/error?errcode=102&imprid=s5-ea2f7f298e28c0c98374491aec3dfeb1&ts=1243`;
  return expectIntro('http', {
    trackers: {
      impression: [impression(outer), impression('http')],
      start: [createTrackingUrl('http', 'start'), createTrackingUrl('http', 'start')],
      viewable: [url],
      notViewable: [url],
      viewUndetermined: [url],
    },
    progress: [progressAtTenSeconds, progressAtTenSeconds],
  });
};

const expectInteractive = (scheme: Scheme): ExpectedResult => ({
  ...expectIntro(scheme),
  ad: { media: 'vast_4.0_pilot-iab-hd.mp4', durationMs: 16_000, clickThrough: page },
  errors: [{ code: 409, urls: [error(scheme)] }],
});

const expectClick = (scheme: Scheme, url: string) =>
  expectIntro(scheme, { trackers: { click: [url] } });
const expectExtras = (overrides: { icons?: number; captions?: number }): ExpectedResult => {
  const expected = expectIntro('https');
  return expected.ad ? { ...expected, ad: { ...expected.ad, ...overrides } } : expected;
};

const scorecard =
  'http://b.scorecardresearch.com/b?C1=1&C2=6000003&C3=0000000200500000197000000&C4=us&C7=http://www.scanscout.com&C8=scanscout.com&C9=http://www.scanscout.com&C10=xn&rn=-103217130';
const target: ExpectedResult = {
  ad: {
    media: 'VAST-4.0-Short-Intro.mp4',
    durationMs: 30_000,
    clickThrough: 'http://www.target.com/',
  },
  trackers: { impression: [scorecard] },
  progress: [],
  errors: [],
};

const prefixPaths = (
  folder: string,
  files: Record<string, ExpectedResult>,
): [string, ExpectedResult][] =>
  Object.entries(files).map(([name, expected]) => [`${folder}/${name}`, expected]);

/** All 75 files in InteractiveAdvertisingBureau/VAST_Samples, by path. */
export const iabSamples = new Map<string, ExpectedResult>([
  ...prefixPaths('VAST 1-2.0 Samples', {
    'Inline_LinearRegular_VAST2.0.xml': target,
    'Inline_LinearVAST2vpaid.xml': expectRejection(403, 'http://example.com/trackingurl/error'),
    'Inline_NonLinear_VAST2.0.xml': expectRejection(201),
    'Inline_NonLinear_Verification_VAST2.0.xml': {
      ...target,
      trackers: {
        impression: [scorecard],
        verificationNotExecuted: ['https://company.com/pixel.jpg?error=[REASON]'],
      },
    },
    'vast1Nonlinear.xml': expectRejection(102),
    'vast1RegularLinear.xml': expectRejection(102),
    'vast1VPAIDLinear.xml': expectRejection(102),
  }),
  ...prefixPaths('VAST 1-2.0 Samples/Tremor-Video-Samples', {
    'vast1Nonlinear.xml': expectRejection(102),
    'vast1RegularLinear.xml': expectRejection(102),
    'vast1VPAIDLinear.xml': expectRejection(102),
    'vast2Nonlinear.xml': expectRejection(201),
    'vast2RegularLinear.xml': expectRejection(403),
    'vast2VPAIDLinear.xml': expectRejection(403),
    'vast_inline_linear.xml': expectRejection(403, error('http')),
    'vast_inline_nonlinear.xml': expectRejection(201, error('http')),
    'vast_wrapper_linear_1.xml': expectRejection(
      403,
      'http://example.com/wrapper/error',
      error('http'),
    ),
    'vast_wrapper_linear_2.xml': expectRejection(403, error('http')),
    // These refer to files that are not in the repository.
    'vast_wrapper_nonlinear_1.xml': expectRejection(301, 'http://example.com/wrapper/error'),
    'vast_wrapper_nonlinear_2.xml': expectRejection(301),
  }),
  ...prefixPaths('VAST 3.0 Samples', {
    'Event_Tracking-test.xml': expectIntro('http'),
    'Inline_Companion_Tag-test.xml': withoutClickThrough(expectIntro('http')),
    'Inline_Linear_Tag-test.xml': withoutClickThrough(expectIntro('http')),
    'Inline_Non-Linear_Tag-test.xml': expectRejection(201, error('http')),
    'No_Wrapper_Tag-test.xml': expectIntro('http'),
    'Video_Clicks_and_click_tracking-Inline-test.xml': expectClick(
      'http',
      'http://example.com/trackingurl/clickTracking',
    ),
    'Wrapper_Tag-test.xml': withoutClickThrough(expectWrapped('http', 'http')),
  }),
  ...prefixPaths('VAST 4.0 Samples', {
    'Ad_Verification-test.xml': expectIntro('http'),
    'Category-test.xml': expectIntro('http'),
    'Conditional_Ad-test.xml': expectIntro('http'),
    'Event_Tracking-test.xml': expectIntro('http'),
    'Inline_Companion_Tag-test.xml': expectIntro('http'),
    'Inline_Linear_Tag-test.xml': expectIntro('http'),
    'Inline_Non-Linear_Tag-test.xml': expectRejection(201, error('http')),
    'Inline_Simple.xml': expectIntro('http'),
    'No_Wrapper_Tag-test.xml': expectIntro('http'),
    'Ready_to_serve_Media_Files_check-test.xml': expectIntro('http'),
    'SSAI_stitching _VPAID_separation-test.xml': expectInteractive('http'),
    'SSAI_stitching_mezzanine_file_support-test.xml': expectIntro('http'),
    'Universal_Ad_ID-test.xml': expectIntro('http'),
    'Video_Clicks_and_click_tracking-Inline-test.xml': expectClick(
      'http',
      'http://mytrackingurl/clickTracking',
    ),
    'Viewable_Impression-test.xml': expectViewable('http'),
    'Wrapper_Tag-test.xml': expectWrapped('http', 'http'),
  }),
  ...prefixPaths('VAST 4.1 Samples', {
    'Ad_Verification-test.xml': expectIntro('https'),
    'Audio_DAAST_Sample.xml': expectRejection(200, error('https')),
    'Category-test.xml': expectIntro('https'),
    'Closed_Caption_Test.xml': expectExtras({ captions: 1 }),
    'Conditional_Ad-test.xml': expectIntro('https'),
    'Event_Tracking-test.xml': expectIntro('https'),
    'Inline_Companion_Tag-test.xml': expectIntro('https'),
    'Inline_Linear_Tag-test.xml': expectIntro('https'),
    'Inline_Non-Linear_Tag-test.xml': expectRejection(201, error('https')),
    'Inline_Simple.xml': expectIntro('https'),
    'No_Wrapper_Tag-test.xml': expectIntro('https'),
    'Ready_to_serve_Media_Files_check-test.xml': expectIntro('https'),
    'SSAI_stitching _VPAID_separation-test.xml': expectInteractive('https'),
    'SSAI_stitching_mezzanine_file_support-test.xml': expectIntro('https'),
    'Universal_Ad_ID-test.xml': expectIntro('https'),
    'Video_Clicks_and_click_tracking-Inline-test.xml': expectClick(
      'https',
      'http://mytrackingurl/clickTracking',
    ),
    // These two refer to an ad in the VAST 4.0 samples.
    'Viewable_Impression-test.xml': expectViewable('https'),
    'Wrapper_Tag-test.xml': expectWrapped('https', 'http'),
  }),
  ...prefixPaths('VAST 4.2 Samples', {
    'Ad_Verification-test.xml': expectIntro('https'),
    'Category-test.xml': expectIntro('https'),
    'Closed_Caption_Test.xml': expectExtras({ captions: 1 }),
    'Event_Tracking-test.xml': expectIntro('https'),
    'IconClickFallbacks.xml': expectExtras({ icons: 1 }),
    'Inline_Companion_Tag-test.xml': expectIntro('https'),
    'Inline_Linear_Tag-test.xml': expectIntro('https'),
    'Inline_Non-Linear_Tag-test.xml': expectRejection(201, error('https')),
    'Inline_Simple.xml': expectIntro('https'),
    'No_Wrapper_Tag-test.xml': expectIntro('https'),
    'Ready_to_serve_Media_Files_check-test.xml': expectIntro('https'),
    'Universal_Ad_ID-multi-test.xml': expectIntro('https'),
    'Video_Clicks_and_click_tracking-Inline-test.xml': expectClick(
      'https',
      'http://mytrackingurl/clickTracking',
    ),
    'Viewable_Impression-test.xml': expectViewable('https'),
    'Wrapper_Tag-test.xml': expectWrapped('https', 'https'),
  }),
]);

const example = (...paths: string[]) => paths.map((path) => `http://example.com/${path}`);

/** The linear ad in `sample.xml`, in a chain of wrappers that add these trackers. */
const expectSample = (outer: Trackers = {}, outerProgress: string[] = []): ExpectedResult => {
  const trackers: Trackers = {
    impression: example(
      'impression1_asset:[ASSETURI]_[CACHEBUSTING]',
      'impression2_[random]',
      'impression3_[RANDOM]',
    ),
    start: example('linear-start'),
    firstQuartile: example('linear-firstQuartile'),
    midpoint: example('linear-midpoint'),
    thirdQuartile: example('linear-thirdQuartile'),
    complete: example('linear-complete'),
    close: example('linear-close'),
    click: example(
      'linear-clicktracking1_ts:[TIMESTAMP]_adplayhead:[ADPLAYHEAD]',
      'linear-clicktracking2',
    ),
  };
  return {
    ad: {
      media: 'linear-asset.mp4',
      durationMs: 90_123,
      clickThrough: 'http://example.com/linear-clickthrough_adplayhead:[ADPLAYHEAD]',
      icons: 1,
    },
    trackers: append(outer, trackers),
    progress: [...outerProgress, ...createProgress('linear')],
    errors: [],
  };
};

const append = (outer: Trackers, added: Trackers): Trackers => {
  const events = new Set([...Object.keys(outer), ...Object.keys(added)]) as Set<keyof Trackers>;
  return Object.fromEntries(
    Array.from(events, (event) => [event, [...(outer[event] ?? []), ...(added[event] ?? [])]]),
  );
};

const createProgress = (name: string): string[] => [
  `30000 http://example.com/${name}-progress-30sec`,
  `60% http://example.com/${name}-progress-60%`,
];

const wrapperB: Trackers = {
  impression: example('wrapperB-impression1', 'wrapperB-impression2'),
  start: example('wrapperB-linear-start'),
  complete: example('wrapperB-linear-complete'),
  click: example('wrapperB-linear-clicktracking'),
};
const wrapperA: Trackers = {
  impression: example('wrapperA-impression'),
  start: example('wrapperA-linear-start1', 'wrapperA-linear-start2'),
  complete: example('wrapperA-linear-complete'),
  click: example(
    'wrapperA-linear-clicktracking1',
    'wrapperA-linear-clicktracking2',
    'wrapperA-linear-clicktracking3',
  ),
};

const dailymotionLinear: ExpectedResult = {
  ...withoutClickThrough(expectIntro('http')),
  progress: [],
};
const emptyNoCreative = 'empty-no-creative_inline-error';

/** All 16 XML files in `spec/samples` of dailymotion/vast-client-js, by name. */
export const dailymotionSamples = new Map<string, ExpectedResult>(
  prefixPaths('spec/samples', {
    'empty-no-ad.xml': expectRejection(303, ...example('empty-no-ad')),
    'empty-no-creative.xml': expectRejection(101, ...example(emptyNoCreative)),
    'inline-linear.xml': dailymotionLinear,
    'invalid-xmlfile.xml': expectRejection(100),
    'outdated-vast.xml': expectRejection(102),
    'sample.xml': expectSample(),
    'vpaid.xml': expectRejection(403),
    'vpaid2.xml': expectRejection(403),
    'wrapper-a.xml': expectSample(append(wrapperA, wrapperB), [
      ...createProgress('wrapperA-linear'),
      '90% http://example.com/wrapperA-linear-progress-90%',
      ...createProgress('wrapperB-linear'),
    ]),
    'wrapper-attributes-multiple-ads.xml': expectSample({ impression: [impression('http')] }),
    'wrapper-b.xml': expectSample(wrapperB, createProgress('wrapperB-linear')),
    'wrapper-empty-no-creative.xml': expectRejection(
      101,
      ...example('wrapper-no-creative_wrapper-error', emptyNoCreative),
    ),
    'wrapper-empty.xml': expectRejection(
      303,
      ...example('wrapper-empty_wrapper-error', 'empty-no-ad'),
    ),
    'wrapper-legacy.xml': {
      ...dailymotionLinear,
      trackers: append(
        {
          impression: example('wrapper-impression'),
          start: example('wrapper-start'),
          complete: example('wrapper-complete'),
          click: example('wrapper-clicktracking'),
        },
        dailymotionLinear.trackers,
      ),
    },
    'wrapper-multiple-ads.xml': expectSample({ impression: [impression('http')] }),
    'wrapper-unavailable-url.xml': expectRejection(
      301,
      ...example('wrapper-invalid-xmlfile_wrapper-error'),
    ),
  }),
);
