import { vi } from 'vitest';
import { native } from '../../src/platform/native.ts';

/** Hides the page or shows it again, for the SDK and for the game. Ends with `vi.restoreAllMocks()`. */
export function setHidden(hidden: boolean): void {
  vi.spyOn(native, 'isHidden').mockReturnValue(hidden);
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden);
  document.dispatchEvent(new Event('visibilitychange'));
}
