import { randomBytes } from 'node:crypto';
import { createIds } from '../src/platform/ids.ts';
import { systemClock } from '../src/platform/time.ts';
import type { Database } from '../src/store/database.ts';
import { noTracing } from '../src/trace/tracing.ts';
import { createWalletService, type WalletService } from '../src/wallet/wallet-service.ts';

/** Opens the wallets of a database by themselves. No server hears of their changes. */
export const openWallets = (database: Database): WalletService =>
  createWalletService({
    database,
    clock: systemClock,
    makeId: createIds(systemClock, randomBytes),
    writeEvents: async () => false,
    lanes: {
      name: 'spends',
      openLane: noTracing.lane('spends'),
      gate: { run: (_owner, work) => work() },
      log: { warn: () => undefined },
    },
    onDeliveries: () => undefined,
  });
