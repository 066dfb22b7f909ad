import { expect, onTestFinished, test, vi } from 'vitest';
import { startTag } from '../../../src/script-tag/start-tag.ts';
import { makeKey } from '../../support/stub-service.ts';

test('a page’s commands run once the tag has started, in order, whether or not one of them throws', () => {
  const ran: string[] = [];
  const failure = new Error('a command failed');
  const reports = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
  globalThis.Trueward = { queue: [] } as never;
  const { queue } = globalThis.Trueward;
  queue.push(
    (ads) => {
      onTestFinished(() => ads.destroy());
      ran.push('first');
    },
    () => {
      throw failure;
    },
    () => ran.push('second'),
  );
  const script = document.createElement('script');
  startTag(script);
  expect(ran).toEqual([]); // The tag has no key.
  Object.assign(script.dataset, { key: makeKey(), serviceUrl: 'https://ads.test' });
  startTag(script);
  expect(ran).toEqual(['first', 'second']);
  globalThis.Trueward.queue.push(() => ran.push('third'));
  startTag(script);
  expect(ran).toEqual(['first', 'second', 'third']);
  expect(reports.mock.calls).toEqual([[failure]]);
});
