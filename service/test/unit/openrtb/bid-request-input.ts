import type { BidRequestInput } from '../../../src/demand/openrtb/request.ts';

/** The input for a bid request in which every optional field is set. */
export const fullBidRequestInput: BidRequestInput = {
  id: 'req-1',
  version: '2.6',
  isTest: false,
  timeoutMs: 800,
  placement: 'revive',
  floorMicros: 2_500_000,
  currency: 'EUR',
  showWithinS: 600,
  displayManager: { name: 'Trueward', version: '0.1.0' },
  playerSize: { width: 640, height: 360 },
  minDurationS: 5,
  maxDurationS: 60,
  site: { domain: 'game.example', page: 'https://game.example/play', publisherId: 'pub-1' },
  player: {
    ip: '203.0.113.7',
    userAgent: 'Mozilla/5.0',
    language: 'de_DE',
    userId: 'u-1',
    limitAdTracking: false,
    childDirected: false,
    gdpr: true,
    tcfString: 'tcf',
    gppString: 'gpp',
  },
  transactionId: 'tid-1',
  supplyChain: [{ asi: 'exchange.example', sid: 'pub-1' }],
  blocked: {
    advertisers: ['casino.example'],
    categories: ['IAB7'],
    seats: ['s9'],
    attributes: [16],
  },
};
