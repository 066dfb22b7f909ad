import type { RunInfo } from './run-info.ts';
import type { Size } from './bundle.ts';
import type { ContenderInfo } from './contenders.ts';
import type { FaultyDrainResult } from './measure/faulty-drain.ts';
import type { KillResult } from './measure/kill.ts';
import type { PageResult } from './measure/life.ts';

/** One contender's measurements. */
export interface Measurements {
  facts: ContenderInfo;
  size: Size | undefined;
  life: PageResult | undefined;
  kills: KillResult[];
  faultyDrain: FaultyDrainResult | undefined;
}

/** A run's measurements. */
export interface Results {
  about: RunInfo;
  measurements: Measurements[];
  /** The measurements that failed or were skipped, with the reason. */
  gaps: string[];
  minutes: number;
}
