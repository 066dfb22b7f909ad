type Device = 'desktop' | 'mobile' | 'tablet';

/** The class of device by its `User-Agent`; undefined without one. */
export function deviceOf(userAgent: string | undefined): Device | undefined {
  if (userAgent === undefined) return undefined;
  if (/iPad|Tablet|Android(?!.*Mobile)/i.test(userAgent)) return 'tablet';
  return /Mobi|iPhone|Android/i.test(userAgent) ? 'mobile' : 'desktop';
}
