import type { Reason } from './outcome.ts';
import type { Wallet } from './wallet/wallet.ts';

type Call = (...args: never[]) => Promise<unknown>;

/**
 * Creates the wallet of `ads.wallet`, whose code is loaded when it is first used.
 *
 * @param open - Resolves to the wallet. Rejects only if the ads have been destroyed, or can't be used.
 * @param reason - Why the wallet can't be used if `open` rejects.
 */
export function createWallet(open: () => Promise<Wallet>, reason: Reason = 'destroyed'): Wallet {
  let opened: Wallet | undefined;
  const call = <Name extends 'refresh' | 'spend'>(name: Name): Wallet[Name] =>
    ((...args) =>
      open().then(
        (wallet) => ((opened = wallet)[name] as Call)(...args),
        () => ({ outcome: 'unavailable', reason }),
      )) satisfies Call as Wallet[Name];
  return {
    balance: (type) => opened?.balance(type) ?? 0,
    activeUntil: (type) => opened?.activeUntil(type),
    refresh: call('refresh'),
    spend: call('spend'),
  };
}
