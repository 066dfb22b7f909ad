/** Every text of the overlay in one language. `{seconds}` and `{reward}` are filled in. */
export interface OverlayStrings {
  /** BCP 47. */
  language: string;
  direction: 'ltr' | 'rtl';
  advertisement: string;
  watchFor: string;
  secondsLeft: string;
  rewardOnItsWay: string;
  close: string;
  mute: string;
  unmute: string;
  play: string;
  learnMore: string;
  askTitle: string;
  askText: string;
  keepWatching: string;
  closeAnyway: string;
  thanks: string;
}

const english: OverlayStrings = {
  language: 'en',
  direction: 'ltr',
  advertisement: 'Advertisement',
  watchFor: 'Watch to get {reward}',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'Your reward is on its way',
  close: 'Close ad',
  mute: 'Turn sound off',
  unmute: 'Turn sound on',
  play: 'Tap to play',
  learnMore: 'Learn more',
  askTitle: 'Close and lose the reward?',
  askText: 'Only {seconds} s to go.',
  keepWatching: 'Keep watching',
  closeAnyway: 'Close anyway',
  thanks: 'Thanks for watching',
};

/** One entry per language, by its primary subtag. */
const languages: Record<string, OverlayStrings> = { en: english };

/** The texts for a BCP 47 locale, or English where there is no translation. */
export function stringsFor(locale: string): OverlayStrings {
  return languages[locale.split('-')[0]?.toLowerCase() ?? ''] ?? english;
}

/** Puts values into the `{…}` of a text. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole));
}
