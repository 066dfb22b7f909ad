import { type RequestOffer, startExchange } from './exchange/exchange.ts';
import { type Intake, startIntake } from './intake/intake.ts';
import { startTrackers } from './tracker/start-trackers.ts';

type Deps = Parameters<typeof startExchange>[0] &
  Parameters<typeof startIntake>[0] &
  Parameters<typeof startTrackers>[0];

/** The running parts of outside demand. */
export interface Demand {
  requestOffer: RequestOffer;
  /** Returns the source's hosts to which this process currently sends no requests, because they failed repeatedly. */
  openHosts(sourceId: string): string[];
  intake: Intake;
  /** Sends the account’s tracker requests that have become due. */
  wakeTrackers(accountId: string): void;
  /** Call it when no decision runs anymore. */
  stop(): Promise<void>;
}

/** Starts everything that ads from external sources need: calls to sources, import of creatives, tracker requests. */
export function startDemand(deps: Deps): Demand {
  const exchange = startExchange(deps);
  const intake = startIntake(deps);
  const trackers = startTrackers(deps);
  return {
    requestOffer: exchange.requestOffer,
    openHosts: exchange.openHosts,
    intake,
    wakeTrackers: trackers.wake,
    async stop() {
      await Promise.all([exchange.stop(), intake.stop(), trackers.stop()]);
    },
  };
}
