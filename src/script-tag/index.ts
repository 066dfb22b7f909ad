import { type Ads, createAds, OptionError } from '../index.ts';

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

/** The options that the script tag carries: `data-key`, `data-service-url`, `data-user-ref` and `data-locale`. */
function optionsOf({ dataset }: HTMLScriptElement): Parameters<typeof createAds>[0] {
  return {
    publishableKey: dataset['key'] ?? '',
    // The service hands the script out too, so its own address is the natural default.
    serviceUrl:
      dataset['serviceUrl'] ?? new URL((document.currentScript as HTMLScriptElement).src).origin,
    ...(dataset['userRef'] === undefined ? {} : { userRef: dataset['userRef'] }),
    ...(dataset['locale'] === undefined ? {} : { locale: dataset['locale'] }),
  };
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

function start(script: Element | null): void {
  window.Trueward = { createAds, OptionError };
  if (!(script instanceof HTMLScriptElement) || script.dataset['key'] === undefined) return;
  const ads = createAds(optionsOf(script));
  const waiting = Array.isArray(window.trueward) ? window.trueward : [];
  window.trueward = { push: (...commands) => run(ads, commands) };
  run(ads, waiting);
}

// A page that carries the tag twice gets one SDK.
if (window.Trueward === undefined) start(document.currentScript);
