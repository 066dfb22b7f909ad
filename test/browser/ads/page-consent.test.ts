import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { followPageConsent, type PageConsent } from '../../../src/platform/page-consent.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createTestPage } from '../../support/ports.ts';

type Callback = (data: unknown, success?: boolean) => void;

let clock: ManualClock;
let page: ReturnType<typeof createTestPage>;
let reported: PageConsent[];
const undo: (() => void)[] = [];

beforeEach(() => {
  clock = createManualClock();
  page = createTestPage();
  reported = [];
});
afterEach(() => {
  for (const step of undo.splice(0)) step();
  delete window.__tcfapi;
  delete window.__gpp;
  expect(clock.timers()).toBe(0);
});

const followConsent = (): void => {
  undo.push(followPageConsent(clock, (consent) => reported.push(consent), page));
};
const statuses = () => reported.map(({ status }) => status);

function setGpc(value: unknown): void {
  Object.defineProperty(navigator, 'globalPrivacyControl', { value, configurable: true });
  undo.push(() => Reflect.deleteProperty(navigator, 'globalPrivacyControl'));
}

const tcData = (purposes: number[], gdprApplies = true) => ({
  eventStatus: 'useractioncomplete',
  gdprApplies,
  tcString: 'CPtcf',
  listenerId: 7,
  purpose: { consents: Object.fromEntries(purposes.map((purpose) => [purpose, true])) },
});
const gppData = (SaleOptOut: number) => ({
  listenerId: 8,
  pingData: {
    signalStatus: 'ready',
    gppString: 'DBgpp',
    parsedSections: { usnat: [{ SaleOptOut }] },
  },
});

/** The functions below add a consent framework to this window and let tests invoke its callbacks. */
function openTcf(): { callback: Callback; calls: unknown[][] } {
  const tcf = { callback: (() => undefined) as Callback, calls: [] as unknown[][] };
  window.__tcfapi = (command, version, callback, id) => {
    tcf.calls.push([command, version, id]);
    if (command === 'addEventListener') tcf.callback = callback;
  };
  return tcf;
}
function openGpp(): { callback: Callback } {
  const gpp = { callback: (() => undefined) as Callback };
  window.__gpp = (command, callback) => {
    if (command === 'addEventListener') gpp.callback = callback;
  };
  return gpp;
}

describe('detecting a framework', () => {
  it('finds a framework that loads late, by polling at increasing intervals', async () => {
    const searches = vi.fn();
    Object.defineProperty(window, '__gpp', { get: searches, configurable: true });
    followConsent();
    await clock.advance(3_600_000);
    expect(searches.mock.calls.length).toBeLessThan(100);
    const tcf = openTcf();
    await clock.advance(60_000);
    tcf.callback(tcData([1, 2, 7]));
    expect(reported).toEqual([{ status: 'granted', tcfString: 'CPtcf' }]);
    // One more poll had already been scheduled when the framework loaded.
    await clock.advance(60_000);
    searches.mockClear();
    await clock.advance(3_600_000);
    expect(searches).not.toHaveBeenCalled();
  });

  it('when the player returns, finds a framework that loaded while the page was hidden', async () => {
    followConsent();
    await clock.advance(3_600_000);
    const tcf = openTcf();
    page.emit('visible');
    tcf.callback(tcData([]));
    expect(statuses()).toEqual(['denied']);
  });

  it('does not mistake an element for a framework', async () => {
    const element = document.createElement('a');
    element.id = '__tcfapi';
    document.body.append(element);
    undo.push(() => element.remove());
    followConsent();
    await clock.advance(60_000);
    expect(reported).toEqual([]);
  });
});

describe('a misbehaving framework', () => {
  it.each<[name: string, args: Parameters<Callback>]>([
    ['fails', [null, false]],
    ['fails with data', [tcData([1, 2, 7]), false]],
    ['returns undefined', [undefined]],
    ['returns a string', ['granted', true]],
  ])('that %s is queried again later', async (_, args) => {
    const tcf = openTcf();
    followConsent();
    tcf.callback(...args);
    expect(reported).toEqual([]);
    await clock.advance(1_000);
    expect(tcf.calls.length).toBeGreaterThan(1);
    tcf.callback(tcData([1, 2, 7]), true);
    expect(statuses()).toEqual(['granted']);
  });

  it('is queried again later if it throws', async () => {
    window.__tcfapi = () => {
      throw new Error('not yet');
    };
    followConsent();
    const tcf = openTcf();
    await clock.advance(1_000);
    tcf.callback(tcData([1, 2, 7]), true);
    expect(statuses()).toEqual(['granted']);
  });

  it.each<[name: string, data: object, status: string]>([
    ['no purposes', { ...tcData([]), purpose: null }, 'denied'],
    ['purposes as text', { ...tcData([]), purpose: { consents: '1111111111' } }, 'denied'],
    ['no consents', { ...tcData([]), purpose: {} }, 'denied'],
  ])('with %s counts as denied consent', (_, data, status) => {
    const tcf = openTcf();
    followConsent();
    tcf.callback(data, true);
    expect(statuses()).toEqual([status]);
  });

  it('does not pass on a consent string that the service would reject', () => {
    const tcf = openTcf();
    followConsent();
    tcf.callback({ ...tcData([1, 2, 7]), tcString: 'C'.repeat(4_097) }, true);
    tcf.callback({ ...tcData([]), tcString: { not: 'text' } }, true);
    expect(reported).toEqual([{ status: 'granted' }, { status: 'denied' }]);
  });

  it.each([[null], [{}], [{ usnat: null }], [{ usnat: [null, 1, 'x'] }], ['text']])(
    'finds no opt-out in the GPP sections %j',
    (parsedSections) => {
      const gpp = openGpp();
      followConsent();
      gpp.callback({ pingData: null }, true);
      gpp.callback({ pingData: { signalStatus: 'ready', parsedSections } }, true);
      expect(reported).toEqual([{ status: 'unknown' }]);
    },
  );
});

describe('TCF and GPP together', () => {
  it.each([
    [{ usca: [{ SaleOptOut: 1 }, { Gpc: false }] }],
    [{ usca: [{ SaleOptOut: 2 }, { Gpc: true }] }],
    [{ usca: [{ SaleOptOut: 2 }, { Gpc: 1 }] }],
    [{ usva: { TargetedAdvertisingOptOut: '1' } }],
    [{ usnat: { SharingOptOut: true } }],
    [{ uspv1: { Version: 1, Notice: 'Y', OptOutSale: 'Y', LspaCovered: 'N' } }],
    [{ uspv1: '1YYN' }],
  ])('the opt-out in the GPP sections %j is honored', (parsedSections) => {
    const [tcf, gpp] = [openTcf(), openGpp()];
    followConsent();
    tcf.callback(tcData([], false), true);
    gpp.callback({ pingData: { signalStatus: 'ready', parsedSections } }, true);
    expect(statuses()).toEqual(['denied']);
  });

  it.each([
    [{ uspv1: { Version: 1, Notice: 'Y', OptOutSale: 'N', LspaCovered: 'N' } }],
    [{ uspv1: '1YNY' }],
    [{ uspv1: '1---' }],
    [{ usnat: [{ SaleOptOut: 2, SharingOptOut: 0 }, { Gpc: false }] }],
  ])('the GPP sections %j contain no opt-out', (parsedSections) => {
    const [tcf, gpp] = [openTcf(), openGpp()];
    followConsent();
    tcf.callback(tcData([], false), true);
    gpp.callback({ pingData: { signalStatus: 'ready', parsedSections } }, true);
    expect(statuses()).toEqual(['granted']);
  });

  it('a US state’s opt-out signal is honored where the GDPR does not apply', async () => {
    const [tcf, gpp] = [openTcf(), openGpp()];
    followConsent();
    tcf.callback(tcData([], false), true);
    expect(reported).toEqual([]);
    gpp.callback(gppData(1), true);
    expect(reported).toEqual([{ status: 'denied', tcfString: 'CPtcf', gppString: 'DBgpp' }]);
    gpp.callback(gppData(2), true);
    expect(statuses()).toEqual(['denied', 'granted']);
    await clock.advance(10_000);
    expect(reported).toHaveLength(2);
  });

  it('TCF alone applies after two seconds without a response from GPP', async () => {
    const tcf = openTcf();
    openGpp();
    followConsent();
    tcf.callback(tcData([], false), true);
    await clock.advance(1_999);
    expect(reported).toEqual([]);
    await clock.advance(1);
    expect(statuses()).toEqual(['granted']);
  });
});

describe('Global Privacy Control', () => {
  it('counts as an opt-out until a framework responds', async () => {
    setGpc(true);
    followConsent();
    await clock.advance(4_999);
    expect(reported).toEqual([]);
    await clock.advance(1);
    expect(statuses()).toEqual(['denied']);
    const tcf = openTcf();
    await clock.advance(60_000);
    tcf.callback(tcData([1, 2, 7]), true);
    expect(statuses()).toEqual(['denied', 'granted']);
  });

  it('waits for the player while a consent dialog is open', async () => {
    setGpc(true);
    const tcf = openTcf();
    followConsent();
    tcf.callback({ eventStatus: 'cmpuishown', listenerId: 7 }, true);
    await clock.advance(60_000);
    expect(reported).toEqual([]);
  });

  it.each<[name: string, reply: () => void, status: string]>([
    ['consent given under the GDPR', () => openTcfAndReply(tcData([1, 2, 7])), 'granted'],
    [
      'TCF where the GDPR does not apply',
      () => openTcfAndReply(tcData([1, 2, 7], false)),
      'denied',
    ],
    ['GPP without an opt-out', () => openGppAndReply(gppData(2)), 'denied'],
  ])('is combined with %s', (_, reply, status) => {
    setGpc(true);
    reply();
    followConsent();
    expect(statuses()).toEqual([status]);
  });

  it.each([[false], [undefined], ['1']])('with the value %j is ignored', async (value) => {
    setGpc(value);
    followConsent();
    await clock.advance(60_000);
    expect(reported).toEqual([]);
  });
});

const openTcfAndReply = (data: object): void => {
  window.__tcfapi = (command, _version, callback) => {
    if (command === 'addEventListener') callback(data, true);
  };
};
const openGppAndReply = (data: object): void => {
  window.__gpp = (command, callback) => {
    if (command === 'addEventListener') callback(data, true);
  };
};

/** Sends a message from a script in the parent window. The message's `source` is therefore the parent window. */
function replyFrom(parentWindow: Window, target: Window, message: unknown): void {
  const script = parentWindow.document.createElement('script');
  script.text = 'window.sendAsMine = (target, message) => target.postMessage(message, "*")';
  parentWindow.document.body.append(script);
  script.remove();
  (parentWindow as Window & { sendAsMine?(to: Window, what: unknown): void }).sendAsMine?.(
    target,
    message,
  );
}

describe('in a frame', () => {
  /** Adds a framework to the parent window. The tests run in a frame. */
  function openInParent(name: '__tcfapi' | '__gpp', asText = false) {
    const parentWindow = window.parent;
    expect(parentWindow).not.toBe(window);
    const locator = parentWindow.document.createElement('iframe');
    locator.name = `${name}Locator`;
    locator.hidden = true;
    parentWindow.document.body.append(locator);
    const calls: { command: string; version: unknown; parameter?: unknown }[] = [];
    let reply = (_data: unknown, _success: boolean): void => undefined;
    const listener = ({ data, source }: MessageEvent<Record<string, unknown> | null>): void => {
      const call = data?.[`${name}Call`] as (typeof calls)[0] & { callId: string };
      if (call === undefined) return;
      calls.push({ command: call.command, version: call.version, parameter: call.parameter });
      if (call.command !== 'addEventListener') return;
      const { callId } = call;
      reply = (returnValue, success) => {
        const message = { [`${name}Return`]: { returnValue, success, callId } };
        replyFrom(parentWindow, source as Window, asText ? JSON.stringify(message) : message);
      };
    };
    parentWindow.addEventListener('message', listener);
    undo.push(() => {
      parentWindow.removeEventListener('message', listener);
      locator.remove();
    });
    // Messages from an earlier test may still arrive.
    const listenerCalls = () => calls.filter(({ command }) => command === 'addEventListener');
    return { calls, listenerCalls, reply: (data: unknown, success = true) => reply(data, success) };
  }

  it.each([
    ['objects', false],
    ['text', true],
  ])('reads TCF from the parent page through messages sent as %s', async (_, asText) => {
    const tcf = openInParent('__tcfapi', asText);
    followConsent();
    await eventually(() =>
      expect(tcf.listenerCalls()).toEqual([
        { command: 'addEventListener', version: 2, parameter: undefined },
      ]),
    );
    tcf.reply({ eventStatus: 'cmpuishown', listenerId: 7 });
    tcf.reply(tcData([1, 2, 7]));
    await eventually(() => expect(reported).toEqual([{ status: 'granted', tcfString: 'CPtcf' }]));
    tcf.reply(tcData([]));
    await eventually(() => expect(statuses()).toEqual(['granted', 'denied']));
  });

  it('removes its listener from the parent page', async () => {
    const tcf = openInParent('__tcfapi');
    const stop = followPageConsent(clock, (consent) => reported.push(consent), page);
    await eventually(() => expect(tcf.listenerCalls()).toHaveLength(1));
    tcf.reply(tcData([1, 2, 7]));
    await eventually(() => expect(reported).toHaveLength(1));
    stop();
    await eventually(() =>
      expect(tcf.calls.at(-1)).toEqual({
        command: 'removeEventListener',
        version: 2,
        parameter: 7,
      }),
    );
  });

  it('reads GPP from the parent page', async () => {
    const gpp = openInParent('__gpp');
    followConsent();
    await eventually(() => expect(gpp.listenerCalls()).toHaveLength(1));
    expect(gpp.listenerCalls()[0]).toMatchObject({ command: 'addEventListener', version: '1.1' });
    gpp.reply(gppData(1));
    await eventually(() => expect(reported).toEqual([{ status: 'denied', gppString: 'DBgpp' }]));
  });

  it('ignores messages from other windows', async () => {
    const tcf = openInParent('__tcfapi');
    const callIds: string[] = [];
    const spy = ({ data }: MessageEvent<{ __tcfapiCall?: { callId: string } } | null>): void => {
      if (data?.__tcfapiCall) callIds.push(data.__tcfapiCall.callId);
    };
    window.parent.addEventListener('message', spy);
    undo.push(() => window.parent.removeEventListener('message', spy));
    followConsent();
    await eventually(() => expect(callIds).toHaveLength(1));
    const [callId] = callIds;
    const delivered = new Promise((resolve) =>
      window.addEventListener('message', resolve, { once: true }),
    );
    window.postMessage({
      __tcfapiReturn: { returnValue: tcData([1, 2, 7]), success: true, callId },
    });
    await delivered;
    expect(reported).toEqual([]);
    tcf.reply(tcData([]));
    await eventually(() => expect(statuses()).toEqual(['denied']));
  });

  it('queries the framework again after an error in the parent page', async () => {
    const tcf = openInParent('__tcfapi');
    followConsent();
    await eventually(() => expect(tcf.listenerCalls()).toHaveLength(1));
    tcf.reply(null, false);
    await eventually(async () => {
      await clock.advance(1_000);
      expect(tcf.listenerCalls().length).toBeGreaterThan(1);
    });
    tcf.reply(tcData([1, 2, 7]));
    await eventually(() => expect(statuses()).toEqual(['granted']));
  });
});
