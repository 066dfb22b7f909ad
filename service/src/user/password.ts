import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * 32 MiB and three passes: one of the settings of equal strength that OWASP names for scrypt
 * (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html). The one with
 * 128 MiB would let a few sign-ins at once fill a small machine.
 */
const strong = { N: 2 ** 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;

/** The scrypt parameters. */
type PasswordCost = typeof strong;

export interface Passwords {
  /** The hash of a new password, with its salt and its cost: `scrypt$32768$8$3$<salt>$<hash>`. */
  hash(password: string): Promise<string>;
  /** Whether the password has this hash. Without a hash it takes as long and says no. */
  verify(password: string, stored: string | null): Promise<boolean>;
}

/** @param cost of new hashes; a stored one says its own */
export function createPasswords(cost: PasswordCost = strong): Passwords {
  const write = (salt: Buffer, hash: Buffer): string =>
    `scrypt$${cost.N}$${cost.r}$${cost.p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
  // An unknown e-mail address takes as long to refuse as a known one.
  const nobody = write(Buffer.alloc(saltBytes), Buffer.alloc(hashBytes));
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      return write(salt, await derive(password, salt, cost));
    },
    async verify(password, stored) {
      const [, n, r, p, salt, hash] = (stored ?? nobody).split('$');
      const expected = Buffer.from(hash ?? '', 'base64url');
      const parameters = { N: Number(n), r: Number(r), p: Number(p) };
      const derived = await derive(password, Buffer.from(salt ?? '', 'base64url'), parameters);
      return timingSafeEqual(derived, expected) && stored !== null;
    },
  };
}

function derive(password: string, salt: Buffer, parameters: PasswordCost): Promise<Buffer> {
  // NFKC: the same characters, typed on another keyboard, can be other code points.
  const text = password.normalize('NFKC');
  const maxmem = 256 * parameters.N * parameters.r;
  return new Promise((resolve, reject) => {
    scrypt(text, salt, hashBytes, { ...parameters, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
