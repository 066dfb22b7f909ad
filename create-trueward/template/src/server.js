// What the game asks its own server.

/** @returns {Promise<{ serviceUrl: string, publishableKey: string }>} */
export async function loadConfig() {
  return (await fetch('/config.json')).json();
}

/** The coins that the server has credited; only it makes coins. */
export async function loadCoins() {
  const { coins } = await (await fetch(`/players/${playerId()}`)).json();
  return coins;
}

/** A name for this player. With accounts of your own, use theirs, signed: `signUserToken()`. */
export function playerId() {
  const known = localStorage.getItem('player');
  if (known) return known;
  const made = `player-${crypto.randomUUID()}`;
  localStorage.setItem('player', made);
  return made;
}
