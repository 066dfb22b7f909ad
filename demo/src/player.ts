import { readSetting, writeSetting } from './settings.ts';

/** A random name that stays with this browser, and that the service and the game server know the player by. */
export function playerId(): string {
  const known = readSetting('player');
  if (known) return known;
  const made = `player-${crypto.randomUUID()}`;
  writeSetting('player', made);
  return made;
}
