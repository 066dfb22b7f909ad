// Sends the game's requests to its server.

/** @returns {Promise<{ serviceUrl: string, publishableKey: string }>} */
export async function loadConfig() {
  return (await fetch('/config.json')).json();
}

/** Loads the number of coins that the server has credited. Only the server credits coins. */
export async function loadCoins() {
  const { coins } = await (await fetch(`/players/${getPlayerId()}`)).json();
  return coins;
}

/** Returns this player's id. If your game has accounts, use the account id instead, signed with `signUserToken()`. */
export function getPlayerId() {
  const storedId = localStorage.getItem('player');
  if (storedId) return storedId;
  const newId = `player-${crypto.randomUUID()}`;
  localStorage.setItem('player', newId);
  return newId;
}
