import { crc32 } from 'node:zlib';

/** What a request for an ad says about the player and the device. */
export interface PlayerSighting {
  userRef?: string | undefined;
  /** What tells the device from most others: its address and its browser. Only a checksum is kept, and only in memory. */
  device?: string | undefined;
  /** How many players the device has named within a day, as it says itself. */
  playersOnDevice?: number | undefined;
  /** How many earned rewards wait on the device because the game doesn't take them. */
  waitingRewards?: number | undefined;
}

/** A number of requests out of all that could have counted. */
export interface Share {
  atMs: number;
  count: number;
  of: number;
}

/** What stands out in how a game uses a key, and when it did last. */
export interface PlayerFindings {
  /** One player was seen on `count` devices. */
  devicesPerPlayer?: { atMs: number; count: number };
  /** Requests by devices that have named many players. */
  manyPlayersPerDevice?: Share;
  /** Requests by devices on which earned rewards wait for the game. */
  waitingRewards?: Share;
}

export interface PlayerUse {
  note(sighting: PlayerSighting, nowMs: number): void;
  /** Returns what stands out in the requests of at most a day, and when it did last. Undefined if nothing does. */
  findings(): PlayerFindings | undefined;
}

const dayMs = 86_400_000;
/** A player who makes more than a fifth of the requests is always among those that are watched. */
const watchedPlayers = 4;
/** A player with several devices and networks has fewer than this. */
const minDevices = 10;
const maxDevices = 50;
/** Families and schools share devices, but few devices have this many players. */
const manyPlayers = 3;
const minRequests = 10;
const minShare = 0.2;

/**
 * Counts what shows how a game names its players. Keeps a few hundred bytes for a key, however many players it has: it
 * watches only the players with the most requests, because a reference that many players share by mistake is one of
 * them.
 */
export function createPlayerUse(): PlayerUse {
  let startedAtMs = -Infinity;
  const players = new Map<number, { weight: number; atMs: number; devices: Set<number> }>();
  const many: Share = { atMs: 0, count: 0, of: 0 };
  const waiting: Share = { atMs: 0, count: 0, of: 0 };

  const restart = (nowMs: number): void => {
    startedAtMs = nowMs;
    players.clear();
    for (const share of [many, waiting]) Object.assign(share, { count: 0, of: 0 });
  };
  const count = (share: Share, isCounted: boolean, atMs: number): void => {
    share.of += 1;
    if (isCounted) Object.assign(share, { atMs, count: share.count + 1 });
  };
  /** Finds the most frequent players in one pass: a new one takes the place of one that the others have outweighed. */
  const watch = (userRef: string, device: string, atMs: number): void => {
    const key = crc32(userRef);
    let player = players.get(key);
    if (!player && players.size < watchedPlayers)
      players.set(key, (player = { weight: 0, atMs, devices: new Set() }));
    if (player) {
      player.weight += 1;
      player.atMs = atMs;
      if (player.devices.size < maxDevices) player.devices.add(crc32(device));
      return;
    }
    for (const [other, known] of players) {
      known.weight -= 1;
      if (known.weight === 0) players.delete(other);
    }
  };
  const standsOut = (share: Share): boolean =>
    share.count >= minRequests && share.count >= share.of * minShare;

  return {
    note({ userRef, device, playersOnDevice, waitingRewards }, nowMs) {
      if (nowMs - startedAtMs > dayMs) restart(nowMs);
      if (userRef !== undefined && device !== undefined) watch(userRef, device, nowMs);
      if (playersOnDevice !== undefined) count(many, playersOnDevice >= manyPlayers, nowMs);
      if (waitingRewards !== undefined) count(waiting, waitingRewards > 0, nowMs);
    },
    findings() {
      const [shared] = [...players.values()]
        .filter(({ devices }) => devices.size >= minDevices)
        .toSorted((a, b) => b.devices.size - a.devices.size);
      const findings: PlayerFindings = {
        ...(shared && { devicesPerPlayer: { atMs: shared.atMs, count: shared.devices.size } }),
        ...(standsOut(many) && { manyPlayersPerDevice: { ...many } }),
        ...(standsOut(waiting) && { waitingRewards: { ...waiting } }),
      };
      return Object.keys(findings).length > 0 ? findings : undefined;
    },
  };
}
