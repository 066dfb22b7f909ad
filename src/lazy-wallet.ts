import type { Reason } from './outcome.ts';
import type { Wallet, WalletFailure } from './wallet/wallet.ts';

/**
 * Creates the wallet of `ads.wallet`, whose code is loaded when it is first used.
 *
 * @param open - Resolves to the wallet. Rejects only if the ads have been destroyed, or can't be used.
 * @param reason - Why the wallet can't be used if `open` rejects.
 */
export function createWallet(open: () => Promise<Wallet>, reason: Reason = 'destroyed'): Wallet {
  let opened: Wallet | undefined;
  const use = async <T extends object>(
    work: (wallet: Wallet) => Promise<T>,
  ): Promise<T | WalletFailure> => {
    try {
      return await work((opened = await open()));
    } catch {
      return { outcome: 'unavailable', reason };
    }
  };
  return {
    refresh: () => use((wallet) => wallet.refresh()),
    playerRef: () => opened?.playerRef(),
    balance: (type) => opened?.balance(type) ?? 0,
    readAt: () => opened?.readAt(),
    activeUntil: (type) => opened?.activeUntil(type),
    spend: (...spend) => use((wallet) => wallet.spend(...spend)),
    createLinkCode: () => use((wallet) => wallet.createLinkCode()),
    link: (...link) => use((wallet) => wallet.link(...link)),
  };
}
