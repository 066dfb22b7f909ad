import { readSetting, writeSetting } from './settings.ts';

/** A random user reference, stored in this browser, for the service and the game server. */
export function playerId(): string {
  const storedId = readSetting('player');
  if (storedId) return storedId;
  const newId = `player-${crypto.randomUUID()}`;
  writeSetting('player', newId);
  return newId;
}
