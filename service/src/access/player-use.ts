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
  /** Returns what stands out in the requests of at most a day. Undefined if nothing does. */
  findings(nowMs: number): PlayerFindings | undefined;
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
  const players = new Map<number, { weight: number; devices: Set<number> }>();
  const counts = { named: 0, manyPlayers: 0, told: 0, waiting: 0 };

  const restart = (nowMs: number): void => {
    startedAtMs = nowMs;
    players.clear();
    Object.assign(counts, { named: 0, manyPlayers: 0, told: 0, waiting: 0 });
  };
  /** Finds the most frequent players in one pass: a new one takes the place of one that the others have outweighed. */
  const watch = (userRef: string, device: string): void => {
    const key = crc32(userRef);
    let player = players.get(key);
    if (!player && players.size < watchedPlayers)
      players.set(key, (player = { weight: 0, devices: new Set() }));
    if (player) {
      player.weight += 1;
      if (player.devices.size < maxDevices) player.devices.add(crc32(device));
      return;
    }
    for (const [other, known] of players) {
      known.weight -= 1;
      if (known.weight === 0) players.delete(other);
    }
  };
  const findShare = (count: number, of: number, atMs: number): Share | undefined =>
    count >= minRequests && count >= of * minShare ? { atMs, count, of } : undefined;

  return {
    note({ userRef, device, playersOnDevice, waitingRewards }, nowMs) {
      if (nowMs - startedAtMs > dayMs) restart(nowMs);
      if (userRef !== undefined && device !== undefined) watch(userRef, device);
      if (playersOnDevice !== undefined) {
        counts.named += 1;
        if (playersOnDevice >= manyPlayers) counts.manyPlayers += 1;
      }
      if (waitingRewards !== undefined) {
        counts.told += 1;
        if (waitingRewards > 0) counts.waiting += 1;
      }
    },
    findings(atMs) {
      const count = Math.max(0, ...[...players.values()].map(({ devices }) => devices.size));
      const many = findShare(counts.manyPlayers, counts.named, atMs);
      const waiting = findShare(counts.waiting, counts.told, atMs);
      const findings: PlayerFindings = {
        ...(count >= minDevices && { devicesPerPlayer: { atMs, count } }),
        ...(many && { manyPlayersPerDevice: many }),
        ...(waiting && { waitingRewards: waiting }),
      };
      return Object.keys(findings).length > 0 ? findings : undefined;
    },
  };
}
