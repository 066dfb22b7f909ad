import type { PortalName } from '../../platform/find-portal.ts';
import type { PortalAdapter } from '../adapter.ts';

type Part = { createAdapter(name: PortalName): PortalAdapter };

/** Each adapter is a file of its own, which only the games on its portal load. */
const adBreak = (): Promise<Part> => import('./ad-break.ts') as Promise<Part>;

export const adapters: Record<PortalName, () => Promise<Part>> = {
  crazygames: () => import('./crazygames.ts'),
  poki: () => import('./poki.ts'),
  gamedistribution: () => import('./game-distribution.ts'),
  gamesnacks: adBreak,
  google_h5: adBreak,
  yandex: () => import('./yandex.ts'),
  facebook: () => import('./facebook.ts'),
  youtube: () => import('./youtube.ts'),
};
