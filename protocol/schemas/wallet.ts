import Type from 'typebox';
import { line, named, oneOf, ref, strictObject, time } from './common.ts';
import { userRef } from './decision.ts';
import { rewardType } from './reward.ts';

/** The largest balance and amount. Every JSON parser reads whole numbers up to it exactly. */
const maxAmount = Number.MAX_SAFE_INTEGER;

export const balance = Type.Integer({ minimum: 0, maximum: maxAmount });
export const version = Type.Integer({
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
    pattern: '^[A-Za-z0-9-]{1,64}$',
    description:
      'An id of your choice, unique for the player, such as a UUID, or the name of something that a player buys once. A retry with the same id is charged once, even at another price.',
  }),
  type: rewardType,
  amount: Type.Integer({ minimum: 1, maximum: maxAmount }),
  reason: Type.Optional(line({ maxLength: 64, description: 'What the player bought.' })),
});

export const spendSchema = named('Spend', 'A completed spend.', {
  id: Type.String(),
  type: rewardType,
  amount: Type.Integer({ minimum: 1 }),
  balance,
  version,
});

export const linkCodeSchema = named(
  'LinkCode',
  'A code with which another device becomes the same guest player.',
  {
    code: Type.String({ description: 'Such as `K7QF-2M9X`. It can be used once.' }),
    expires_at: time('When the code expires.'),
  },
);

export const linkRequestSchema = named('LinkRequest', 'Uses a code from another device.', {
  code: Type.String({
    minLength: 8,
    maxLength: 32,
    description: 'The code, in any case, with or without hyphens and spaces.',
  }),
});

export const transferRequestSchema = named(
  'TransferRequest',
  'Moves a guest player’s wallet to a player who has signed in.',
  {
    from: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: 'The `player_token` of the guest player.',
    }),
  },
);

export const walletEntrySchema = named('WalletEntry', 'A change to a wallet.', {
  id: Type.String({
    description:
      'The id of the decision that earned a reward, the id of a spend that its sender chose, the id of a grant, or the id of a transfer, which the entries of both players have.',
  }),
  kind: oneOf(['reward', 'spend', 'grant', 'transfer']),
  type: rewardType,
  delta: Type.Integer({
    description:
      'How much was added to the balance. Negative if it was spent or transferred to another player.',
  }),
  duration_s: Type.Optional(
    Type.Integer({
      description:
        'By how much a timed reward was extended: less than its time if it would end too far ahead. Negative if it was transferred to another player.',
    }),
  ),
  reason: Type.Optional(Type.String()),
  balance: Type.Integer({ minimum: 0, description: 'The balance of this type after the change.' }),
  version,
  at: time('When it happened.'),
});

export const grantRequestSchema = named(
  'GrantRequest',
  'Gives a player something, to make good for a mistake. Has an `amount` or a `duration_s`.',
  {
    type: rewardType,
    amount: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
    duration_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000 })),
    reason: line({ maxLength: 64, description: 'Why, for the audit log.' }),
  },
);

export const deviceSchema = named('Device', 'A device of a guest player.', {
  linked_at: time('When the device became the player’s.'),
  used_at: time('When the device was last used, to within a day.'),
});

export const playerWalletSchema = named('PlayerWallet', 'What a player has, for operators.', {
  player_ref: userRef,
  balances: Type.Record(Type.String(), balance),
  entitlements: Type.Array(ref('Entitlement')),
  version,
  now: time('The service’s clock.'),
  devices: Type.Array(ref('Device'), { description: 'Empty unless the player is a guest.' }),
});

const seconds = (description: string) => Type.Integer({ minimum: 0, description });

export const grantBudgetRequestSchema = named(
  'GrantBudgetRequest',
  'How much users may give to players per day (UTC) in the panel. Default: nothing.',
  {
    amount: Type.Integer({ minimum: 0, maximum: maxAmount, default: 0 }),
    duration_s: Type.Integer({ minimum: 0, maximum: maxAmount, default: 0 }),
  },
);

export const grantBudgetSchema = named(
  'GrantBudget',
  'How much of a type users may give to players per day (UTC) in the panel.',
  {
    type: rewardType,
    amount: balance,
    duration_s: seconds('For timed rewards of this type, of all players together.'),
    used_amount: Type.Integer({ minimum: 0, description: 'What has been given today.' }),
    used_duration_s: seconds('What has been given today.'),
  },
);

export const grantBudgetListSchema = named('GrantBudgetList', 'The budgets, by type.', {
  data: Type.Array(ref('GrantBudget')),
});

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const walletReportSchema = named(
  'WalletReport',
  'What players were credited with and what they spent. Without transfers, and without erased players.',
  {
    from: time('The start of the period.'),
    to: time('The end of the period.'),
    tz: Type.String(),
    data: Type.Array(
      strictObject({
        period: time('The start of the day.'),
        kind: oneOf(['reward', 'grant', 'spend']),
        type: rewardType,
        reason: Type.Optional(
          Type.String({
            description:
              'Of grants and spends. Those after the hundred most frequent are counted together as `(other)`.',
          }),
        ),
        changes: count('The number of credits or spends.'),
        players: count('The number of players who were credited or who spent.'),
        amount: count('How much was credited or spent.'),
        duration_s: count('The time of timed rewards.'),
      }),
    ),
    players: strictObject({
      earned: count('Players who earned a reward in the period.'),
      spent: count('Players who spent in the period.'),
      earned_and_spent: count('Players who did both.'),
    }),
    holdings: Type.Array(
      strictObject({
        type: rewardType,
        players: count('Players with a balance now.'),
        balance: count('The sum of their balances.'),
        active_players: count('Players who have a timed reward of this type now.'),
      }),
    ),
  },
);
