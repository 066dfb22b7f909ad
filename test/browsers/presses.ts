/** One key press or release. `key` is the standard key name: `a`, `Enter`, `ArrowLeft`. */
export interface Press {
  type: 'keyDown' | 'keyUp';
  key: string;
}

/**
 * Returns the key presses that Vitest's `userEvent.keyboard()` produces for text such as
 * `a{Enter}{ArrowLeft>}{/ArrowLeft}`.
 */
export function parsePresses(text: string): Press[] {
  return [...text.matchAll(/\{(\/?)(\w+)(>?)\}|([^])/g)].flatMap(
    ([, up, name = '', held, character]) => {
      const key = character ?? name;
      const down: Press = { type: 'keyDown', key };
      if (up) return [{ type: 'keyUp', key }];
      return held ? [down] : [down, { type: 'keyUp', key }];
    },
  );
}
