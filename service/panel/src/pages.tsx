import type { FunctionComponent } from 'react';
import { page } from './layout/lazy-page.tsx';
import type { Session } from './session/session.ts';

interface CustomPage {
  path: string;
  Content: FunctionComponent<{ session: Session }>;
}

/** The start page. */
export const Dashboard = page(() => import('./overview/overview.tsx'), 'Overview');

/** The pages that don't belong to one of react-admin's resources. Each one loads when it is first opened. */
export const customPages: readonly CustomPage[] = [
  {
    path: '/decisions',
    Content: page(() => import('./activity/decision-list.tsx'), 'DecisionList'),
  },
  {
    path: '/decisions/:id',
    Content: page(() => import('./activity/decision-page.tsx'), 'DecisionPage'),
  },
  { path: '/try', Content: page(() => import('./policy/try-request-page.tsx'), 'TryRequestPage') },
  { path: '/players', Content: page(() => import('./player/player-page.tsx'), 'PlayerPage') },
  { path: '/first-ad', Content: page(() => import('./first-ad/first-ad-page.tsx'), 'FirstAdPage') },
  { path: '/review', Content: page(() => import('./creative/review-queue.tsx'), 'ReviewQueue') },
  { path: '/account', Content: page(() => import('./user/account-page.tsx'), 'AccountPage') },
];
