import { Secret, TOTP } from 'otpauth';

/** Returns the TOTP code that an authenticator app enrolled with this secret shows at the given time (default: now). */
export const codeAt = (secret: string, timestamp = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
