import { type Ads, type AdsOptions, createAds, OptionError } from '../index.ts';
import { type Command, define } from './global.ts';

declare global {
  interface TruewardGlobal {
    createAds: typeof createAds;
    OptionError: typeof OptionError;
  }
}

/** Options that an attribute of the tag gives as they are: `data-user-ref` is `userRef`. */
const texts = ['serviceUrl', 'userRef', 'userToken', 'customData', 'locale'] as const;
/** Options that are true when the attribute is there, unless it says `false`. */
const flags = ['childDirected', 'debug', 'muted'] as const;

function optionsOf({ dataset }: HTMLScriptElement): AdsOptions {
  const { key, consent } = dataset;
  return {
    publishableKey: key,
    ...Object.fromEntries(
      texts.flatMap((name) => (dataset[name] === undefined ? [] : [[name, dataset[name]]])),
    ),
    ...(consent !== undefined && { consent: consent === 'page' ? consent : { status: consent } }),
    ...Object.fromEntries(
      flags.flatMap((name) =>
        dataset[name] === undefined ? [] : [[name, dataset[name] !== 'false']],
      ),
    ),
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
  const trueward = define({ createAds, OptionError });
  const { queue } = trueward;
  // A page that carries the tag twice gets one SDK: the queue is an array until there is one.
  if (!Array.isArray(queue)) return;
  if (!(script instanceof HTMLScriptElement) || script.dataset['key'] === undefined) return;
  const ads = createAds(optionsOf(script));
  trueward.queue = { push: (...commands) => run(ads, commands) };
  run(ads, queue);
}
