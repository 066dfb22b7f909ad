/** Where a key belongs. */
export const keyAdvice =
  'Use a publishable key in the game. Keep a secret key on your server, never in a web page.';
