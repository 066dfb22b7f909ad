import type { AdEvent } from '../../../protocol/wire.ts';
import type { Random } from './random.ts';
import type { Arrival, ServedAd } from './judge.ts';

/** A player's device and its network. Times are in milliseconds. */
interface Device {
  /** Converts a time on the service's clock to the device's clock. */
  clock(ms: number): number;
  /** Request latency. */
  latency(): number;
  /** The probability that a request is lost. The same probability applies to responses. */
  loss: number;
  /** How long slow storage delays an event. */
  storage(): number;
  /** When the device comes online. It sends no requests before then. */
  onlineAtMs: number;
  /** Probability that an event is sent together with the next event. */
  batching: number;
}

export interface PlayedSession {
  ads: ServedAd[];
  arrivals: Arrival[];
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Watches several ads to the end, one after the other, on one or two devices. */
export function playHonestly(random: Random, startAtMs: number): PlayedSession {
  const devices = [makeDevice(random, startAtMs)];
  if (random.chance(0.1)) devices.push(makeDevice(random, startAtMs));
  const ads: ServedAd[] = [];
  const arrivals: Arrival[] = [];
  let freeAtMs = startAtMs;
  for (let count = random.integer(1, 6); count > 0; count -= 1) {
    const device = random.pick(devices);
    const requiredMs = random.pick([5_000, 5_000, 6_000, 12_000, 15_000, 30_000]);
    const preloadedMs = random.chance(0.5) ? random.integer(30, 800) : random.integer(30, 590_000);
    const adStartAtMs = freeAtMs + random.integer(200, random.pick([1_000, 20_000, 120_000]));
    const ad: ServedAd = {
      id: `dec_${ads.length}`,
      issuedAtMs: Math.max(startAtMs - 590_000, adStartAtMs - preloadedMs),
      requiredMs,
      mediaFormat: random.pick(['video', 'image']),
    };
    const watchEvents = watch(random, ad, adStartAtMs);
    freeAtMs = Math.max(...watchEvents.map(({ atMs }) => atMs));
    ads.push(ad);
    arrivals.push(...send(random, device, ad, watchEvents));
  }
  return { ads, arrivals };
}

function makeDevice(random: Random, startAtMs: number): Device {
  const skewMs = random.pick([
    0,
    random.integer(-2_000, 2_000),
    -90_000,
    7_200_000,
    -31_536_000_000,
  ]);
  const jumpAtMs = startAtMs + random.integer(0, 60_000);
  const jumpMs = random.chance(0.05)
    ? random.pick([-hourMs, hourMs, -5_000, 5_000, -1_500, 1_500, -20_000, 20_000])
    : 0;
  const [fastMs, slowMs] = random.pick([
    [20, 300],
    [20, 300],
    [300, 4_000],
    [1_000, 9_000],
    [50, 15_000],
  ] as const);
  const mayFreeze = random.chance(0.05);
  const hasSlowStorage = random.chance(0.1);
  return {
    clock: (ms) => ms + skewMs + (ms >= jumpAtMs ? jumpMs : 0),
    // A sleeping device finishes the request when it wakes up.
    latency: () =>
      mayFreeze && random.chance(0.2)
        ? random.integer(minuteMs, 3 * hourMs)
        : random.integer(fastMs, slowMs),
    loss: random.pick([0, 0, 0.05, 0.3]),
    storage: () => (hasSlowStorage ? random.integer(0, 6_000) : random.integer(0, 20)),
    onlineAtMs: random.chance(0.1) ? startAtMs + random.integer(minuteMs, 12 * hourMs) : 0,
    batching: random.pick([0, 0.3, 0.8]),
  };
}

interface WatchEvent {
  type: AdEvent['type'];
  atMs: number;
  more?: Pick<AdEvent, 'watched_ms' | 'visible'>;
}

/** Creates the events of one ad view. The ad may pause while the page is hidden or the device sleeps. */
function watch(
  random: Random,
  { requiredMs, mediaFormat }: ServedAd,
  adStartAtMs: number,
): WatchEvent[] {
  const pauseAt = random.real();
  const pauseMs = random.chance(0.1)
    ? random.integer(500, random.pick([20_000, 10 * minuteMs]))
    : 0;
  const speed = 1 + random.real() * 0.02;
  const at = (share: number): number =>
    Math.round(adStartAtMs + requiredMs * share * speed + (share > pauseAt ? pauseMs : 0));
  const visibleMs = mediaFormat === 'video' ? 2_000 : 1_000;
  return [
    { type: 'start', atMs: at(0) },
    {
      type: 'impression',
      atMs: at(visibleMs / requiredMs),
      more: { visible: { ratio: 1, ms: visibleMs } },
    },
    { type: 'first_quartile', atMs: at(0.25) },
    { type: 'midpoint', atMs: at(0.5) },
    { type: 'third_quartile', atMs: at(0.75) },
    { type: 'complete', atMs: at(1), more: { watched_ms: requiredMs } },
    { type: 'close', atMs: at(1) + random.integer(100, 2_000) },
  ];
}

/**
 * Sends events alone or in batches until each event is acknowledged. Responses can be lost too, so some events arrive
 * twice.
 */
function send(
  random: Random,
  device: Device,
  ad: ServedAd,
  watchEvents: readonly WatchEvent[],
): Arrival[] {
  const arrivals: Arrival[] = [];
  let pendingEvents: Arrival['events'] = [];
  let readyAtMs = 0;
  watchEvents.forEach(({ type, atMs, more }, index) => {
    pendingEvents.push({
      id: `event-${ad.id}-${type}`,
      adId: ad.id,
      type,
      occurredAtMs: device.clock(atMs),
      ...more,
    });
    readyAtMs = Math.max(readyAtMs, atMs + device.storage(), device.onlineAtMs);
    if (index < watchEvents.length - 1 && random.chance(device.batching)) return;
    let sentAtMs = readyAtMs + random.integer(0, 50);
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const arrived = attempt === 7 || !random.chance(device.loss);
      // Clock skew between two service processes.
      const receivedAtMs = sentAtMs + device.latency() + random.integer(0, 100);
      if (arrived)
        arrivals.push({ receivedAtMs, sentAtMs: device.clock(sentAtMs), events: pendingEvents });
      if (arrived && !random.chance(device.loss)) break;
      sentAtMs += random.integer(1_000, 10_000) * (attempt + 1);
    }
    pendingEvents = [];
  });
  return arrivals;
}
