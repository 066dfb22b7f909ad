import { afterAll, beforeAll } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { createPanelClient, type PanelClient, signInAs, signInOwner } from './panel-client.ts';

/** Starts a service and signs its owner in, for the tests in one file. Read the properties only in tests and hooks. */
export class PanelSetup {
  readonly clock = createManualClock(Date.parse('2030-01-01T00:00:00Z'));
  runningService!: InProcessService;
  owner!: PanelClient;

  constructor(env: Record<string, string> = {}) {
    beforeAll(async () => {
      const { clock } = this;
      this.runningService = await startInProcess({ RATE_LIMITS: 'off', ...env }, { clock });
      this.owner = await signInOwner(this.runningService);
    });
    afterAll(() => this.runningService.stop());
  }

  get database() {
    return this.runningService.service.database;
  }

  /** Opens the panel in another browser, in which nobody has signed in. */
  readonly openBrowser = (): PanelClient => createPanelClient(this.runningService.url);

  /** Invites a user and signs the user in. */
  readonly signInAs = (role: Parameters<typeof signInAs>[2]): ReturnType<typeof signInAs> =>
    signInAs(this.runningService, this.owner, role);
}

/** A response's status and problem code. */
export const summarize = ({ status, body }: { status: number; body?: { code?: string } }) => [
  status,
  body?.code,
];
