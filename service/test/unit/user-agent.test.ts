import { expect, test } from 'vitest';
import { detectDevice } from '../../src/decision/user-agent.ts';

const phone = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/140.0 Mobile Safari/537.36';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1';

test.each([
  [phone, 'mobile'],
  [phone.replace(' Mobile', ''), 'tablet'],
  [iphone, 'mobile'],
  ['Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) Mobile/15E148 Safari/604.1', 'tablet'],
  ['Mozilla/5.0 (Windows NT 10.0; Tablet; rv:140.0) Gecko/20100101 Firefox/140.0', 'tablet'],
  ['Mozilla/5.0 (Mobile; rv:48.0) Gecko/48.0 Firefox/48.0', 'mobile'],
  ['Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36', 'desktop'],
  ['', 'desktop'],
  [undefined, undefined],
])('%s is from a %s device', (userAgent, device) => {
  expect(detectDevice(userAgent)).toBe(device);
  // What comes after a player's long text doesn't count.
  if (userAgent) expect(detectDevice(`${'x'.repeat(10_000)} ${userAgent}`)).toBe('desktop');
});
