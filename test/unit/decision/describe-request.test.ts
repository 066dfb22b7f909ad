import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { buildRequestBody } from '../../../src/decision/request-ad.ts';

beforeEach(() => void vi.stubGlobal('innerWidth', 800).stubGlobal('innerHeight', 600));
afterEach(() => void vi.unstubAllGlobals());

test('an ad request contains the player’s segments', () => {
  const profile = { user: { segments: ['newcomer'] }, consent: undefined, simulate: undefined };
  expect(buildRequestBody('revive', 'en', profile).segments).toEqual(['newcomer']);
});
