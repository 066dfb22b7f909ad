/** Wall time in unix milliseconds. Domain code never asks the system itself, so that tests can. */
export interface Clock {
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
