import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import type { AdRule } from '../../protocol/wire.ts';
import {
  createDevice,
  createService,
  findTruth,
  placements,
  type Truth,
} from './support/ad-rules-world.ts';

const startMs = Date.UTC(2026, 5, 1);
const sessionGapMs = 1_800_000;
const numRuns = inject('full') ? 3_000 : 200;

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const count = optional(fc.integer({ min: 1, max: 4 }));

/** Random rules. With `session`, they may also be about the session. */
const makeRules = ({ session }: { session: boolean }): fc.Arbitrary<AdRule[]> => {
  const inSession = <T>(arbitrary: fc.Arbitrary<T | undefined>) =>
    session ? arbitrary : fc.constant(undefined);
  const rule = fc.record({
    formats: fc.constantFrom<AdRule['formats']>(
      ['interstitial'],
      ['rewarded'],
      ['interstitial', 'rewarded'],
    ),
    placements: fc.constantFrom<AdRule['placements']>(
      undefined,
      [],
      ['level-end'],
      ['shop', 'revive'],
    ),
    first_after_s: inSession(optional(fc.integer({ min: 1, max: 3_600 }))),
    gap_s: optional(
      fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 86_400 })),
    ),
    gap_after: fc.constantFrom<AdRule['gap_after']>(
      undefined,
      ['rewarded'],
      ['interstitial', 'rewarded'],
    ),
    max_per_session: inSession(count),
    max_per_hour: count,
    max_per_day: count,
    enabled: fc.boolean(),
  });
  return fc.array(rule, { minLength: 1, maxLength: 4 }).map((rules) =>
    rules.map(
      (given, index) =>
        ({
          id: `adr_${index}`,
          environment: 'live',
          created_at: '',
          updated_at: '',
          ...given,
          // The service refuses this combination.
          ...(given.formats.includes('rewarded') && { first_after_s: undefined }),
        }) as AdRule,
    ),
  );
};

const duration = fc.oneof(
  fc.integer({ min: 1, max: 120_000 }),
  fc.integer({ min: 1, max: 7_200_000 }),
);
const placement = fc.constantFrom(...Object.keys(placements));
const device = fc.constantFrom(0, 1);
type Step =
  | { type: 'play' | 'setClock'; ms: number; device: number }
  | { type: 'sleep'; ms: number; placement: string; device: number }
  | { type: 'show' | 'await'; placement: string; device: number }
  | { type: 'reload'; device: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('play' as const), ms: duration, device }),
  fc.record({ type: fc.constant('sleep' as const), ms: duration, placement, device }),
  fc.record({ type: fc.constantFrom('show' as const, 'await' as const), placement, device }),
  fc.record({ type: fc.constantFrom('show' as const, 'await' as const), placement, device }),
  fc.record({ type: fc.constant('reload' as const), device }),
);
const steps = fc.array(step, { minLength: 5, maxLength: 40 });

test('one device shows an ad exactly when the rules allow it, over reloads and sleep', () => {
  fc.assert(
    fc.property(makeRules({ session: true }), steps, fc.boolean(), (rules, plan, isIdentified) => {
      const phone = createDevice(startMs);
      const service = createService(rules, { isIdentified });
      const truth: Truth = { nowMs: startMs, ads: [], sessionStartMs: startMs };
      const play = (ms: number): void => {
        phone.play(ms);
        truth.nowMs += ms;
      };
      const show = (name: string): void => {
        const allowedAtMs = findTruth(rules, name, truth);
        const decision = service.show(phone, name, truth.nowMs);
        expect([name, decision !== undefined]).toEqual([name, allowedAtMs === truth.nowMs]);
        if (!decision) return;
        const ad = { format: decision.format, placement: name, atMs: truth.nowMs };
        truth.ads.push(ad);
        service.record.unshift({ id: decision.id, ...ad });
      };
      for (const next of plan) {
        if (next.type === 'play') play(next.ms);
        else if (next.type === 'reload') phone.reload();
        else if (next.type === 'sleep') {
          // The page records the player's presence every minute, so the last minute may count as absence.
          if (next.ms > sessionGapMs - 60_000 && next.ms < sessionGapMs) continue;
          phone.sleep(next.ms);
          truth.nowMs += next.ms;
          if (next.ms >= sessionGapMs) truth.sessionStartMs = truth.nowMs;
          // The game asks when the player is back.
          phone.load().waitMs(next.placement);
        } else if (next.type === 'show') show(next.placement);
        else if (next.type === 'await') {
          // Asks once, so that the device knows the rules.
          show(next.placement);
          const waitMs = phone.load().waitMs(next.placement);
          const allowedAtMs = findTruth(rules, next.placement, truth);
          expect(waitMs).toBe(allowedAtMs - truth.nowMs);
          if (waitMs === Infinity || waitMs > 7_200_000) continue;
          if (waitMs > 1) {
            play(waitMs - 1);
            show(next.placement);
            play(1);
          }
          show(next.placement);
        }
      }
    }),
    { numRuns },
  );
});

/** How long an impression takes to reach the service, at most. The record’s times are later by as much. */
const maxDelayMs = 3_000;
/** By how much a device’s word may move an ad in the record. */
const maxCorrectionMs = 5_000;

test.each([false, true])(
  'a player on two devices never sees an ad too early or too late; the devices’ clocks are set: %s',
  (areClocksSet) => {
    const clockSteps = fc.oneof(
      { weight: 4, arbitrary: step },
      {
        weight: areClocksSet ? 1 : 0,
        arbitrary: fc.record({
          type: fc.constant('setClock' as const),
          ms: fc.integer({ min: -100_000_000, max: 100_000_000 }),
          device,
        }),
      },
    );
    fc.assert(
      fc.property(
        makeRules({ session: false }),
        fc.array(clockSteps, { minLength: 5, maxLength: 40 }),
        fc.array(fc.integer({ min: 0, max: maxDelayMs }), { minLength: 1 }),
        (rules, plan, delays) => {
          const devices = [createDevice(startMs), createDevice(startMs)] as const;
          const service = createService(rules, { isIdentified: true });
          const truth: Truth = { nowMs: startMs, ads: [], sessionStartMs: startMs };
          const play = (ms: number): void => {
            for (const each of devices) each.play(ms);
            truth.nowMs += ms;
          };
          const isAllowed = (name: string, shiftMs: number): boolean => {
            const nowMs = truth.nowMs + shiftMs;
            return findTruth(rules, name, { ...truth, nowMs }) === nowMs;
          };
          const show = (name: string, on: number): boolean => {
            const decision = service.show(devices[on === 0 ? 0 : 1], name, truth.nowMs);
            if (decision)
              expect([name, isAllowed(name, areClocksSet ? maxCorrectionMs : 0)]).toEqual([
                name,
                true,
              ]);
            else if (!areClocksSet)
              expect([name, isAllowed(name, -maxDelayMs - 1)]).toEqual([name, false]);
            if (!decision) return false;
            const ad = { format: decision.format, placement: name, atMs: truth.nowMs };
            const delayMs = delays[truth.ads.length % delays.length] ?? 0;
            truth.ads.push(ad);
            // By the next ad, the impression has arrived.
            play(maxDelayMs + 1);
            service.record.unshift({ id: decision.id, ...ad, atMs: ad.atMs + delayMs });
            return true;
          };
          for (const next of plan) {
            const given = devices[next.device === 0 ? 0 : 1];
            if (next.type === 'play') play(next.ms);
            else if (next.type === 'reload') given.reload();
            else if (next.type === 'setClock') given.setClock(next.ms);
            else if (next.type === 'sleep') {
              devices[next.device === 0 ? 1 : 0].play(next.ms);
              given.sleep(next.ms);
              truth.nowMs += next.ms;
            } else if (next.type === 'show') show(next.placement, next.device);
            else if (next.type === 'await' && !show(next.placement, next.device)) {
              const waitMs = given.load().waitMs(next.placement);
              // Whatever happened to the clocks, a device waits no longer than a rule.
              expect(waitMs).toBeLessThanOrEqual(86_400_000 + maxDelayMs);
              if (waitMs > 7_200_000) continue;
              play(Math.ceil(waitMs));
              show(next.placement, next.device);
            }
          }
        },
      ),
      { numRuns },
    );
  },
);
