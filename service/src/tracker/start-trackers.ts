import type { Logger } from 'pino';
import type { Configuration } from '../decision/configuration.ts';
import { isKilled } from '../decision/snapshot.ts';
import type { SecretBox } from '../key/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import type { LaneDeps } from '../store/lanes.ts';
import { createGuardedAgents } from '../platform/guarded-agent.ts';
import {
  type CountEnded,
  createRequestLanes,
  startTrackerDispatcher,
  type TrackerDispatcher,
} from './dispatcher.ts';
import { createTrackerSender } from './make-request.ts';

interface Deps {
  database: Database;
  configuration: Pick<Configuration, 'snapshot'>;
  box: SecretBox;
  clock: Clock;
  log: Logger;
  lanes: LaneDeps;
  demandMetrics: { countTrackers: CountEnded };
  development: boolean;
}

/** Starts sending the requests for external ads' trackers and for auction notices. */
export function startTrackers(deps: Deps): TrackerDispatcher {
  const { database, configuration, clock } = deps;
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
    isKilled(scope, { placement, sourceId, advertiserId }) {
      const snapshot = configuration.snapshot(scope);
      const placementId = snapshot.placements.get(placement ?? '')?.placement.id;
      const target = {
        ...(placement !== null && { placement }),
        ...(placementId !== undefined && { placementId }),
        sourceId: sourceId ?? undefined,
        advertiserId: advertiserId ?? undefined,
      };
      return isKilled(snapshot, target, clock.nowMs());
    },
  });
  return {
    wake: dispatcher.wake,
    async stop() {
      await dispatcher.stop();
      await lane.drain();
      await agents.destroy();
    },
  };
}
