import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest. */
export interface SecretBox {
  seal(text: string): string;
  /** @throws MasterKeyError when no master key decrypts the text. */
  open(sealed: string): string;
}

/** 32 bytes each. The first one encrypts; each of them decrypts. */
export type MasterKeys = readonly [Uint8Array, ...Uint8Array[]];

/** A stored secret was encrypted with a master key that is not configured here. */
export class MasterKeyError extends Error {
  constructor() {
    super(
      'The master key does not decrypt the secrets in the database. Put the master.key that they were ' +
        'encrypted with into the data folder, or set TRUEWARD_MASTER_KEY to it. If that key is lost for ' +
        'good, see trueward-service master-key discard --help.',
    );
    this.name = 'MasterKeyError';
  }
}

/** AES-256-GCM; the text is `1.<iv>.<tag>.<ciphertext>` in base64url, where 1 is the version of the format. */
export function createSecretBox(keys: MasterKeys): SecretBox {
  return {
    seal(text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keys[0], iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [
        '1',
        ...[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url')),
      ].join('.');
    },
    open(sealed) {
      const [format, iv, tag, body] = sealed.split('.');
      if (format !== '1' || iv === undefined || tag === undefined || body === undefined) {
        throw new Error('A stored secret has an unknown format.');
      }
      for (const key of keys) {
        const text = decrypt(key, iv, tag, body);
        if (text !== undefined) return text;
      }
      throw new MasterKeyError();
    },
  };
}

function decrypt(key: Uint8Array, iv: string, tag: string, body: string): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'));
  decipher.setAuthTag(Buffer.from(tag, 'base64url'));
  const text = decipher.update(Buffer.from(body, 'base64url'));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined; // The tag does not match: another key, or a changed text.
  }
}
