import { describe, expect, test } from 'vitest';
import { buildBidRequest } from '../../../src/demand/openrtb/request.ts';
import { fullBidRequestInput } from './bid-request-input.ts';

describe('a bid request', () => {
  test('offers one rewarded full-screen impression', () => {
    expect(buildBidRequest(fullBidRequestInput)).toEqual({
      id: 'req-1',
      imp: [
        {
          id: '1',
          tagid: 'revive',
          displaymanager: 'Trueward',
          displaymanagerver: '0.1.0',
          bidfloor: 2.5,
          bidfloorcur: 'EUR',
          secure: 1,
          instl: 1,
          rwdd: 1,
          ssai: 3,
          exp: 600,
          video: {
            mimes: ['video/mp4', 'video/webm'],
            minduration: 5,
            maxduration: 60,
            protocols: [2, 3, 5, 6, 7, 8, 11, 12, 13, 14],
            w: 640,
            h: 360,
            startdelay: 0,
            plcmt: 3,
            linearity: 1,
            skip: 0,
            playbackmethod: [3],
            delivery: [2],
            battr: [16],
          },
        },
      ],
      site: {
        domain: 'game.example',
        page: 'https://game.example/play',
        publisher: { id: 'pub-1' },
      },
      device: { ua: 'Mozilla/5.0', ip: '203.0.113.7', language: 'de', lmt: 0 },
      user: { id: 'u-1', consent: 'tcf' },
      regs: { coppa: 0, gdpr: 1, gpp: 'gpp' },
      source: {
        fd: 1,
        tid: 'tid-1',
        schain: {
          complete: 1,
          ver: '1.0',
          nodes: [{ asi: 'exchange.example', sid: 'pub-1', hp: 1 }],
        },
      },
      at: 1,
      tmax: 800,
      cur: ['EUR'],
      test: 0,
      bseat: ['s9'],
      bcat: ['IAB7'],
      badv: ['casino.example'],
    });
  });

  test('uses `ext` in version 2.5 for fields that version 2.6 moved to the top level', () => {
    const request = buildBidRequest({ ...fullBidRequestInput, version: '2.5' });
    expect(request).toMatchObject({
      imp: [{ ext: { prebid: { is_rewarded_inventory: 1 } }, video: { placement: 5 } }],
      user: { id: 'u-1', ext: { consent: 'tcf' } },
      regs: { coppa: 0, ext: { gdpr: 1, gpp: 'gpp' } },
      source: { fd: 1, tid: 'tid-1', ext: { schain: { complete: 1 } } },
    });
    expect(JSON.stringify(request)).not.toMatch(/"(rwdd|ssai|plcmt)"/);
  });

  test('omits fields with unknown values', () => {
    const { playerSize: _, ...rest } = fullBidRequestInput;
    const request = buildBidRequest({
      ...rest,
      site: { page: 'https://game.example/play' },
      player: { limitAdTracking: true, childDirected: true },
      supplyChain: [],
      blocked: { advertisers: [], categories: [], seats: [], attributes: [] },
    });
    expect(request).toMatchObject({
      site: { page: 'https://game.example/play' },
      device: { lmt: 1 },
      regs: { coppa: 1 },
      source: { fd: 1, tid: 'tid-1' },
    });
    expect(request).not.toHaveProperty('user');
    expect(JSON.stringify(request)).not.toMatch(/schain|badv|bcat|bseat|battr|"w"|gdpr|publisher/);
  });

  test('puts an IPv6 address in a separate field', () => {
    const player = { ...fullBidRequestInput.player, ip: '2001:db8:1::' };
    const { device } = buildBidRequest({ ...fullBidRequestInput, player });
    expect(device).toMatchObject({ ipv6: '2001:db8:1::' });
    expect(device).not.toHaveProperty('ip');
  });

  test('omits a language without a two-letter code', () => {
    const player = { ...fullBidRequestInput.player, language: 'fil-PH' };
    expect(buildBidRequest({ ...fullBidRequestInput, player })['device']).not.toHaveProperty(
      'language',
    );
  });

  test('is marked as a test in the sandbox', () => {
    expect(buildBidRequest({ ...fullBidRequestInput, isTest: true })).toMatchObject({ test: 1 });
  });

  test('includes nested extensions from the source', () => {
    const request = buildBidRequest({
      ...fullBidRequestInput,
      ext: {
        imp: [{ ext: { bidder: { slot: 7 } }, video: { protocols: [3] } }],
        site: { publisher: { name: 'Studio' } },
        tmax: 500,
        ext: { schain: 'x' },
      },
    });
    expect(request).toMatchObject({
      imp: [{ rwdd: 1, ext: { bidder: { slot: 7 } }, video: { protocols: [3], skip: 0 } }],
      site: { domain: 'game.example', publisher: { id: 'pub-1', name: 'Studio' } },
      tmax: 500,
      ext: { schain: 'x' },
    });
  });

  test.each([
    [{ id: 'other', imp: [{ id: '2', tagid: 'x' }, { id: '3' }] }],
    [{ imp: [] }],
    [{ imp: 'none' }],
    [{ imp: [null] }],
  ])('keeps its ids and impression if the source extends it with %j', (ext) => {
    const request = buildBidRequest({ ...fullBidRequestInput, ext });
    expect(request).toMatchObject({ id: 'req-1', imp: [{ id: '1' }] });
    expect(request['imp']).toHaveLength(1);
  });

  test.each([
    [{ regs: { coppa: 0 }, device: { lmt: 0, ip: '203.0.113.7' } }],
    [{ regs: { gdpr: 0, gpp: 'other' }, user: { consent: 'other' } }],
    [{ regs: null, device: null, user: null }],
    [{ regs: 'none', device: [{ lmt: 0 }], user: 1 }],
  ])('says the same about the player if the source extends it with %j', (ext) => {
    const player = { ...fullBidRequestInput.player, limitAdTracking: true, childDirected: true };
    const { userId: _userId, ...child } = { ...player, ip: '203.0.113.0' };
    expect(buildBidRequest({ ...fullBidRequestInput, player: child, ext })).toMatchObject({
      device: { ua: 'Mozilla/5.0', ip: '203.0.113.0', language: 'de', lmt: 1 },
      user: { consent: 'tcf' },
      regs: { coppa: 1, gdpr: 1, gpp: 'gpp' },
    });
  });

  test('adds to what it says about the player', () => {
    const ext = { user: { ext: { eids: [] } }, device: { devicetype: 2 } };
    expect(buildBidRequest({ ...fullBidRequestInput, ext })).toMatchObject({
      user: { id: 'u-1', ext: { eids: [] } },
      device: { ua: 'Mozilla/5.0', devicetype: 2 },
    });
  });

  test('does not let an extension pollute Object.prototype', () => {
    const ext = JSON.parse('{"__proto__": {"polluted": true}, "site": {"constructor": 1}}');
    buildBidRequest({ ...fullBidRequestInput, ext });
    expect({}).not.toHaveProperty('polluted');
  });
});
