/**
 * Simulates players in a separate process, so that measuring doesn't delay them: requests decisions at a fixed rate, however
 * slow the responses are. Reports the latencies, measured from the time at which each request was due.
 */
import { Pool } from 'undici';

async function play({ url, key, perSecond, seconds }) {
  const pool = new Pool(url, { connections: 64, pipelining: 1 });
  const latencies = [];
  const run = Date.now();
  let failed = 0;
  const request = async (dueMs, player) => {
    try {
      const response = await pool.request({
        path: '/v1/decisions',
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140 Safari/537.36',
        },
        body: JSON.stringify({ placement: 'revive', user_ref: `player-${run}-${player}` }),
      });
      await response.body.dump();
      if (response.statusCode !== 200) failed += 1;
      latencies.push(performance.now() - dueMs);
    } catch {
      failed += 1;
    }
  };
  const startMs = performance.now();
  const pending = new Set();
  for (let player = 0; player < perSecond * seconds; player += 1) {
    const dueMs = startMs + (player * 1_000) / perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const done = request(dueMs, player).finally(() => pending.delete(done));
    pending.add(done);
  }
  await Promise.all(pending);
  await pool.close();
  process.send({ latencies, failed });
}
process.once('message', (load) => void play(load));
process.on('disconnect', () => process.exit());
