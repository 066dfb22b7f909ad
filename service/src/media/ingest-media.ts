import { DomainError } from '../platform/domain-error.ts';
import type { MediaStore } from './media-store.ts';
import { storedExtensions, type StoredType } from './media-type.ts';
import type { ProbeThread } from './probe-thread.ts';
import type { MediaProperties } from './read-media.ts';
import type { Uploads } from './unused-uploads.ts';

/** Maximum size of a creative's file, whether it is uploaded or copied from an external source. */
export const maxMediaBytes = 20 * 1_048_576;

/** A stored file. */
interface StoredFile {
  /** `<sha-256 of the content>.<extension of its type>` */
  name: string;
  sha256: string;
  bytes: number;
}

/** A stored file and its properties. */
export type IngestedMedia = StoredFile & MediaProperties;

/**
 * Checks a file and stores it under the hash of its content. The caller can't use `body` any more; see `ProbeThread`.
 *
 * @param declaredType the type according to the file name or a header, which must match the content
 * @throws DomainError when the file cannot be used in an ad.
 */
type IngestMedia = (
  accountId: string,
  body: Buffer,
  declaredType: string | undefined,
) => Promise<IngestedMedia>;

export const createIngestMedia = (
  store: MediaStore,
  uploads: Pick<Uploads, 'record'>,
  probe: ProbeThread['probe'],
): IngestMedia => {
  const storeFile = createStoreFile(store, uploads);
  return async (accountId, upload, declaredType) => {
    const { body, properties, sha256 } = await probe(upload);
    if (declaredType !== undefined && declaredType !== properties.type) {
      throw new DomainError(
        'invalid_request',
        `The file is ${properties.type}, but was declared as ${declaredType.slice(0, 100)}.`,
      );
    }
    return { ...properties, ...(await storeFile(accountId, body, properties.type, sha256)) };
  };
};

/**
 * Stores a checked file under the hash of its content. It counts toward the account's quota.
 *
 * @param sha256 the hex-encoded hash of the content
 * @throws DomainError `quota_exceeded`
 */
export type StoreFile = (
  accountId: string,
  body: Buffer,
  type: StoredType,
  sha256: string,
) => Promise<StoredFile>;

export const createStoreFile =
  (store: MediaStore, uploads: Pick<Uploads, 'record'>): StoreFile =>
  async (accountId, body, type, sha256) => {
    const name = `${sha256}.${storedExtensions[type]}`;
    await uploads.record(accountId, { name, bytes: body.length });
    await store.put(name, body, type);
    return { name, sha256, bytes: body.length };
  };

const pattern = new RegExp(`^[0-9a-f]{64}\\.(${Object.values(storedExtensions).join('|')})$`);

/**
 * Derives a stored file's type from its name. Returns undefined for names that {@link StoreFile} can't have created.
 */
export function findStoredType(name: string): StoredType | undefined {
  const extension = pattern.exec(name)?.[1];
  const types = Object.keys(storedExtensions) as StoredType[];
  return types.find((type) => storedExtensions[type] === extension);
}
