import Type from 'typebox';
import { named, ref, time } from './common.ts';
import { userRef } from './decision.ts';
import { rewardType } from './reward.ts';

/** The largest balance and amount. Every JSON parser reads whole numbers up to it exactly. */
const maxAmount = Number.MAX_SAFE_INTEGER;

const balance = Type.Integer({ minimum: 0, maximum: maxAmount });
const version = Type.Integer({
  minimum: 0,
  description: 'The number of changes to the wallet so far.',
});

export const guestSchema = named('Guest', 'A new guest player.', {
  player_ref: userRef,
  player_token: Type.String({
    description:
      'Proves that a request is from this player. Keep it on the device. The service stores only its hash.',
  }),
});

export const entitlementSchema = named('Entitlement', 'Something that a player has for a time.', {
  type: rewardType,
  active_until: time('When it ends, by the service’s clock.'),
});

export const walletSchema = named('Wallet', 'What a player has.', {
  player_ref: userRef,
  balances: Type.Record(Type.String(), balance, {
    description: 'The balance by type. A type that is not listed has a balance of 0.',
  }),
  entitlements: Type.Array(ref('Entitlement'), { description: 'Those that have not ended.' }),
  version,
  now: time('The service’s clock.'),
});

export const spendRequestSchema = named('SpendRequest', 'Spends from a balance.', {
  id: Type.String({
    pattern: '^[A-Za-z0-9-]{8,64}$',
    description:
      'A unique id of your choice, such as a UUID. A retry with the same id is charged once.',
  }),
  type: rewardType,
  amount: Type.Integer({ minimum: 1, maximum: maxAmount }),
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'What the player bought.' }),
  ),
});

export const spendSchema = named('Spend', 'A completed spend.', {
  id: Type.String(),
  type: rewardType,
  amount: Type.Integer({ minimum: 1 }),
  balance,
  version,
});
