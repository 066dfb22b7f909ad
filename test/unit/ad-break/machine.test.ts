import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  begin,
  transition,
  type BreakEffect,
  type BreakEvent,
  type BreakState,
} from '../../../src/ad-break/machine.ts';

type Kind = 'rewarded' | 'interstitial';

type Start = Parameters<typeof begin>[0];

const startOptions = (kind: Kind, more: Partial<Start> = {}): Start => ({
  kind,
  minWatchMs: kind === 'rewarded' ? 8000 : Infinity,
  endCard: true,
  hidden: false,
  ...more,
});
const progress = (watchedMs: number): BreakEvent => ({
  type: 'progress',
  watchedMs,
  durationMs: 10_000,
});
const report = (state: 'none' | 'pending' | 'earned' | 'denied' | 'expired'): BreakEvent => ({
  type: 'confirmed',
  report: { decisionId: 'dec_1', state },
});

function run(start: Start, ...events: BreakEvent[]): { state: BreakState; effects: BreakEffect[] } {
  const first = begin(start);
  let { state } = first;
  const effects = [...first.effects];
  for (const event of events) {
    const step = transition(state, event);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const names = (effects: BreakEffect[]): string[] =>
  effects.map((effect) =>
    effect.type === 'report'
      ? effect.event
      : effect.type === 'settle'
        ? `settle ${effect.result.outcome}`
        : effect.type,
  );

/** Every event, once for each value that the state machine treats differently. */
const everyEvent: BreakEvent[] = [
  { type: 'painted' },
  progress(0),
  progress(2500),
  progress(9000),
  { type: 'ended' },
  { type: 'viewed', ratio: 1, ms: 2000 },
  { type: 'clicked' },
  { type: 'closeAllowed' },
  { type: 'closeRequested' },
  { type: 'closeConfirmed' },
  { type: 'closeCanceled' },
  { type: 'endCardOver' },
  { type: 'hidden' },
  { type: 'visible' },
  { type: 'stalled' },
  { type: 'failed', reason: 'media_decode' },
  { type: 'aborted' },
  report('earned'),
  report('denied'),
  report('pending'),
];

/** An event sequence that leads to each kind of state. */
const pathsTo: Record<string, [Start, ...BreakEvent[]]> = {
  opening: [startOptions('rewarded')],
  'opening while hidden': [startOptions('rewarded', { hidden: true })],
  playing: [startOptions('rewarded'), { type: 'painted' }, progress(2500)],
  'playing an interstitial': [startOptions('interstitial'), { type: 'painted' }, progress(2500)],
  closable: [startOptions('rewarded'), { type: 'closeAllowed' }],
  prompting: [startOptions('rewarded'), { type: 'closeAllowed' }, { type: 'closeRequested' }],
  watched: [startOptions('rewarded'), { type: 'painted' }, progress(8000)],
  'on the end card': [startOptions('rewarded'), progress(8000), { type: 'ended' }],
  'on the end card of an interstitial': [startOptions('interstitial'), { type: 'ended' }],
  confirming: [startOptions('rewarded', { endCard: false }), progress(8000), { type: 'ended' }],
  done: [startOptions('rewarded'), { type: 'aborted' }],
};

const pathTo = (name: string): [Start, ...BreakEvent[]] =>
  pathsTo[name] ?? [startOptions('rewarded')];

/** Asserts the invariants that must hold for the effects, whatever the sequence of events. */
function checkHistory(effects: BreakEffect[], state: BreakState): void {
  const list = names(effects);
  const count = (name: string) => list.filter((other) => other === name).length;
  const settled = list.filter((name) => name.startsWith('settle')).length;
  expect(settled).toBe(state.phase === 'done' ? 1 : 0);
  expect(count('open')).toBeLessThanOrEqual(1);
  const onScreen = state.phase === 'showing' || state.phase === 'endCard';
  expect(count('release')).toBe(count('open') - (onScreen ? 1 : 0));
  for (const once of [
    'start',
    'impression',
    'first_quartile',
    'midpoint',
    'third_quartile',
    'complete',
    'click',
    'close',
    'skip',
    'error',
    'watched',
    'allowClose',
    'showEndCard',
    'confirm',
  ]) {
    expect(count(once), once).toBeLessThanOrEqual(1);
  }
  if (state.phase === 'showing') {
    const last = list.filter((name) => name === 'pause' || name === 'resume').at(-1);
    expect(last === 'pause', 'is paused').toBe(state.hidden || state.prompting);
  }
  if (count('close') > 0) {
    expect(list.indexOf('close')).toBeLessThan(list.indexOf('release'));
    if (count('complete') > 0) expect(list.indexOf('complete')).toBeLessThan(list.indexOf('close'));
  }
  if (settled > 0) {
    const end = list.findIndex((name) => name.startsWith('settle'));
    expect(list.indexOf('release')).toBeLessThan(end);
    expect(list.slice(end + 1)).toEqual([]);
  }
  if (count('settle rewarded') + count('settle pending') > 0) expect(count('complete')).toBe(1);
  if (count('settle dismissed') > 0) expect(count('complete')).toBe(0);
}

describe('the ad break state machine, for every state and event', () => {
  for (const [name, steps] of Object.entries(pathsTo)) {
    for (const [index, event] of everyEvent.entries()) {
      it(`${name}, then ${event.type} (${index}), keeps its invariants and can then be aborted`, () => {
        const once = run(...steps, event);
        checkHistory(once.effects, once.state);
        const aborted = run(...steps, event, { type: 'aborted' });
        expect(aborted.state.phase).toBe('done');
        checkHistory(aborted.effects, aborted.state);
      });
    }
  }

  it('keeps its invariants for events in any order', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(pathsTo).map(([start]) => start)),
        fc.array(fc.constantFrom(...everyEvent), { maxLength: 40 }),
        (start, events) => {
          const { effects, state } = run(start, ...events);
          checkHistory(effects, state);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('is pure', () => {
    for (const steps of Object.values(pathsTo)) {
      const state = Object.freeze(run(...steps).state);
      for (const event of everyEvent) {
        expect(transition(state, event)).toEqual(transition(state, event));
      }
    }
  });
});

describe('the ad break state machine', () => {
  it('emits a rewarded ad’s effects in order', () => {
    const { effects } = run(
      startOptions('rewarded'),
      { type: 'painted' },
      progress(2500),
      { type: 'viewed', ratio: 1, ms: 2000 },
      progress(5000),
      progress(7500),
      { type: 'closeAllowed' },
      progress(8000),
      { type: 'ended' },
      { type: 'clicked' },
      { type: 'closeRequested' },
      report('earned'),
    );
    expect(names(effects)).toEqual([
      'open',
      'start',
      'first_quartile',
      'impression',
      'midpoint',
      'third_quartile',
      'allowClose',
      'complete',
      'watched',
      'showEndCard',
      'click',
      'close',
      'release',
      'confirm',
      'settle rewarded',
    ]);
  });

  it('reports every quartile that a progress event passes', () => {
    expect(
      names(run(startOptions('interstitial'), progress(9000), progress(9500)).effects),
    ).toEqual(['open', 'first_quartile', 'midpoint', 'third_quartile']);
  });

  it('pauses the ad and asks for confirmation when closing would forfeit the reward', () => {
    const prompted = run(...pathTo('prompting'));
    expect(names(prompted.effects).slice(-2)).toEqual(['pause', 'setClosePrompt']);
    const continued = transition(prompted.state, { type: 'closeCanceled' });
    expect(names(continued.effects)).toEqual(['setClosePrompt', 'resume']);
    const closed = transition(prompted.state, { type: 'closeConfirmed' });
    expect(names(closed.effects)).toEqual(['skip', 'close', 'release', 'settle dismissed']);
  });

  it('asks for confirmation again when the page becomes visible', () => {
    const { state } = run(...pathTo('prompting'), { type: 'hidden' });
    expect(names(transition(state, { type: 'visible' }).effects)).toEqual(['setClosePrompt']);
  });

  it('shows the close control when the reward is due, even before its delay has passed', () => {
    const { effects } = run(startOptions('rewarded'), progress(8000));
    expect(names(effects).slice(-2)).toEqual(['watched', 'allowClose']);
  });

  it.each([
    ['expired', undefined, 'expired'],
    ['expired', 'invalid_traffic', 'invalid_traffic'],
    ['denied', undefined, undefined],
    ['denied', 'invalid_traffic', 'invalid_traffic'],
  ] as const)('settles a reward that is %s with the reason %s as %s', (state, given, reason) => {
    const { effects } = run(...pathTo('confirming'), {
      type: 'confirmed',
      report: { decisionId: 'dec_1', state, ...(given && { reason: given }) },
    });
    expect(effects.at(-1)).toEqual({
      type: 'settle',
      result: { outcome: 'denied', ...(reason && { reason }) },
    });
  });

  it('ignores a close request before the close control is shown', () => {
    expect(run(startOptions('rewarded'), { type: 'closeRequested' }).state.phase).toBe('showing');
  });

  it('closes an interstitial early without asking for confirmation', () => {
    const { effects } = run(
      startOptions('interstitial'),
      { type: 'closeAllowed' },
      { type: 'closeRequested' },
    );
    expect(names(effects).slice(-4)).toEqual(['skip', 'close', 'release', 'settle completed']);
  });

  for (const [fault, outcome] of [
    [{ type: 'stalled' }, 'stalled'],
    [{ type: 'failed', reason: 'media_decode' }, 'error'],
  ] as const) {
    it(`settles with ${outcome} if the ad ${fault.type} before the reward was due`, () => {
      const { effects } = run(startOptions('rewarded'), progress(2500), fault);
      expect(names(effects).slice(-4)).toEqual(['error', 'close', 'release', `settle ${outcome}`]);
    });

    it(`keeps the reward if the ad ${fault.type} after the reward was due`, () => {
      const { effects } = run(...pathTo('watched'), fault, report('earned'));
      expect(names(effects).slice(-3)).toEqual(['release', 'confirm', 'settle rewarded']);
    });
  }

  for (const [state, outcome] of [
    ['earned', 'rewarded'],
    ['denied', 'denied'],
    ['expired', 'denied'],
    ['pending', 'pending'],
    ['none', 'pending'],
  ] as const) {
    it(`settles with ${outcome} when the service reports ${state}`, () => {
      const { effects } = run(...pathTo('confirming'), report(state));
      expect(names(effects).at(-1)).toBe(`settle ${outcome}`);
    });
  }

  it('settles with pending when aborted after the reward was due', () => {
    expect(names(run(...pathTo('watched'), { type: 'aborted' }).effects).slice(-2)).toEqual([
      'release',
      'settle pending',
    ]);
    expect(names(run(...pathTo('confirming'), { type: 'aborted' }).effects).at(-1)).toBe(
      'settle pending',
    );
  });
});
