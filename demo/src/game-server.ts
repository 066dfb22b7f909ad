import type { Account } from '../game-server/bank.ts';

/** The configuration that the game loads at startup. */
export interface GameConfig {
  serviceUrl: string;
  publishableKey: string;
  gameServerUrl: string;
}

export async function loadConfig(): Promise<GameConfig> {
  const response = await fetch('/config.json');
  if (!response.ok) throw new Error(`The game server responded with status ${response.status}.`);
  return (await response.json()) as GameConfig;
}

/**
 * Reports the player's account when the connection opens and after each credit. Reconnects automatically. Returns a
 * function that ends this.
 */
export function watchAccount(
  { gameServerUrl }: GameConfig,
  player: string,
  listener: { onAccount(account: Account): void; onConnectionChange(isConnected: boolean): void },
): () => void {
  const source = new EventSource(`${gameServerUrl}/players/${player}/events`);
  source.addEventListener('open', () => listener.onConnectionChange(true));
  source.addEventListener('error', () => listener.onConnectionChange(false));
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    listener.onAccount(JSON.parse(data) as Account);
  });
  return () => source.close();
}
