import { type Ads, type AdsOptions, createAds, OptionError } from '../index.ts';

type Command = (ads: Ads) => void;

/** Commands that a page pushed before the script had loaded: an array then, this object afterwards. */
interface CommandQueue {
  push(...commands: Command[]): void;
}

declare global {
  interface Window {
    Trueward?: { createAds: typeof createAds; OptionError: typeof OptionError };
    trueward?: CommandQueue | Command[];
  }
}

/** Options that an attribute of the tag gives as they are: `data-user-ref` is `userRef`. */
const texts = ['serviceUrl', 'userRef', 'userToken', 'customData', 'locale'] as const;

function optionsOf({ dataset }: HTMLScriptElement): AdsOptions {
  const { key, consent, childDirected } = dataset;
  return {
    publishableKey: key,
    ...Object.fromEntries(
      texts.flatMap((name) => (dataset[name] === undefined ? [] : [[name, dataset[name]]])),
    ),
    ...(consent !== undefined && { consent: consent === 'page' ? consent : { status: consent } }),
    ...(childDirected !== undefined && { childDirected: childDirected !== 'false' }),
    // What is missing or wrong in it, `createAds()` says.
  } as AdsOptions;
}

function run(ads: Ads, commands: Command[]): void {
  for (const command of commands) {
    try {
      command(ads);
    } catch (error) {
      // One command that throws must not keep the next from running.
      reportError(error);
    }
  }
}

/**
 * Puts the SDK on the page, and starts it where the tag has a key.
 *
 * @throws OptionError for a mistake in the attributes of the tag.
 */
export function startTag(script: Element | null): void {
  window.Trueward ??= { createAds, OptionError };
  const waiting = window.trueward ?? [];
  // A page that carries the tag twice gets one SDK: the queue is an array until there is one.
  if (!Array.isArray(waiting)) return;
  if (!(script instanceof HTMLScriptElement) || script.dataset['key'] === undefined) return;
  const ads = createAds(optionsOf(script));
  window.trueward = { push: (...commands) => run(ads, commands) };
  run(ads, waiting);
}
