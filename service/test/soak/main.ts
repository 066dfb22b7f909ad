/** `npm run soak`: keeps two service processes under steady load for half an hour. See `--help`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { startCluster } from '../faults/cluster.ts';
import { startPlayers } from '../faults/players.ts';
import { printFindings, verify, waitUntilDelivered } from '../faults/verify.ts';
import { createClient } from '../http/client.ts';
import { startReceiver } from '../http/receiver.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { plot } from './plot.ts';
import { findGrowth, readSample, type Sample } from './sample.ts';

const {
  minutes,
  players: playerCount,
  out,
} = readOptions({
  name: 'soak',
  about: `Players watch ads, and webhooks report their rewards, at a steady rate on two service processes and a private PostgreSQL
server. Fails if anything is lost, duplicated or never delivered, or if memory or queues grow.`,
  options: {
    minutes: { type: 'number', default: 30, help: 'duration' },
    players: { type: 'whole', default: 150, help: 'concurrent players' },
    out: {
      type: 'text',
      shown: 'folder',
      default: 'docs/benchmarks/service',
      help: 'the folder for soak.svg',
    },
  },
});
const postgres = await startPrivatePostgres();
if (!postgres) throw new Error('PostgreSQL is not installed.');
const receiver = await startReceiver();
const cluster = await startCluster({
  databaseUrl: postgres.url,
  processes: 2,
  env: { DATABASE_TIMEOUT_S: '10' },
});
const client = createClient({ url: cluster.urls[0] ?? '', keys: cluster.keys });
await client.call('POST', '/v1/webhooks', client.secret, {
  url: receiver.url,
  events: ['decision.rewarded'],
});
const players = startPlayers({
  urls: cluster.urls,
  key: client.publishable,
  count: playerCount,
});

const samples: Sample[][] = cluster.urls.map(() => []);
const startedAtMs = performance.now();
const getElapsedMinutes = (): number => (performance.now() - startedAtMs) / 60_000;
const sampleIntervalMs = Math.max(1_000, (minutes * 60_000) / 360);
while (getElapsedMinutes() < minutes) {
  await sleep(sampleIntervalMs);
  const currentSamples = await Promise.all(
    cluster.urls.map((url) => readSample(url, getElapsedMinutes())),
  );
  currentSamples.forEach((sample, index) => samples[index]?.push(sample));
  const { decisions, events, rewards } = players.acknowledged;
  console.log(
    `${getElapsedMinutes().toFixed(1)} min: ${decisions.size} decisions, ${events.size} events, ${rewards.size} rewards; ` +
      currentSamples
        .map(
          ({ memoryMb, queued, pending }) =>
            `${memoryMb.toFixed(0)} MB, ${queued} queued, ${pending} pending`,
        )
        .join(' | '),
  );
}
await players.stop();
await waitUntilDelivered(postgres.url);
const { lost, duplicated, undelivered, inconsistent } = await verify(
  postgres.url,
  players.acknowledged,
  receiver.requests,
);
await cluster.stop();
await receiver.close();
await postgres.stop();

const growth = samples.flatMap((processSamples, index) =>
  findGrowth(processSamples).map((text) => `process ${index + 1}: ${text}`),
);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'soak.svg'), plot(samples));
printFindings({
  growth,
  lost,
  duplicated,
  undelivered,
  inconsistent,
  unexpectedResponses: players.unexpectedResponses,
});
