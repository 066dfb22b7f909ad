import type { PlayerSession } from '@trueward/protocol/wire';

/**
 * Reads a pasted session, or the body of an ad request, which contains one. It may leave out what doesn't matter to a
 * trial: the ads' ids, and their placements.
 *
 * @param placement the placement for ads without one
 * @returns an error message for text that isn't a session; undefined for an empty text
 */
export function readSession(text: string, placement: string): PlayerSession | string | undefined {
  if (text.trim() === '') return undefined;
  const pasted = parseJson(text);
  const session = isObject(pasted) && 'session' in pasted ? pasted['session'] : pasted;
  if (!isObject(session) || typeof session['age_s'] !== 'number')
    return 'Paste the session of an ad request, such as {"age_s": 95, "ads": []}.';
  const { age_s: ageS, ads = [] } = session as { age_s: number; ads?: unknown };
  if (!Array.isArray(ads) || !ads.every(isObject)) return '`ads` must be a list of ads.';
  return {
    age_s: ageS,
    ads: ads.map((ad, index) => ({
      id: `dec_${String(index).padStart(26, '0')}`,
      placement,
      ...ad,
    })) as NonNullable<PlayerSession['ads']>,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
