import type { Logger } from 'pino';
import type { SecretBox } from '../../access/secret-box.ts';
import type { Clock } from '../../platform/time.ts';
import type { Database } from '../../store/database.ts';
import type { LaneDeps } from '../../store/lanes.ts';
import { createGuardedAgents } from '../../platform/guarded-agent.ts';
import {
  type CountEnded,
  createRequestLanes,
  startTrackerDispatcher,
  type TrackerDispatcher,
} from './dispatcher.ts';
import { createTrackerSender, type RequestDeps } from './make-request.ts';

interface Deps {
  database: Database;
  box: SecretBox;
  clock: Clock;
  log: Logger;
  lanes: LaneDeps;
  demandMetrics: { countTrackers: CountEnded };
  development: boolean;
  /** Whether a kill switch currently stops the ad. */
  isKilled: RequestDeps['isKilled'];
}

/** Starts sending the requests for external ads' trackers and for auction notices. */
export function startTrackers(deps: Deps): TrackerDispatcher {
  const { database, clock } = deps;
  const agents = createGuardedAgents();
  const lane = createRequestLanes(database, deps.lanes);
  const dispatcher = startTrackerDispatcher({
    database,
    clock,
    lane,
    countEnded: deps.demandMetrics.countTrackers,
    log: deps.log,
    box: deps.box,
    development: deps.development,
    random: Math.random,
    send: createTrackerSender({ agents }),
    isKilled: deps.isKilled,
  });
  return {
    wake: dispatcher.wake,
    async stop() {
      await dispatcher.stop();
      await lane.drain();
      agents.destroy();
    },
  };
}
