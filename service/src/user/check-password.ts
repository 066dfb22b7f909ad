import { type FieldError, refuseFields } from '../platform/refused-error.ts';

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
