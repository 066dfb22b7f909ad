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

/** Reports the player's account, at the start and after each credit. Reconnects automatically. */
export function watchAccount(
  { gameServerUrl }: GameConfig,
  player: string,
  listener: { account(account: Account): void; connected(connected: boolean): void },
): void {
  const source = new EventSource(`${gameServerUrl}/players/${player}/events`);
  source.addEventListener('open', () => listener.connected(true));
  source.addEventListener('error', () => listener.connected(false));
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    listener.account(JSON.parse(data) as Account);
  });
}
