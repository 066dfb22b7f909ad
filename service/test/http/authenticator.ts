import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app with this secret shows at a time; now by default. */
export const codeAt = (secret: string, timestamp = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
