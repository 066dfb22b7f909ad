/**
 * Rewarded ads and house ads for web games.
 *
 * @module trueward
 */
export type {
  Ads,
  AdsListeners,
  Banner,
  Diagnostics,
  PortalPage,
  PreloadOptions,
  SetUserOptions,
  ShowOptions,
} from './ads.ts';
export type { Decision } from '../protocol/wire.ts';
export { createAds } from './create-ads.ts';
export type { OverlayStrings } from './creative/strings.ts';
export {
  createEngineDriver,
  type EngineParts,
  type GameDriver,
  type GameSound,
  type PauseFunction,
} from './engine/create-engine-driver.ts';
export { type EngineDriver, rememberFocus } from './engine/engine-driver.ts';
export { holdAudio } from './engine/held-audio.ts';
export { noEngine } from './engine/no-engine.ts';
export {
  type AdsOptions,
  type ConsentOptions,
  OptionError,
  type PortalAdsOptions,
  type RequestOptions,
  type Simulation,
  type UserOptions,
  type UserToken,
} from './options.ts';
export type { PortalName } from './platform/find-portal.ts';
export type {
  PortalAdapter,
  PortalAnswer,
  PortalCall,
  PortalResult,
  PortalSignals,
} from './portal/adapter.ts';
export type { DropReason, OutboxDiagnostics } from './outbox/state.ts';
export type { RewardDiagnostics } from './reward/rewards.ts';
export type { RewardHandler } from './reward/delivery.ts';
export type {
  CompletedSpend,
  LinkCodeResult,
  LinkResult,
  ReadResult,
  SpendHandler,
  SpendOptions,
  SpendResult,
  Wallet,
  WalletFailure,
} from './wallet/wallet.ts';
export type {
  Availability,
  EarnedReward,
  Evidence,
  OptionErrorCode,
  Outcome,
  Reason,
  Reward,
  RewardReport,
  RewardState,
  ShowResult,
  UnfilledReason,
} from './outcome.ts';
