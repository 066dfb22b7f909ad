// Requests of the game to its server.

/** @returns {Promise<{ serviceUrl: string, publishableKey: string }>} */
export async function loadConfig() {
  return (await fetch('/config.json')).json();
}

/** The coins that the server has credited; only the server credits coins. */
export async function loadCoins() {
  const { coins } = await (await fetch(`/players/${playerId()}`)).json();
  return coins;
}

/** An id for this player. If your game has accounts, use theirs, with a token: `signUserToken()`. */
export function playerId() {
  const known = localStorage.getItem('player');
  if (known) return known;
  const made = `player-${crypto.randomUUID()}`;
  localStorage.setItem('player', made);
  return made;
}
