/** The class of device by its `User-Agent`; undefined when it says nothing. */
export function deviceOf(
  userAgent: string | undefined,
): 'desktop' | 'mobile' | 'tablet' | undefined {
  if (userAgent === undefined) return undefined;
  if (/iPad|Tablet|Android(?!.*Mobile)/i.test(userAgent)) return 'tablet';
  return /Mobi|iPhone|Android/i.test(userAgent) ? 'mobile' : 'desktop';
}
