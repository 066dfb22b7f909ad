import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** Who is at the provider's sign-in page, and what they do there. */
export interface PersonAtProvider {
  email: string;
  isVerified?: boolean | undefined;
  /** The person gives up instead of signing in. */
  cancels?: boolean;
}

export interface OpenIdProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The person who uses the sign-in page next. */
  person: PersonAtProvider;
  stop(): void;
}

/** Starts a real OpenID provider, whose sign-in page takes everybody at their word. */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Another site than the panel's, as real providers are, so that cookies behave as they will.
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const client = { clientId: 'trueward', clientSecret: 'a secret of the client' };
  const running: OpenIdProvider = {
    issuer,
    ...client,
    person: { email: 'nobody@example.com' },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        // Of native clients, the provider accepts any port of this machine.
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/panel/api/single-sign-on/callback'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: running.person.email,
        ...(running.person.isVerified === undefined
          ? {}
          : { email_verified: running.person.isVerified }),
      }),
    }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId,
        accountId: oidc.session?.accountId,
      });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return next();
    const { cancels, email } = running.person;
    await provider.interactionFinished(
      context.req,
      context.res,
      cancels ? { error: 'access_denied' } : { login: { accountId: email }, consent: {} },
    );
    context.respond = false;
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  return running;
}
