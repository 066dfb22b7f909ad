import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestDurations } from '../../src/http/request-durations.ts';

test('durations are told as prom-client tells them', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const durations = new RequestDurations(ours);
  const histogram = new Histogram({
    name: durations.name,
    help: durations.help,
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers: [theirs],
  });
  for (const [method, route, status, seconds] of [
    ['POST', '/v1/decisions', '200', 0.001],
    ['POST', '/v1/decisions', '200', 0.002],
    ['POST', '/v1/decisions', '200', 0.0021],
    ['POST', '/v1/decisions', '429', 0],
    ['POST', '/v1/decisions', '503', 31],
    ['GET', '/v1/decisions', '200', 30],
    ['GET', '/a "route"', '200', 7],
  ] as const) {
    durations.observe(method, route, status, seconds);
    histogram.observe({ method, route, status }, seconds);
  }
  const lines = async (registry: Registry) => (await registry.metrics()).split('\n').toSorted();
  expect(await lines(ours)).toEqual(await lines(theirs));
});
