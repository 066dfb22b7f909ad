const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** When the receipts in these tests were issued, in Unix seconds. */
export const issuedAtS = 1_800_000_000;

export const claims = {
  iss: 'https://play.example',
  aud: 'acc_1',
  sub: 'player 1',
  jti: 'dec_1',
  env: 'live',
  reward: { type: 'coins', amount: 25 },
  placement: 'revive',
  iat: issuedAtS,
  exp: issuedAtS + 2_592_000,
};

/** Creates a key with which a service signs receipts. */
export async function makeSigner(kid: string) {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const jwk = { ...(await crypto.subtle.exportKey('jwk', pair.publicKey)), kid };
  return {
    jwk,
    async sign(claimOverrides: object = {}, headerOverrides: object = {}): Promise<string> {
      const head = encode({ alg: 'EdDSA', kid, typ: 'reward-receipt+jwt', ...headerOverrides });
      const text = `${head}.${encode({ ...claims, ...claimOverrides })}`;
      const signature = await crypto.subtle.sign('Ed25519', pair.privateKey, Buffer.from(text));
      return `${text}.${Buffer.from(signature).toString('base64url')}`;
    },
  };
}

export { encode };
