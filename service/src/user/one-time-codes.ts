import { Secret, TOTP } from 'otpauth';
import type { SecretBox } from '../key/secret-box.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queries } from '../store/database.ts';
import type { User } from './user.ts';

/** One-time codes by RFC 6238, as authenticator apps make them. */
export interface OneTimeCodes {
  /** A new secret, and the address by which an app takes it in. */
  make(email: string): { secret: string; otpauthUrl: string; sealed: string };
  /** Whether the code is good now; each is good once. */
  use(user: User, code: string): Promise<boolean>;
}

export function createOneTimeCodes(queries: Queries, box: SecretBox, clock: Clock): OneTimeCodes {
  const appOf = (email: string, secret: Secret) =>
    new TOTP({ issuer: 'Trueward', label: email, secret });
  return {
    make(email) {
      const secret = new Secret({ size: 20 });
      return {
        secret: secret.base32,
        otpauthUrl: appOf(email, secret).toString(),
        sealed: box.seal(secret.base32),
      };
    },
    async use({ accountId, id, email, codesSecret }, code) {
      if (codesSecret === null) return false;
      const app = appOf(email, Secret.fromBase32(box.open(codesSecret)));
      const timestamp = clock.nowMs();
      // A step before and after: clocks of phones differ.
      const delta = app.validate({ token: code.replaceAll(' ', ''), timestamp, window: 1 });
      if (delta === null) return false;
      const used = await queries.query(
        'UPDATE users SET codes_step = $3 WHERE account_id = $1 AND id = $2 AND codes_step < $3 RETURNING id',
        [accountId, id, app.counter({ timestamp }) + delta],
      );
      return used.length > 0;
    },
  };
}
