import type { About } from './about.ts';
import type { Size } from './bundle.ts';
import type { ContestantFacts } from './contestants.ts';
import type { FaultyDrainResult } from './measure/faulty-drain.ts';
import type { KillResult } from './measure/kill.ts';
import type { LifeResult } from './measure/life.ts';

/** All that was measured of one contestant. */
export interface Measured {
  facts: ContestantFacts;
  size: Size | undefined;
  life: LifeResult | undefined;
  kills: KillResult[];
  faultyDrain: FaultyDrainResult | undefined;
}

/** All that a run measured. */
export interface Results {
  about: About;
  measured: Measured[];
  /** What could not be measured, and why. */
  gaps: string[];
  minutes: number;
}
