import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts what has to be readable again: webhook secrets and signing keys. */
export interface SecretBox {
  seal(text: string): string;
  /** @throws Error when the text was sealed with another master key, or changed. */
  open(sealed: string): string;
}

/** AES-256-GCM; the text is `1.<iv>.<tag>.<ciphertext>` in base64url, the number names the format. */
export function createSecretBox(masterKey: Uint8Array): SecretBox {
  return {
    seal(text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', masterKey, iv);
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
      const decipher = createDecipheriv('aes-256-gcm', masterKey, Buffer.from(iv, 'base64url'));
      decipher.setAuthTag(Buffer.from(tag, 'base64url'));
      return Buffer.concat([
        decipher.update(Buffer.from(body, 'base64url')),
        decipher.final(),
      ]).toString('utf8');
    },
  };
}
