/** The videos and sounds of ads. While an ad is up, all others on the page are held. */
const ownMedia = new WeakSet<HTMLMediaElement>();

export const markOwnMedia = (element: HTMLMediaElement): unknown => ownMedia.add(element);

export const isOwnMedia = (element: HTMLMediaElement): boolean => ownMedia.has(element);
