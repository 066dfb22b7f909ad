/** The SDK as a separate script, so that a profile can distinguish its functions from the game's. */
export { createOutbox } from '../../../../src/outbox/outbox.ts';
export { createIndexedDbStore } from '../../../../src/outbox/event-store.ts';
export { callInNextFrame } from '../../../../src/engine/next-frame.ts';
export { phaserDriver, TruewardPlugin } from '../../../../src/phaser/index.ts';
export { systemClock } from '../../../../src/platform/clock.ts';
export { browserConnectivity } from '../../../../src/platform/page.ts';
export { newRandomId } from '../../../../src/platform/ids.ts';
export { keyChecksum, parseKey } from '../../../../src/platform/key-format.ts';
export { browserLocks } from '../../../../src/platform/locks.ts';
export { browserPageLifecycle } from '../../../../src/platform/page.ts';
export { browserTabChannel } from '../../../../src/platform/page.ts';
export { createLedger } from '../../../../src/reward/ledger.ts';
export { createRewards } from '../../../../src/reward/rewards.ts';
