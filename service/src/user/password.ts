import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { type FieldError, refuseFields } from '../platform/refused-error.ts';

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

/** Who chooses a password: their e-mail address and name are easy guesses. */
interface Person {
  email: string;
  name: string;
}

/** On zxcvbn's scale from 0 to 4; 3 means more than a hundred million guesses. */
const leastScore = 3;

/** Loaded on first use: the list of common passwords takes some 15 MB. */
let estimating: ReturnType<typeof loadEstimator> | undefined;

async function loadEstimator() {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}

/**
 * Refuses a password that is easy to guess: a common one, a repetition, a keyboard row, or the
 * person's own e-mail address or name.
 *
 * @param pointer The member of the request that it came in.
 * @throws RefusedError with what to do instead.
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
  if (score >= leastScore) return;
  const wrong: FieldError = { pointer, message: `${reasonOf(feedback.warning)} ${advice}` };
  refuseFields([wrong]);
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
