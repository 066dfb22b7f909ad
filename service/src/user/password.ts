import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * 32 MiB and three passes: one of the settings of equal strength that OWASP names for scrypt
 * (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html). The one with
 * 128 MiB would let a few sign-ins at once fill a small machine.
 */
const cost = { N: 2 ** 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;

/** The hash of a new password, with its salt and its cost: `scrypt$32768$8$3$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, cost);
  return `scrypt$${cost.N}$${cost.r}$${cost.p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/** Whether the password has this hash. Without a hash it takes as long and says no. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, n, r, p, salt, hash] = (stored ?? nobody).split('$');
  const expected = Buffer.from(hash ?? '', 'base64url');
  const parameters = { N: Number(n), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt ?? '', 'base64url'), parameters);
  return timingSafeEqual(derived, expected) && stored !== null;
}

/** So that an unknown e-mail is not told by a faster answer. */
const nobody = `scrypt$${cost.N}$${cost.r}$${cost.p}$${Buffer.alloc(saltBytes).toString('base64url')}$${Buffer.alloc(hashBytes).toString('base64url')}`;

function derive(password: string, salt: Buffer, parameters: typeof cost): Promise<Buffer> {
  // NFKC: the same characters, typed on another keyboard, can be other code points.
  const text = password.normalize('NFKC');
  const maxmem = 256 * parameters.N * parameters.r;
  return new Promise((resolve, reject) => {
    scrypt(text, salt, hashBytes, { ...parameters, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
