// The service keeps the gems. The game keeps what the player bought with them: the ids of the spends, and their items.
const bought = JSON.parse(localStorage.getItem('bought') ?? '{}');

export const owns = (item) => Object.values(bought).includes(item);

export function saveOnce(spendId, item) {
  bought[spendId] = item;
  localStorage.setItem('bought', JSON.stringify(bought));
}
