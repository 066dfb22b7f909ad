/**
 * `npx tsx service/test/upgrade/record.ts`: runs the previous release and records its responses and signatures in
 * `recorded.json`.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DecisionTokens, TokenClaims } from '../../src/decision/token.ts';
import { startReceiver } from '../http/receiver.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { startService } from '../start-service.ts';
import { buildPrevious, findPreviousRevision } from './build-previous.ts';
import { play, type Step, steps } from './play.ts';

/** The contents of `recorded.json`. */
export interface Recording {
  revision: string;
  /** Tokens and their claims. The key is used only for this recording. */
  tokens: { key: string; signed: { claims: TokenClaims; text: string }[] };
  steps: Step[];
  /** A delivery and its signing secret. */
  webhook: { secret: string; headers: Record<string, string>; body: string };
}

const claims: TokenClaims = {
  decisionId: 'dec_01k9xq3v5z8e6t0w2y4a7c1f3h',
  accountId: 'acc_01k9xq3v5z8e6t0w2y4a7c1f3h',
  environment: 'live',
  placement: 'revive',
  creativeId: 'crv_01k9xq3v5z8e6t0w2y4a7c1f3h',
  issuedAtMs: 1_795_255_200_000,
  expiresAtMs: 1_795_255_800_000,
};
const users = [undefined, 'player-42', 'a ~ b "c" .%7E'];

const revision = findPreviousRevision();
const main = await buildPrevious(revision);
const tokenFile = new URL('../src/decision/token.ts', pathToFileURL(main));
const { createDecisionTokens } = (await import(tokenFile.href)) as {
  createDecisionTokens(key: string): DecisionTokens;
};
const key = 'a-key-of-recorded-tokens';
const signed = users.map((userRef) => {
  const signedClaims = userRef === undefined ? claims : { ...claims, userRef };
  return { claims: signedClaims, text: createDecisionTokens(key).sign(signedClaims) };
});

const postgres = await startPrivatePostgres();
if (postgres === undefined) throw new Error('Recording requires PostgreSQL.');
const service = await startService({ main, env: { DATABASE_URL: postgres.url } });
const receiver = await startReceiver();
const { publishable, secret: secretKey } = service.keys.sandbox;
const registration = await fetch(`${service.url}/v1/webhooks`, {
  method: 'POST',
  headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({ url: receiver.url, events: ['decision.rewarded'] }),
});
const { secret } = (await registration.json()) as { secret: string };
const playedSteps = await play(steps, { url: service.url, key: publishable, nowMs: Date.now });
const [delivery] = await receiver.waitForRequests(1);
const { body = '', headers = {} } = delivery ?? {};
const recording: Recording = {
  revision,
  tokens: { key, signed },
  steps: playedSteps,
  webhook: { secret, headers, body },
};
writeFileSync(
  fileURLToPath(new URL('recorded.json', import.meta.url)),
  `${JSON.stringify(recording, undefined, 2)}\n`,
);
await service.stop();
await receiver.close();
await postgres.stop();
