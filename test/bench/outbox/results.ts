import type { About } from './about.ts';
import type { Size } from './bundle.ts';
import type { ContestantInfo } from './contestants.ts';
import type { FaultyDrainResult } from './measure/faulty-drain.ts';
import type { KillResult } from './measure/kill.ts';
import type { LifeResult } from './measure/life.ts';

/** All measurements of one contestant. */
export interface Measured {
  facts: ContestantInfo;
  size: Size | undefined;
  life: LifeResult | undefined;
  kills: KillResult[];
  faultyDrain: FaultyDrainResult | undefined;
}

/** All measurements of a run. */
export interface Results {
  about: About;
  measured: Measured[];
  /** Failed measurements, with the reason. */
  gaps: string[];
  minutes: number;
}
