import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { describeRequest } from '../../../src/decision/request-ad.ts';

beforeEach(() => void vi.stubGlobal('innerWidth', 800).stubGlobal('innerHeight', 600));
afterEach(() => void vi.unstubAllGlobals());

test('an ad request contains the segments of the player', () => {
  const profile = { user: { segments: ['newcomer'] }, consent: undefined, simulate: undefined };
  expect(describeRequest('revive', 'en', profile).segments).toEqual(['newcomer']);
});
