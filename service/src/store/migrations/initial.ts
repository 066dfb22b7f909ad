import { access } from './initial/access.ts';
import { configuration } from './initial/configuration.ts';
import { decisions } from './initial/decisions.ts';
import { upkeep } from './initial/upkeep.ts';
import { wallets } from './initial/wallets.ts';
import { webhooks } from './initial/webhooks.ts';

/**
 * The tables can be sharded by account: every primary key begins with `account_id`, and there are no other unique
 * indexes.
 *
 * Ids are compared byte by byte (`COLLATE "C"`). They begin with their timestamp, so a list by id is in the order of
 * time in every database, whatever its locale. The comparison is also ten times as fast as a locale-aware one.
 */
export const initial = {
  name: '0001-initial',
  statements: [...configuration, ...access, ...decisions, ...wallets, ...webhooks, ...upkeep],
} as const;
