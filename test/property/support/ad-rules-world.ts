import type { AdRule, Decision } from '../../../protocol/wire.ts';
import {
  compileAdRules,
  findHold,
  findNextTimes,
  findRuleEnds,
  joinVisit,
  type SeenAd,
  selectAdRules,
} from '../../../service/src/decision/ad-rules.ts';
import { firstIdAt } from '../../../service/src/platform/ids.ts';
import { type AdRules, createAdRules } from '../../../src/decision/ad-rules.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { createTestPage } from '../../support/ports.ts';

type Format = Decision['format'];

/** The placements of the game. */
export const placements: Readonly<Record<string, Format>> = {
  'level-end': 'interstitial',
  shop: 'interstitial',
  revive: 'rewarded',
};

/** A device whose clocks and page the test controls. Its timers run in order, without waiting. */
export function createDevice(startMs: number) {
  let monotonicMs = 0;
  let wallMs = startMs;
  const timers = new Set<{ atMs: number; callback: () => void }>();
  const clock: Clock = {
    now: () => wallMs,
    monotonic: () => monotonicMs,
    after(ms, callback) {
      const timer = { atMs: monotonicMs + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  let load: AdRules;
  const openPage = (): void => {
    timers.clear();
    load = createAdRules({
      name: 'game',
      clock,
      lifecycle: createTestPage(),
      isConsentKnown: () => true,
      storage: () => storage,
      onChange: () => {},
    });
  };
  openPage();
  return {
    clock,
    load: (): AdRules => load,
    reload: openPage,
    /** The player plays for this long. */
    play(ms: number) {
      const endMs = monotonicMs + ms;
      const advanceTo = (atMs: number): void => {
        wallMs += atMs - monotonicMs;
        monotonicMs = atMs;
      };
      for (;;) {
        const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
        if (!next || next.atMs > endMs) break;
        timers.delete(next);
        advanceTo(next.atMs);
        next.callback();
      }
      advanceTo(endMs);
    },
    /** The device sleeps with the page open. */
    sleep: (ms: number) => (wallMs += ms),
    setClock: (changeMs: number) => (wallMs += changeMs),
  };
}

export type Device = ReturnType<typeof createDevice>;

/** The part of the service that applies ad rules, and its record of one player's ads. */
export function createService(
  rules: readonly AdRule[],
  { isIdentified }: { isIdentified: boolean },
) {
  const compiled = compileAdRules(rules);
  const record: SeenAd[] = [];
  let count = 0;
  return {
    compiled,
    record,
    /** Asks for an ad, and shows it if the device and the service both allow it. Returns its decision. */
    show(device: Device, placement: string, nowMs: number): Decision | undefined {
      const format = placements[placement] ?? 'interstitial';
      if (device.load().waitMs(placement, [], format) > 0) return undefined;
      const session = device.load().session();
      const visit = joinVisit(format, session, isIdentified ? record : [], nowMs);
      const applicable = selectAdRules(compiled, { format, name: placement });
      const ends = findRuleEnds(compiled.enabled, visit, []);
      const hold = findHold(applicable, ends, nowMs);
      const times = findNextTimes(compiled, ends, nowMs);
      const decision: Decision = {
        id: `${firstIdAt('decision', nowMs).slice(0, -8)}${String((count += 1)).padStart(8, '0')}`,
        status: hold ? 'no_fill' : 'filled',
        placement,
        format,
        issued_at: new Date(nowMs).toISOString(),
        expires_at: new Date(nowMs + 600_000).toISOString(),
        ...(session.rules_version !== compiled.limits.version && { ad_rules: compiled.limits }),
        next_ad_at: Object.fromEntries(
          [...times].map(([name, atMs]) => [name, new Date(atMs).toISOString()]),
        ),
      };
      device.load().learn(decision);
      // The rules may have arrived with this very decision.
      if (hold || device.load().waitMs(placement, [], format) > 0) return undefined;
      device.load().take(decision);
      device.load().onImpression(decision.id);
      return decision;
    },
  };
}

/** What really happened. */
export interface Truth {
  nowMs: number;
  /** Oldest first. */
  ads: { format: Format; placement: string; atMs: number }[];
  sessionStartMs: number;
}

/** Returns when the rules allow the next ad, by what really happened. Written from the rules' description alone. */
export function findTruth(rules: readonly AdRule[], placement: string, truth: Truth): number {
  const format = placements[placement] ?? 'interstitial';
  const matches = (rule: AdRule, ad: { format: Format; placement: string }): boolean =>
    rule.formats.includes(ad.format) &&
    (!rule.placements?.length || rule.placements.includes(ad.placement));
  const isAllowed = (rule: AdRule, atMs: number, sessionStartMs: number): boolean => {
    const counted = truth.ads.filter((ad) => matches(rule, ad));
    const within = (ms: number): number => counted.filter((ad) => atMs - ad.atMs < ms).length;
    const { gap_after: after } = rule;
    const preceding = after
      ? truth.ads.filter((ad) => (after as string[]).includes(ad.format))
      : counted;
    return (
      atMs - sessionStartMs >= (rule.first_after_s ?? 0) * 1_000 &&
      preceding.every((ad) => atMs - ad.atMs >= (rule.gap_s ?? 0) * 1_000) &&
      within(3_600_000) < (rule.max_per_hour ?? Infinity) &&
      within(86_400_000) < (rule.max_per_day ?? Infinity) &&
      counted.filter((ad) => ad.atMs >= sessionStartMs).length < (rule.max_per_session ?? Infinity)
    );
  };
  const applicable = rules.filter((rule) => rule.enabled && matches(rule, { format, placement }));
  const allowed = (atMs: number): boolean =>
    applicable.every((rule) => isAllowed(rule, atMs, truth.sessionStartMs));
  if (allowed(truth.nowMs)) return truth.nowMs;
  // Whatever holds an ad back ends at one of these times.
  const ends = truth.ads.flatMap(({ atMs }) => [
    atMs + 3_600_000,
    atMs + 86_400_000,
    ...applicable.map((rule) => atMs + (rule.gap_s ?? 0) * 1_000),
  ]);
  const starts = applicable.map((rule) => truth.sessionStartMs + (rule.first_after_s ?? 0) * 1_000);
  const candidates = [...ends, ...starts].filter((atMs) => atMs > truth.nowMs);
  return candidates.sort((a, b) => a - b).find(allowed) ?? Infinity;
}
