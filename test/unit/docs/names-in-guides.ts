import type { IncomingMessage } from 'node:http';
import type * as sdk from 'trueward';
import type { Ads, AdsOptions, EngineDriver, Reward } from 'trueward';
import type * as adPlacement from 'trueward/ad-placement';
import type { DecisionRewardedEvent } from 'trueward/server';

type Call = () => void;
type ScriptTags = typeof sdk &
  typeof adPlacement & { queue: { push(command: (ads: Ads) => void): void } };
type Handler = (
  request: IncomingMessage & { body: Uint8Array },
  response: { sendStatus(status: number): void },
) => Promise<void>;

/** Names that the guides expect in the reader's game and on the reader's server. */
declare global {
  /** Defined by the script tags. */
  const Trueward: ScriptTags;
  const publishableKey: string;
  const serviceUrl: string;
  const userRef: string;
  const guestId: string;
  const ads: Ads;
  const options: AdsOptions;
  const saveGame: { addOnce(decisionId: string, amount: number): Promise<void> };
  const reviveButton: HTMLButtonElement;
  const leaveButton: HTMLButtonElement;
  const revivePlayer: Call;
  const startNextLevel: Call;
  const toast: (text: string) => void;
  const music: { muted: boolean; playing: boolean; pause: Call; play: Call };
  const session: { userId: string; userToken: string };
  const creditOnce: (data: DecisionRewardedEvent['data']) => Promise<void>;
  const webhookSecret: string;
  const secretKey: string;
  const userTokenSecret: string;
  const text: string;
  const credit: (userRef: string, reward: Reward) => Promise<void>;
  const game: { pause: Call; resume: Call };
  const showMenu: Call;
  const mute: Call;
  const unmute: Call;
  const littleDriver: () => EngineDriver;
  const nextLevel: Call;
  const button: HTMLButtonElement;
  const startPlaying: Call;
  const coinsText: HTMLElement;
  const earnButton: HTMLButtonElement;
  const buyButton: HTMLButtonElement;
  const input: HTMLInputElement;
  const showText: (text: string) => void;
  const save: { unlockOnce(id: string, what: string | undefined): Promise<void> };
  interface Window {
    get Trueward(): ScriptTags;
    // A page may create the queue before the script tags run.
    set Trueward(value: { queue: object });
  }
  const request: Request;
  const express: { raw(options: { type: string }): object };
  const app: { post(path: string, parser: object, handler: Handler): void };
}
