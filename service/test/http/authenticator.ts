import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app with this secret shows at a time, by default now. */
export const codeAt = (secret: string, timestamp = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
