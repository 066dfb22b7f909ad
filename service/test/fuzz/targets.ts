import type { Decision, Guest, SourceCallbackSecret } from '@trueward/protocol/wire';
import { signUserToken } from '../../../src/server/index.ts';
import { createClient } from '../http/client.ts';
import type { InProcessService } from '../in-process.ts';
import { createObjects } from './objects.ts';
import type { Operation } from './operations.ts';

/** What random requests address, and the tokens with which they prove who sends them. */
export interface Targets {
  /** Replaces the parameters in an operation's path with ids that exist, or with hostile text. */
  fillPath(operation: Operation, random: () => number): string;
  /** Returns the headers, besides the key, with which the operation's caller authenticates. */
  proofs(operation: Operation, random: () => number): Record<string, string>;
  /** Returns the query parameters, if any, with which the operation's caller authenticates. */
  queryProofs(operation: Operation): Record<string, string>;
  /** The values of body members that only mean something if they are real. */
  members: Record<string, string>;
  /** Must be called with each successful response: some make the tokens invalid. */
  onResponse(operation: Operation, body: string): Promise<void>;
}

const hostileSegment = 'xyz_%27%22%00';
const player = 'player-1';

/** Creates the objects and players of a run. */
export async function createTargets(running: InProcessService): Promise<Targets> {
  const client = createClient(running);
  const ids = await createObjects(running);
  const makeGuest = async (): Promise<Guest> =>
    (await client.call<Guest>('POST', '/v1/players', client.publishable)).body;
  const [guest, other] = await Promise.all([makeGuest(), makeGuest()]);
  const grant = { type: 'coins', amount: 1_000_000, reason: 'lost' };
  for (const ref of [player, guest.player_ref, other.player_ref])
    await client.manage('POST', `/v1/wallets/${ref}/grants`, grant);
  const source = await client.manage<{ id: string }>('POST', '/v1/sources', {
    name: 'Network',
    kind: 'page',
    adapter: 'custom:network',
    placements: ['revive'],
  });
  const path = `/v1/sources/${source.id}/callback`;
  const { secret = '' } = await client.manage<SourceCallbackSecret>('POST', path, {});
  const decision: Decision & { token: string } = await client.decideImage('somebody');
  const { secret: signer } = await client.manage<{ secret: string }>(
    'POST',
    '/v1/user_token_secrets',
    { overlap_s: 86_400 },
  );
  let userToken = await signUserToken(player, signer);

  /** The known values of each path parameter except `id`, whose values depend on the path. */
  const values: Record<string, string[]> = {
    // Not the guest whose token is sent: signing out its devices would end the proofs.
    player_ref: [player, other.player_ref, 'nobody'],
    user_ref: [other.player_ref, 'nobody'],
    type: ['coins', 'double_xp'],
  };
  /** Ids by the path segment after `/v1`. */
  const idsByGroup = { ...ids, 'source-callbacks': source.id, decisions: decision.id };
  const listValues = (name: string, path: string): string[] => {
    const id = name === 'id' && idsByGroup[(path.split('/')[2] ?? '') as keyof typeof idsByGroup];
    const known = id ? [id] : values[name];
    if (known) return known;
    throw new Error(
      `The path parameter ${name} of ${path} has no known values. Add some in service/test/fuzz/targets.ts, or an object in objects.ts if it is an id.`,
    );
  };
  return {
    members: { from: guest.player_token },
    fillPath({ path, method }, random) {
      return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const known = listValues(name, path);
        const value = known[Math.floor(random() * known.length)] ?? '';
        // Most DELETE requests target nothing, because later requests still need the key and the objects.
        if (method === 'DELETE' && random() < 0.9) return 'plc_none';
        return random() < 0.7 ? encodeURIComponent(value) : hostileSegment;
      });
    },
    proofs({ path, keys, parameters }, random): Record<string, string> {
      if (path === '/v1/decisions/{id}' && keys.includes('publishable'))
        return { 'decision-token': decision.token };
      if (!parameters.some(({ in: place, name }) => place === 'header' && name === 'player-token'))
        return {};
      const kind = random();
      if (kind < 0.05) return {};
      if (kind < 0.15) return { 'player-token': random() < 0.5 ? 'ply.none' : 'x'.repeat(3_000) };
      return { 'player-token': kind < 0.6 ? guest.player_token : userToken };
    },
    queryProofs: ({ path }): Record<string, string> =>
      path.startsWith('/v1/source-callbacks/') ? { key: secret, decision_id: decision.id } : {},
    async onResponse({ id }, body) {
      if (id !== 'createUserTokenSecret') return;
      const created = JSON.parse(body) as { secret?: string };
      // A repeated response doesn't contain the secret.
      if (created.secret !== undefined) userToken = await signUserToken(player, created.secret);
    },
  };
}
