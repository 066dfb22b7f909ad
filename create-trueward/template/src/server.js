// The game's requests to its server.

/** @returns {Promise<{ serviceUrl: string, publishableKey: string }>} */
export async function loadConfig() {
  return (await fetch('/config.json')).json();
}

/** Loads the number of coins that the server has credited. Only the server credits coins. */
export async function loadCoins() {
  const { coins } = await (await fetch(`/players/${getPlayerId()}`)).json();
  return coins;
}

/** Returns an id for this player. If your game has accounts, use the account's id, signed with `signUserToken()`. */
export function getPlayerId() {
  const existing = localStorage.getItem('player');
  if (existing) return existing;
  const created = `player-${crypto.randomUUID()}`;
  localStorage.setItem('player', created);
  return created;
}
