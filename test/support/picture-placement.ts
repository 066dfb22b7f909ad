import type { RunningService } from '../../service/test/start-service.ts';

/** What tests ask of a placement whose ad may be closed at once. */
interface PicturePlacement {
  name: string;
  format: 'rewarded' | 'interstitial';
}

/** Adds a placement with a picture of one second, for tests that are not about watching. */
export async function addPicturePlacement(
  { url, keys }: Pick<RunningService, 'url' | 'keys'>,
  { name, format }: PicturePlacement,
): Promise<void> {
  const headers = {
    authorization: `Bearer ${keys.sandbox.secret}`,
    'content-type': 'application/json',
  };
  const call = async (path: string, body?: object): Promise<CreativeList> => {
    const response = await fetch(url + path, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as CreativeList;
  };
  await call('/v1/placements', {
    name,
    format,
    min_view_ms: 1_000,
    close_after_ms: 0,
    ...(format === 'rewarded' && { reward: { type: 'coins', amount: 5 } }),
  });
  const { data } = await call('/v1/creatives');
  const picture = data.find((creative) => creative.name === 'Harbour');
  if (!picture) throw new Error('The demo account has no creative named Harbour.');
  await call('/v1/house-ads', { name, creative_id: picture.id, placements: [name] });
}

interface CreativeList {
  data: { id: string; name: string }[];
}
