import { readSetting, writeSetting } from './settings.ts';

/** A random user reference, stored in this browser, for the service and the game server. */
export function playerId(): string {
  const known = readSetting('player');
  if (known) return known;
  const made = `player-${crypto.randomUUID()}`;
  writeSetting('player', made);
  return made;
}
