import type { loadPart as loadSeparatePart } from '../platform/load-part.ts';

/** Replaces `platform/load-part.ts` in the script-tag files, which contain every part: nothing can fail to load. */
export const loadPart: typeof loadSeparatePart = async (importPart, name, { signal }) => {
  const part = await importPart();
  signal.throwIfAborted();
  return part[name];
};
