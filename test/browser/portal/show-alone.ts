import { occupyPage } from '../../../src/ad-break/occupy-page.ts';
import type { BreakRequest } from '../../../src/ad-break/run-ad-break.ts';
import type { ShowResult } from '../../../src/outcome.ts';

/** Shows an ad as `Ads` does: only while no other one is being requested or shown on the page. */
export async function showAlone(
  request: BreakRequest,
  run: (request: BreakRequest) => Promise<ShowResult>,
): Promise<ShowResult> {
  const release = occupyPage(request);
  if (typeof release === 'object') return release;
  const onClose = (): void => {
    release();
    request.onClose?.();
  };
  return run({ ...request, onClose }).finally(release);
}
