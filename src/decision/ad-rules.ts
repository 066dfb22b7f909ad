import type { AdLimit, AdLimits, Decision, PlayerSession } from '../../protocol/wire.ts';
import { type Clock, startStopwatch } from '../platform/clock.ts';
import { crc32 } from '../platform/key-format.ts';
import { attempt } from '../platform/guard.ts';
import type { PageLifecycle } from '../platform/page.ts';
import { hasShape, parseJson, toJson } from '../transport/service-client.ts';
import { durationMs } from './no-ad.ts';
import { isLimits } from './read-decision.ts';

type Format = Decision['format'];
/** An ad that the player has seen on this device, `ago` milliseconds ago. */
interface SeenAd {
  id: string;
  format: Format;
  placement: string;
  ago: number;
}

/** Applies the ad rules on this device, so that the game knows when the next ad may be shown without asking. */
export interface AdRules {
  /**
   * How long the placement’s next ad has to wait, in milliseconds. 0 if it may be shown, or if nothing is known of the
   * placement. `Infinity` if it has to wait for the next session.
   */
  waitMs(placement: string, segments?: readonly string[], format?: Format): number;
  /** The placement’s format, if the service has told it. */
  formatOf(placement: string): Format | undefined;
  /** The session, as a request for the player’s ad reports it. */
  session(userRef?: string): PlayerSession;
  /** Learns from a response. */
  learn(decision: Decision): void;
  /** Prepares for the ad’s impression. */
  take(ad: Pick<Decision, 'format' | 'id' | 'placement'>): void;
  /** Counts the ad: its impression has been measured. */
  onImpression(decisionId: string): void;
  /** Forgets what the service knows of the current player. */
  forgetPlayer(): void;
  destroy(): void;
}

export interface AdRulesDeps {
  /** The key in the browser’s storage. */
  name: string;
  clock: Clock;
  lifecycle: PageLifecycle;
  /** Whether consent is known. Until then, nothing is read or stored. */
  isConsentKnown(): boolean;
  /** The browser’s storage. May throw. */
  storage(): Pick<Storage, 'getItem' | 'setItem'>;
  /** Called when a new session has started. */
  onChange(): void;
}

/**
 * What the device remembers. Every duration is in milliseconds before or after `at`, so a clock that was set back
 * between two visits can’t hold an ad back for longer than its rule.
 */
interface Memory {
  /** When this was stored, in milliseconds since the Unix epoch. */
  at: number;
  /** How long ago the session started. */
  age: number;
  /** How long ago the player was last here. */
  away: number;
  /** Oldest first. */
  ads: SeenAd[];
  limits: AdLimits;
  formats: Record<string, Format>;
  /** How long each format has to wait, as far as the service knows from the player’s other devices. */
  waits: Partial<Record<Format, number>>;
  /** Checksums of the players that the game has named within a day. */
  players: number[];
  /** How long ago the first of them was named. */
  named: number;
}

/** A session ends when the player has been away for this long. */
const sessionGapMs = 1_800_000;
/** How often a visible page records that the player is here. */
const beatMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** As many ads as a rule may count, and as a request may report. */
const maxAds = 100;
/** As many players as a request may report. */
const maxPlayers = 10;

/** Whether the stored value can be used. The page may have changed it, but it holds no ad back for ever. */
function isMemory(value: unknown): value is Memory {
  const shape = { at: 0, age: 0, away: 0, ads: [], limits: {}, formats: {}, waits: {}, named: 0 };
  if (!hasShape(value, shape)) return false;
  const { ads, age, limits, players, waits } = value as Memory;
  return (
    age >= 0 &&
    Array.isArray(players) &&
    isLimits(limits) &&
    // A rule holds an ad back for a day at most, but the clocks of the service's processes may differ.
    Object.values(waits).every((waitMs) => waitMs < 2 * dayMs) &&
    // The service would refuse every request with an ad that says less.
    ads.every((ad) => hasShape(ad, { id: '', format: '', placement: '', ago: 0 }) && ad.ago >= 0)
  );
}

/** Returns how long a rule holds an ad back, in milliseconds. No rule of the service says more than the limits here. */
function findRuleWaitMs(rule: AdLimit, ads: readonly SeenAd[], ageMs: number): number {
  const { first_after_s: firstS = 0, gap_s: gapS = 0, gap_after: gapAfter } = rule;
  const counted = ads.filter((ad) => isFor(rule, ad.placement, ad.format));
  const waitAfter = (ad: SeenAd | undefined, periodMs: number): number =>
    ad ? periodMs - ad.ago : 0;
  const nth = (max: number | undefined) => (max ? counted.at(-max) : undefined);
  const preceding = gapAfter
    ? ads.filter(({ format }) => (gapAfter as string[]).includes(format))
    : counted;
  const lastOfSession = nth(rule.max_per_session);
  return Math.max(
    Math.min(firstS * 1_000, hourMs) - ageMs,
    waitAfter(preceding.at(-1), Math.min(gapS * 1_000, dayMs)),
    waitAfter(nth(rule.max_per_hour), hourMs),
    waitAfter(nth(rule.max_per_day), dayMs),
    lastOfSession && lastOfSession.ago <= ageMs ? Infinity : 0,
  );
}

const isFor = ({ formats, placements = [] }: AdLimit, placement: string, format: Format): boolean =>
  formats.includes(format) && (placements.length === 0 || placements.includes(placement));

/** Returns a segment in the form in which the service stores it in rules. */
const toOneLine = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ')
    .trim();

/** Creates the {@link AdRules}, and continues the session or starts a new one. */
export function createAdRules(deps: AdRulesDeps): AdRules {
  const { clock, lifecycle, name } = deps;
  let memory: Memory = {
    at: 0,
    age: 0,
    away: 0,
    ads: [],
    limits: { version: '', rules: [] },
    formats: {},
    waits: {},
    players: [],
    named: 0,
  };
  let elapsedMs = startStopwatch(clock);
  /** The stored text, as this page last read or wrote it. */
  let text: string | null = null;
  let ended = false;
  /** Ads that may be seen next, by decision. */
  const taken = new Map<string, SeenAd>();

  /** Reads what other tabs and earlier visits have stored. */
  function load(): Memory {
    const stored = deps.isConsentKnown() && attempt(() => deps.storage().getItem(name));
    if (!stored || stored === text) return memory;
    text = stored;
    const next = parseJson(stored);
    if (!isMemory(next)) return memory;
    memory = next;
    const goneMs = Math.max(0, clock.now() - memory.at);
    const sinceMs = startStopwatch(clock);
    elapsedMs = () => goneMs + sinceMs();
    return memory;
  }

  /** Returns the ads with their current ages. */
  const listAds = (): SeenAd[] =>
    load()
      .ads.map((ad) => ({ ...ad, ago: ad.ago + elapsedMs() }))
      .filter(({ ago }) => ago < dayMs);

  function save(change: Partial<Memory>): void {
    const ads = listAds();
    const { age, away, named, waits } = memory;
    const passedMs = elapsedMs();
    const left = Object.entries(waits).map(([format, waitMs]) => [format, waitMs - passedMs]);
    elapsedMs = startStopwatch(clock);
    memory = {
      ...memory,
      at: clock.now(),
      age: age + passedMs,
      away: away + passedMs,
      named: named + passedMs,
      ads,
      waits: Object.fromEntries(left) as Memory['waits'],
      ...change,
    };
    // The page may have another instance by now, whose memory is newer.
    if (ended || !deps.isConsentKnown()) return;
    const next = toJson(memory);
    attempt(() => {
      deps.storage().setItem(name, next);
      // If the storage is full, it still contains what this page has read already.
      text = next;
    });
  }

  /** Records that the player is here. */
  function touch(): void {
    const isNew = load().away + elapsedMs() >= sessionGapMs;
    save({ away: 0, ...(isNew && { age: 0 }) });
    if (isNew) deps.onChange();
  }
  function beat(): void {
    if (lifecycle.isVisible()) touch();
    cancelBeat = clock.after(beatMs, beat);
  }
  /** Returns what is known now. A call means that the player is here; after a long absence, a new session begins. */
  function current(): Memory {
    // After sleep, the next beat may be a minute away.
    if (lifecycle.isVisible() && load().away + elapsedMs() >= beatMs) touch();
    return load();
  }
  /** Remembers the player, and returns how many the game has named within a day. */
  function countPlayers(userRef: string): number {
    const player = crc32(userRef);
    const known = load().named + elapsedMs() < dayMs ? memory.players : [];
    if (!known.includes(player))
      save({
        players: known.concat(player).slice(-maxPlayers),
        ...(!known.length && { named: 0 }),
      });
    return Math.min(memory.players.length, maxPlayers);
  }
  const stopListening = lifecycle.onTransition((pageTransition) => {
    // A page in the background also runs again for a moment, every few minutes, although the player is away.
    if (pageTransition === 'visible' || pageTransition === 'hidden') touch();
  });
  touch();
  let cancelBeat = clock.after(beatMs, beat);

  return {
    waitMs(placement, segments = [], wanted) {
      const ownSegments = segments.map(toOneLine);
      const { age, formats, limits, waits } = current();
      // Until the service has told the format, it is the one that a call to show the ad needs.
      const format = wanted ? (formats[placement] ??= wanted) : formats[placement];
      if (!format || (limits.rules.length === 0 && !waits[format])) return 0;
      const ads = listAds();
      const findWaits = (): number[] =>
        limits.rules
          .filter(
            (rule) =>
              isFor(rule, placement, format) &&
              (!rule.segments?.length || rule.segments.some((name) => ownSegments.includes(name))),
          )
          .map((rule) => findRuleWaitMs(rule, ads, age + elapsedMs()));
      // The page may have changed what is stored. The service applies the rules in any case.
      const known = (attempt(findWaits) ?? []).concat((waits[format] ?? 0) - elapsedMs());
      return Math.max(0, ...known.filter((waitMs) => !Number.isNaN(waitMs)));
    },
    formatOf: (placement) => load().formats[placement],
    session(userRef) {
      const { age, limits } = current();
      const toSeconds = (ms: number): number =>
        Math.round(Math.min(Math.max(ms, 0), 7 * dayMs)) / 1_000;
      return {
        age_s: toSeconds(age + elapsedMs()),
        ...(userRef !== undefined && { players: countPlayers(userRef) }),
        ...(limits.version && {
          rules_version: limits.version,
          ads: listAds()
            .slice(-maxAds)
            .map(({ ago, ...ad }) => ({ ...ad, ago_s: toSeconds(ago) })),
        }),
      };
    },
    learn({ ad_rules: limits, format, issued_at: issuedAt, next_ad_at: next, placement }) {
      load();
      // Until the time is over, no request is sent that could correct it.
      const waits = Object.entries(next ?? {})
        .map(([name, at]) => [name, Math.min(durationMs(issuedAt, at), dayMs)] as const)
        .filter(([, waitMs]) => waitMs > 0);
      save({
        ...(limits && { limits }),
        formats: { ...memory.formats, [placement]: format },
        waits: Object.fromEntries(waits) as Memory['waits'],
      });
    },
    take({ format, id, placement }) {
      taken.set(id, { id, format, placement, ago: 0 });
    },
    onImpression(decisionId) {
      const ad = taken.get(decisionId);
      if (!ad || !taken.delete(decisionId)) return;
      const ads = listAds();
      // Many banners must not displace the few interstitials of the day.
      const [oldest] = ads.filter(({ format }) => format === ad.format).slice(0, 1 - maxAds);
      save({ ads: ads.filter((other) => other !== oldest).concat(ad) });
    },
    forgetPlayer() {
      load();
      save({ waits: {} });
    },
    destroy() {
      ended = true;
      cancelBeat();
      stopListening();
    },
  };
}
