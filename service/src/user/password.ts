import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { type FieldError, refuseFields } from '../platform/refused-error.ts';

/**
 * 32 MiB and three passes: one of the equivalent settings that OWASP recommends for scrypt
 * (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html). With the 128 MiB
 * setting, a few concurrent sign-ins would exhaust the memory of a small machine.
 */
const defaultCost = { N: 2 ** 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;

/** The scrypt parameters. */
type PasswordCost = typeof defaultCost;

export interface Passwords {
  /** Hashes a password; the result includes cost and salt: `scrypt$32768$8$3$<salt>$<hash>`. */
  hash(password: string): Promise<string>;
  /** Whether the password matches the hash. Without a hash: false, after the same time. */
  verify(password: string, stored: string | null): Promise<boolean>;
}

/** @param cost of new hashes; stored hashes include their own */
export function createPasswords(cost: PasswordCost = defaultCost): Passwords {
  const write = (salt: Buffer, hash: Buffer): string =>
    `scrypt$${cost.N}$${cost.r}$${cost.p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
  // Rejecting an unknown e-mail takes as long as rejecting a wrong password.
  const dummyHash = write(Buffer.alloc(saltBytes), Buffer.alloc(hashBytes));
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      return write(salt, await derive(password, salt, cost));
    },
    async verify(password, stored) {
      const [, n, r, p, salt, hash] = (stored ?? dummyHash).split('$');
      const expected = Buffer.from(hash ?? '', 'base64url');
      const parameters = { N: Number(n), r: Number(r), p: Number(p) };
      const derived = await derive(password, Buffer.from(salt ?? '', 'base64url'), parameters);
      return timingSafeEqual(derived, expected) && stored !== null;
    },
  };
}

function derive(password: string, salt: Buffer, parameters: PasswordCost): Promise<Buffer> {
  // NFKC: different keyboards can produce different code points for the same characters.
  const text = password.normalize('NFKC');
  const maxmem = 256 * parameters.N * parameters.r;
  return new Promise((resolve, reject) => {
    scrypt(text, salt, hashBytes, { ...parameters, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** The person who chooses a password; their e-mail and name are easy guesses. */
interface Person {
  email: string;
  name: string;
}

/** On zxcvbn's scale from 0 to 4; 3 means more than 10^8 guesses. */
const minScore = 3;

/** Loaded on first use: the list of common passwords takes about 15 MB. */
let estimating: ReturnType<typeof loadEstimator> | undefined;

async function loadEstimator() {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}

/**
 * Rejects passwords that are easy to guess: common ones, repetitions, keyboard rows, and the person's
 * own e-mail or name.
 *
 * @param pointer The member of the request that contains it.
 * @throws RefusedError with advice for a better password.
 */
export async function checkNewPassword(
  password: string,
  { email, name }: Person,
  pointer: string,
): Promise<void> {
  estimating ??= loadEstimator();
  const estimator = await estimating;
  const own = [email, ...email.split(/[@._+-]/), ...name.split(/\s+/), 'trueward'];
  const { score, feedback } = estimator.check(password, own);
  if (score >= minScore) return;
  const error: FieldError = { pointer, message: `${reasonOf(feedback.warning)} ${advice}` };
  refuseFields([error]);
}

const advice = 'Four or more unrelated words are easy to remember and hard to guess.';

function reasonOf(warning: string | null): string {
  switch (warning) {
    case 'userInputs':
      return 'contains your e-mail address or name.';
    case 'simpleRepeat':
    case 'extendedRepeat':
      return 'repeats itself.';
    case 'straightRow':
    case 'keyPattern':
    case 'sequences':
      return 'is a row of keys or characters.';
    default:
      return 'is too similar to a common password.';
  }
}
