import { lazy } from 'react';

/** Pages of their own, each loaded when it is opened. */
export const pages = {
  overview: lazy(async () => ({ default: (await import('./overview/overview.tsx')).Overview })),
  decisions: lazy(async () => ({
    default: (await import('./decision/decision-list.tsx')).DecisionList,
  })),
  decision: lazy(async () => ({
    default: (await import('./decision/decision-page.tsx')).DecisionPage,
  })),
  tryRequest: lazy(async () => ({
    default: (await import('./policy/try-request-page.tsx')).TryRequestPage,
  })),
  liveTail: lazy(async () => ({ default: (await import('./decision/live-tail.tsx')).LiveTail })),
  reviewQueue: lazy(async () => ({
    default: (await import('./creative/review-queue.tsx')).ReviewQueue,
  })),
  account: lazy(async () => ({ default: (await import('./user/account-page.tsx')).AccountPage })),
};
