import { readSetting, writeSetting } from './settings.ts';

/** Returns the player's id for the service and the game server. The id is random and stored in this browser. */
export function getPlayerId(): string {
  const storedId = readSetting('player');
  if (storedId) return storedId;
  const newId = `player-${crypto.randomUUID()}`;
  writeSetting('player', newId);
  return newId;
}
