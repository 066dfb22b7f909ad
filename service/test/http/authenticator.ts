import { Secret, TOTP } from 'otpauth';

/** Returns the code that an authenticator app set up with this secret shows at the given time. Default: now. */
export const codeAt = (secret: string, timestamp = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
