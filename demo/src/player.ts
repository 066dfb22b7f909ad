import { readSetting, writeSetting } from './settings.ts';

/** Returns a random user reference for the service and the game server, which is stored in this browser. */
export function getPlayerId(): string {
  const storedId = readSetting('player');
  if (storedId) return storedId;
  const newId = `player-${crypto.randomUUID()}`;
  writeSetting('player', newId);
  return newId;
}
