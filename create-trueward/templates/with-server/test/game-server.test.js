import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { signWebhook } from 'trueward/server';
import { createGameServer } from '../server/game-server.js';

const webhookSecret = 'whsec_for_this_test';
let dataDir;
let server;
let url;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'trueward-game-'));
  const game = await createGameServer({
    dataDir,
    webhookSecret,
    serviceUrl: '',
    publishableKey: '',
  });
  server = createServer((request, response) => void game.handle(request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(dataDir, { recursive: true });
});

/** Sends a webhook, signed the way the ad service signs it. */
async function deliver(decisionId, secret = webhookSecret) {
  const body = JSON.stringify({
    id: `evt_${decisionId}`,
    type: 'decision.rewarded',
    created_at: new Date().toISOString(),
    data: {
      decision_id: decisionId,
      placement: 'double-coins',
      user_ref: 'player-1',
      reward: { type: 'coins', amount: 50 },
    },
  });
  const headers = await signWebhook(body, secret, Math.floor(Date.now() / 1000));
  const { status } = await fetch(`${url}/webhooks/trueward`, { method: 'POST', headers, body });
  return status;
}

const coins = async () => (await (await fetch(`${url}/players/player-1`)).json()).coins;

test('credits coins once if a webhook is delivered twice', async () => {
  const before = await coins();
  assert.deepEqual(await Promise.all([deliver('dec_1'), deliver('dec_1')]), [200, 200]);
  assert.equal(await coins(), before + 50);
});

test('rejects a webhook with an invalid signature and credits nothing', async () => {
  const before = await coins();
  assert.equal(await deliver('dec_2', 'whsec_for_another_server'), 400);
  assert.equal(await coins(), before);
});
