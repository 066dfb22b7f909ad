import { readOptions } from '../../../scripts/lib/read-options.mjs';

export const { rounds } = readOptions({
  name: 'bench:first-paint',
  about: `Measures how long a player waits for an ad's first frame, with and without preloading, in real Chromium with the real
service. Writes docs/benchmarks/first-paint.md. 20 rounds take about a minute.`,
  options: { rounds: { type: 'whole', argument: true, default: 20, help: 'how many' } },
});
