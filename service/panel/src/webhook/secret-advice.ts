/** What a signing secret is for. */
export const secretAdvice =
  'Your server verifies with it that a webhook came from here: hand it to verifyWebhook of trueward/server.';
