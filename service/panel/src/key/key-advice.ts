/** Where a key belongs. */
export const keyAdvice =
  'A publishable key goes into the game; a secret key stays on your server, and in no page.';
