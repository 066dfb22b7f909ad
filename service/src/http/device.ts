import { remember } from '../platform/remember.ts';

type Device = 'desktop' | 'mobile' | 'tablet';

/** The class of device by its `User-Agent`; undefined when it says nothing. */
export const deviceOf = (userAgent: string | undefined): Device | undefined =>
  userAgent === undefined ? undefined : classOf(userAgent);

const classOf = remember((userAgent): Device => {
  if (/iPad|Tablet|Android(?!.*Mobile)/i.test(userAgent)) return 'tablet';
  return /Mobi|iPhone|Android/i.test(userAgent) ? 'mobile' : 'desktop';
});
