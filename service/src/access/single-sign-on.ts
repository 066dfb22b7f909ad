import * as oidc from 'openid-client';
import { toOneLine } from '../platform/one-line.ts';

/** How panel users sign in at the operator's OpenID provider. */
export interface SingleSignOnSettings {
  issuer: string;
  clientId: string;
  /** If undefined, the provider knows the service as a public client, and PKCE alone protects the code. */
  clientSecret: string | undefined;
  /** The provider's name on the sign-in page. */
  name: string;
  /** Whether e-mail addresses are trusted without the claim `email_verified`, which some providers don't send. */
  assumesVerifiedEmail: boolean;
}

/** What the browser keeps while its user is at the provider. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who signed in at the provider. */
export interface ProvenIdentity {
  email: string;
  /** When the person last entered credentials at the provider; undefined if the provider doesn't tell. */
  authenticatedAtMs: number | undefined;
}

export interface SingleSignOn {
  name: string;
  /**
   * Prepares a sign-in. Returns the provider's URL, and what the browser must keep.
   *
   * @param options `isFresh`: whether the provider must ask for credentials even if it still has a session
   */
  begin(options: {
    redirectUrl: string;
    isFresh: boolean;
  }): Promise<{ url: URL; pending: PendingSignIn }>;
  /**
   * Redeems the code with which the provider sent the browser back.
   *
   * @param returnedUrl the URL to which the browser was sent back
   * @throws SingleSignOnError
   */
  finish(returnedUrl: URL, pending: PendingSignIn): Promise<ProvenIdentity>;
}

/** Why a sign-in at the provider failed: the person gave up, the provider names no verified address, or it is broken. */
export class SingleSignOnError extends Error {
  override name = 'SingleSignOnError';
  readonly reason: 'cancelled' | 'unverified_email' | 'provider_failed';
  constructor(reason: SingleSignOnError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** How long the provider may take to answer a request. */
const timeoutS = 10;
/** How far the provider's clock may differ from the machine's, which may not be synchronized. */
const clockToleranceS = 300;
/** Maximum size of the provider's answers, which have a few thousand bytes. */
const maxBytes = 1_048_576;
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** Uses an OpenID provider: authorization code flow with PKCE, state and nonce. */
export function createSingleSignOn(settings: SingleSignOnSettings): SingleSignOn {
  const issuer = new URL(settings.issuer);
  let configuration: Promise<oidc.Configuration> | undefined;
  /** Reads the provider's endpoints once. */
  const configure = (): Promise<oidc.Configuration> =>
    (configuration ??= oidc.discovery(
      issuer,
      settings.clientId,
      { [oidc.clockTolerance]: clockToleranceS },
      settings.clientSecret === undefined
        ? oidc.None()
        : oidc.ClientSecretPost(settings.clientSecret),
      {
        timeout: timeoutS,
        [oidc.customFetch]: fetchBounded,
        ...(loopback.test(issuer.hostname) ? { execute: [oidc.allowInsecureRequests] } : {}),
      },
    ));
  /** After a failure, the next sign-in reads the endpoints again: the provider may have been down, or changed them. */
  const reject = (error: unknown): never => {
    configuration = undefined;
    return rejectProvider(error);
  };
  return {
    name: settings.name,
    async begin({ redirectUrl, isFresh }) {
      const provider = await configure().catch(reject);
      const pending = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const parameters = {
        redirect_uri: redirectUrl,
        scope: 'openid email',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        // `max_age` also makes the provider tell when the person entered credentials.
        ...(isFresh ? { prompt: 'login', max_age: '0' } : {}),
      };
      try {
        return { url: oidc.buildAuthorizationUrl(provider, parameters), pending };
      } catch (error) {
        // The provider names something as its page that no browser may be sent to.
        return reject(error);
      }
    },
    async finish(returnedUrl, { state, nonce, verifier }) {
      const provider = await configure().catch(reject);
      const tokens = await oidc
        .authorizationCodeGrant(provider, returnedUrl, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        .catch(reject);
      const claims = tokens.claims();
      if (!claims) throw new SingleSignOnError('provider_failed', 'There is no ID token.');
      const { email, email_verified: isVerified } =
        claims['email'] === undefined
          ? await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub).catch(reject)
          : claims;
      const isAddress = typeof email === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(email);
      // Amazon Cognito and Apple send the text.
      const isConfirmed = isVerified === true || (isVerified as unknown) === 'true';
      const isTrusted = isConfirmed || (isVerified === undefined && settings.assumesVerifiedEmail);
      if (!isAddress || !isTrusted)
        throw new SingleSignOnError(
          'unverified_email',
          `The provider sent ${isAddress ? 'an e-mail address' : 'no e-mail address'} with email_verified ${toOneLine(JSON.stringify(isVerified) ?? 'missing', 100)}.`,
        );
      return {
        email,
        authenticatedAtMs: claims.auth_time === undefined ? undefined : claims.auth_time * 1_000,
      };
    },
  };
}

function rejectProvider(error: unknown): never {
  const isDenied =
    error instanceof oidc.AuthorizationResponseError && error.error === 'access_denied';
  throw new SingleSignOnError(isDenied ? 'cancelled' : 'provider_failed', describe(error), {
    cause: error,
  });
}

/** Says what went wrong, down to the cause: the library's own message says only of which kind it is. */
function describe(error: unknown): string {
  const texts = new Set<string>();
  for (let at = error; at instanceof Error && texts.size < 5; at = at.cause) {
    texts.add(at.message);
    // What the provider says, such as `invalid_client`.
    if (at instanceof oidc.ResponseBodyError || at instanceof oidc.AuthorizationResponseError)
      texts.add([at.error, at.error_description].filter(Boolean).join(' '));
  }
  return toOneLine([...texts].join(': '), 500) ?? 'unknown error';
}

/** Fetches, like the global function, an answer of limited size. */
const fetchBounded: oidc.CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes)
      throw new Error(`${new URL(url).host} answered with more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return new Response(size === 0 ? null : Buffer.concat(chunks), response);
};
