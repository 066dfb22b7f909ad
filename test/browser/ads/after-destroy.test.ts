import { afterEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { createInputGate } from '../../../src/ad-break/input-gate.ts';
import { startExposure } from '../../../src/creative/exposure.ts';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import { watchViewability } from '../../../src/creative/viewability.ts';
import { createAdRules } from '../../../src/decision/ad-rules.ts';
import { createDecisions } from '../../../src/decision/decisions.ts';
import { checkOptions } from '../../../src/options.ts';
import { createIndexedDbStore } from '../../../src/outbox/event-store.ts';
import { createOutbox } from '../../../src/outbox/outbox.ts';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import {
  browserConnectivity,
  browserPageLifecycle,
  browserTabChannel,
} from '../../../src/platform/page.ts';
import { createPlayerContext } from '../../../src/player-context.ts';
import { createLedger } from '../../../src/reward/ledger.ts';
import { createRewards } from '../../../src/reward/rewards.ts';
import { createAdEvent } from '../../support/event-service.ts';
import { eventually } from '../../support/eventually.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { decisionPorts } from '../../support/ports.ts';
import { makeKey } from '../../support/stub-service.ts';
import { decide, html, image, video } from '../ad-break/stage-set.ts';
import { bootGame, phaser4 } from '../phaser/phaser-games.ts';
import { type SdkWatch, watchSdk } from '../watch-sdk.ts';
import { addElement, phases, useAll } from './busy-ads.ts';
import { never, serviceUrl, startAdsWith, storageName } from './destroyed-ads.ts';

/** Something that runs, and the calls that have not returned. */
interface Started {
  target: { destroy(): void };
  calls?: Promise<unknown>[];
  /** Answers what is still waiting for an answer. */
  answer?(): void;
  /** Uses it after its end. Resolves when every call has returned. */
  use?(): Promise<unknown>;
}

type Row = (watch: SdkWatch) => Started | Promise<Started>;

const ports = { clock: systemClock, random: Math.random, newId: () => crypto.randomUUID() };
const page = {
  connectivity: browserConnectivity,
  lifecycle: browserPageLifecycle,
  openTabChannel: browserTabChannel,
};
const refuse = { call: async () => ({ kind: 'unreachable', cause: 'network' }) as const };
const silent = { call: () => never() };

const showCreative =
  (media: Parameters<typeof decide>[0], shown: string): Row =>
  async (watch) => {
    const { signal } = new AbortController();
    const creative = await loadCreative(decide(media), { clock: systemClock, signal });
    if (!creative.element.isConnected) document.body.append(creative.element);
    creative.start(({ type }) => watch.act(type));
    await eventually(() => expect(watch.actions()).toContain(shown));
    return { target: creative };
  };

/** Objects of the SDK that must be destroyed, each while it is as busy as it can be. */
const objects: Record<string, Row> = {
  AdRules: (watch) => ({
    target: createAdRules({
      ...page,
      name: `${storageName(makeKey())}:ad-rules`,
      clock: systemClock,
      isConsentKnown: () => true,
      storage: () => localStorage,
      onChange: () => watch.act('change'),
    }),
  }),
  async Decisions(watch) {
    const decisions = createDecisions({
      ...decisionPorts(systemClock),
      lifecycle: browserPageLifecycle,
      loadTimeoutMs: 5_000,
      client: {
        call: async (_path, _guard, { body, signal }) => {
          if (JSON.stringify(body).includes('slow'))
            return never(signal).catch(() => ({ kind: 'unreachable', cause: 'aborted' }));
          return { kind: 'ok', body: { ...decide(image), placement: 'revive' } as never };
        },
      },
      onResponse() {},
      onChange: () => watch.act('change'),
      loadCreative: (decision, signal) => loadCreative(decision, { clock: systemClock, signal }),
    });
    const { signal } = new AbortController();
    await decisions.preload('revive', signal);
    return { target: decisions, calls: [decisions.take('slow', signal)] };
  },
  async Exposure(watch) {
    const target = startExposure(systemClock, 60_000, ({ type }) => watch.act(type));
    await eventually(() => expect(watch.actions()).toContain('progress'));
    return { target };
  },
  InputGate: () => ({ target: createInputGate(systemClock) }),
  'LoadedCreative of an image': showCreative(image, 'painted'),
  'LoadedCreative of a video': showCreative(video, 'progress'),
  'LoadedCreative of HTML': showCreative(html(`port.postMessage({ type: 'ready' })`), 'painted'),
  async Outbox(watch) {
    const name = storageName(makeKey());
    const store = createIndexedDbStore({ clock: systemClock, name: `${name}:outbox` });
    const outbox = createOutbox({ ...ports, ...page, name, store, client: refuse });
    outbox.onRewards(() => watch.act('rewards'));
    await outbox.enqueue(createAdEvent());
    await eventually(() => expect(outbox.diagnostics().lastError).toBeDefined());
    return { target: outbox };
  },
  async PlayerContext(watch) {
    const options = checkOptions({ publishableKey: makeKey(), serviceUrl, consent: 'page' });
    const player = createPlayerContext(options, systemClock);
    player.onChange(() => watch.act('consent'));
    await eventually(() => expect(watch.running().length).toBeGreaterThan(1));
    return { target: player };
  },
  async Rewards(watch) {
    const ledger = createLedger({ clock: systemClock, name: `${storageName(makeKey())}:rewards` });
    const player = { player: () => ({ ref: '' }), identify: () => watch.act('identified') };
    const deliver = () => () => undefined;
    const rewards = createRewards({ ...ports, ...page, client: silent, player, ledger, deliver });
    rewards.onReward(async () => watch.act('delivered'));
    await rewards.track(decide(image));
    await rewards.setWatched(decide(image).id);
    return { target: rewards, calls: [rewards.confirmation(decide(image).id, 60_000)] };
  },
  async TruewardPlugin() {
    const { game, end } = await bootGame(await phaser4.load());
    onTestFinished(end);
    const data = { publishableKey: makeKey(), serviceUrl, fetch: never };
    const plugin = TruewardPlugin.install(game, data);
    return { target: plugin, calls: [plugin.preload('revive'), plugin.showRewarded('revive')] };
  },
  async ViewabilityWatch(watch) {
    const ad = addElement();
    // It never counts as seen, so the watch doesn't end by itself.
    ad.style.opacity = '0';
    const target = watchViewability(ad, {
      clock: systemClock,
      isVideo: true,
      onViewable: () => watch.act('viewed'),
      onUnseen: () => watch.act('unseen'),
    });
    await eventually(() => expect(watch.running()).toContain('setTimeout 200'));
    return { target };
  },
};

const rows: [name: string, row: Row][] = [
  ...Object.entries(objects),
  ...Object.entries(phases).map(([name, { start, ...more }]): [string, Row] => [
    `Ads, ${name}`,
    async (watch) => {
      const { ads, answer } = startAdsWith(watch, more);
      return { target: ads, calls: await start(ads, watch), answer, use: () => useAll(ads) };
    },
  ]),
];

test('every type of the SDK with a destroy() is in the table', () => {
  const names = rows.map(([name]) => name.split(/[ ,]/)[0] ?? '');
  expect([...new Set(names)].toSorted()).toEqual(inject('destroyables'));
});

afterEach(() => {
  Reflect.deleteProperty(window, '__tcfapi');
});

/** Everything that may wake up what listens to the page. */
function stirPage(watch: SdkWatch): void {
  window.__tcfapi = () => watch.act('asked for consent');
  for (const type of ['online', 'offline', 'focus', 'pagehide', 'resize'])
    window.dispatchEvent(new Event(type));
  window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  for (const type of ['visibilitychange', 'freeze', 'resume', 'fullscreenchange', 'keydown'])
    document.dispatchEvent(new Event(type));
}

test.each(rows)('after destroy(), nothing happens: %s', async (_, start) => {
  document.body.replaceChildren();
  const elements = new Set(document.querySelectorAll('*'));
  const watch = watchSdk();
  onTestFinished(watch.end);
  const { target, calls = [], answer, use } = await start(watch);
  target.destroy();
  answer?.();
  // Less than any time limit that would end a forgotten call or timer.
  const soon = { timeout: 5_000 };
  let settled = 0;
  for (const call of calls) void call.then(() => (settled += 1));
  await vi.waitFor(() => expect(settled).toBe(calls.length), soon);
  await vi.waitFor(() => expect(watch.running()).toEqual([]), soon);
  watch.clear();
  target.destroy();
  stirPage(watch);
  await runPendingWork();
  expect(watch.actions()).toEqual([]);
  await use?.();
  await vi.waitFor(() => expect(watch.running()).toEqual([]), soon);
  expect(watch.actions().filter((action) => /^(request|event|stored)/.test(action))).toEqual([]);
  const left = [...document.querySelectorAll('body *')].filter(
    (element) => !elements.has(element) && !/^(div|canvas)$/.test(element.localName),
  );
  expect(left).toEqual([]);
});
