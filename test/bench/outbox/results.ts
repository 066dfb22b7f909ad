import type { About } from './about.ts';
import type { Size } from './bundle.ts';
import type { ContestantInfo } from './contestants.ts';
import type { FaultyDrainResult } from './measure/faulty-drain.ts';
import type { KillResult } from './measure/kill.ts';
import type { PageResult } from './measure/life.ts';

/** All measurements of one contestant. */
export interface Measured {
  facts: ContestantInfo;
  size: Size | undefined;
  life: PageResult | undefined;
  kills: KillResult[];
  faultyDrain: FaultyDrainResult | undefined;
}

/** All measurements of a run. */
export interface Results {
  about: About;
  measured: Measured[];
  /** The measurements that failed or were skipped, with the reason. */
  gaps: string[];
  minutes: number;
}
