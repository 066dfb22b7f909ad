/** A service process's metrics at one point in time. */
export interface Sample {
  /** The time since the run started. */
  minutes: number;
  memoryMb: number;
  heapMb: number;
  /** The number of writes that are waiting for a commit. */
  queued: number;
  connections: number;
  /** The number of pending deliveries. */
  pending: number;
  overdueS: number;
  configurationAgeS: number;
}

/** Reads a process's metrics. */
export async function readSample(url: string, minutes: number): Promise<Sample> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const read = (name: string): number => {
    const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return {
    minutes,
    memoryMb: read('process_resident_memory_bytes') / 1e6,
    heapMb: read('nodejs_heap_size_used_bytes') / 1e6,
    queued: read('trueward_queue_length'),
    connections: read('trueward_database_connections\\{of="open"\\}'),
    pending: read('trueward_webhook_deliveries_pending'),
    overdueS: read('trueward_webhook_overdue_seconds'),
    configurationAgeS: read('trueward_configuration_age_seconds'),
  };
}

type Metric = Exclude<keyof Sample, 'minutes'>;

/**
 * Growth up to this amount is considered noise. Possible causes are uncollected garbage and spikes in concurrent
 * players.
 */
const noiseThresholds: Record<Metric, number> = {
  memoryMb: 32,
  heapMb: 16,
  queued: 50,
  connections: 2,
  pending: 50,
  overdueS: 5,
  configurationAgeS: 2,
};

/**
 * Returns the metrics that have grown. Compares each metric's median in the last third of the run with that in the
 * middle third. The difference must exceed both 10% and the metric's noise threshold. The first third counts as
 * warm-up and is ignored.
 */
export function findGrowth(samples: readonly Sample[]): string[] {
  const thirdLength = Math.floor(samples.length / 3);
  const [middleThird, lastThird] = [
    samples.slice(thirdLength, 2 * thirdLength),
    samples.slice(2 * thirdLength),
  ];
  return (Object.keys(noiseThresholds) as Metric[]).flatMap((metric) => {
    const [middleMedian, lastMedian] = [median(middleThird, metric), median(lastThird, metric)];
    const hasGrown =
      lastMedian > middleMedian * 1.1 && lastMedian - middleMedian > noiseThresholds[metric];
    return hasGrown
      ? [`${metric} grew from ${middleMedian.toFixed(1)} to ${lastMedian.toFixed(1)}`]
      : [];
  });
}

function median(samples: readonly Sample[], metric: Metric): number {
  const sorted = samples.map((sample) => sample[metric]).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
