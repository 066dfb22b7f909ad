/** Whether a game is held, by any number of ads. */
export interface Holds {
  readonly isHeld: boolean;
  /** Holds the game. Calling the returned function again has no effect. */
  hold(): () => void;
}

/** Counts the ads that hold a game. `begin` is called for the first one, and what it returns after the last one. */
export function countHolds(begin: () => () => void): Holds {
  let count = 0;
  let end = (): void => {};
  return {
    get isHeld() {
      return count > 0;
    },
    hold() {
      count += 1;
      if (count === 1) end = begin();
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        count -= 1;
        if (count === 0) end();
      };
    },
  };
}
