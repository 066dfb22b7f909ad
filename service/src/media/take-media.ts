import { createHash } from 'node:crypto';
import { RefusedError } from '../platform/refused-error.ts';
import { type MediaFacts, readMedia } from './read-media.ts';
import type { MediaStore } from './media-store.ts';
import { mediaExtensions, type MediaType } from './media-type.ts';
import type { Uploads } from './uploads.ts';

/** A file that was taken in. */
export interface TakenMedia extends MediaFacts {
  /** `<sha-256 of the content>.<extension of its type>` */
  name: string;
  sha256: string;
  bytes: number;
}

/**
 * Checks a file and stores it under the hash of its content. `claimed` is the media type that it is
 * said to have; a file that is another one is refused, because somebody is deceived by it.
 *
 * @throws RefusedError when no ad can be made of it.
 */
export type TakeMedia = (body: Buffer, claimed: string | undefined) => Promise<TakenMedia>;

export const createTakeMedia =
  (store: MediaStore, uploads: Pick<Uploads, 'note'>): TakeMedia =>
  async (body, claimed) => {
    const facts = await readMedia(body);
    if (claimed !== undefined && claimed !== facts.type) {
      throw new RefusedError(
        'invalid_request',
        `The file is ${facts.type}, but is named or sent as ${claimed.slice(0, 100)}.`,
      );
    }
    const sha256 = createHash('sha256').update(body).digest('hex');
    const name = `${sha256}.${mediaExtensions[facts.type]}`;
    await uploads.note(name);
    await store.put(name, body, facts.type);
    return { ...facts, name, sha256, bytes: body.length };
  };

const pattern = new RegExp(`^[0-9a-f]{64}\\.(${Object.values(mediaExtensions).join('|')})$`);

/** The type of a stored file by its name; undefined: {@link TakeMedia} gives no such names. */
export function storedTypeOf(name: string): MediaType | undefined {
  const extension = pattern.exec(name)?.[1];
  const types = Object.keys(mediaExtensions) as MediaType[];
  return types.find((type) => mediaExtensions[type] === extension);
}
