import type { Creative, Media } from '@trueward/protocol/wire';
import { useWatch } from 'react-hook-form';
import { CreativePreview } from '../preview/creative-preview.tsx';

/** The id that the preview needs, of a creative that has none yet. */
const unsavedId = 'crv_00000000000000000000000000';

/** What players will see, while the creative is being edited. */
export function EditedCreativePreview() {
  const [id, media, alt, clickUrl] = useWatch<Record<string, unknown>>({
    name: ['id', 'media', 'alt', 'click_url'],
  }) as [string | undefined, Media | undefined, string | undefined, string | undefined];
  if (!media) return null;
  const creative: Pick<Creative, 'id' | 'media' | 'alt' | 'click_url'> = {
    id: id ?? unsavedId,
    media,
    alt: alt ?? '',
    ...(clickUrl ? { click_url: clickUrl } : {}),
  };
  return <CreativePreview title="As players see it" creative={creative} />;
}
