/**
 * A setup file for Vitest. Test files share a worker: a global that one of them has replaced must not be there when the
 * next one is imported, so the option `unstubGlobals`, which acts before the next test, is too late.
 */
import { afterEach, vi } from 'vitest';

afterEach(() => void vi.unstubAllGlobals());
