/** The state, for its metrics, of a service in which nothing happens. */
export const idleState = {
  configuration: { ageMs: () => 0, disabledWebhooks: () => 0 } as never,
  lanes: {},
  heldRequests: () => 0,
  intake: { jobs: () => ({ running: 0, waiting: 0 }) },
};
