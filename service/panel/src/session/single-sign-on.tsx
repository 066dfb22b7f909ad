import { Alert, Button, Divider } from '@mui/material';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import type { Session } from './session.ts';

const path = '/panel/api/single-sign-on';

/** Why somebody who comes back from the provider isn't signed in. */
const reasons: Record<string, string> = {
  cancelled: 'You did not finish signing in. Try again.',
  expired: 'That took too long, or was started in another tab or browser. Try again.',
  unknown_user: 'Nobody here has the e-mail address of that sign-in. Ask an owner to invite you.',
  unverified_email:
    'The provider does not confirm your e-mail address. Confirm it there, or ask whoever runs this service about OIDC_EMAIL.',
  provider_failed: 'The provider could not be asked. Try again; the service’s log names the cause.',
  account_required: 'You have several accounts. Choose one.',
};

interface Provider {
  name: string;
}

/** Returns the operator's OpenID provider; undefined if there is none, or while that isn't known. */
function useProvider(): Provider | undefined {
  const { data } = useQuery({
    queryKey: ['single-sign-on'],
    queryFn: async ({ signal }) => {
      const response = await fetch(path, { signal });
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      return ((await response.json()) as { provider: Provider | null }).provider;
    },
    staleTime: Infinity,
  });
  return data ?? undefined;
}

const startUrl = (query: Record<string, string>): string =>
  `${path}/start?${new URLSearchParams(query)}`;

/** The part of the sign-in page that leads to the operator's OpenID provider, if there is one. */
export function ProviderSignIn() {
  const provider = useProvider();
  const [parameters] = useSearchParams();
  const state = useLocation().state as { nextPathname?: string; nextSearch?: string } | null;
  if (!provider) return null;
  const reason = parameters.get('reason') ?? '';
  const accounts = parameters.get('accounts')?.split(',') ?? [];
  const page = parameters.get('page') ?? `${state?.nextPathname ?? '/'}${state?.nextSearch ?? ''}`;
  return (
    <>
      {reason in reasons && (
        <Alert severity={accounts.length > 0 ? 'info' : 'error'} sx={{ marginBottom: 2 }}>
          {reasons[reason]}
        </Alert>
      )}
      {(accounts.length > 0 ? accounts : [undefined]).map((account) => (
        <Button
          key={account ?? ''}
          variant="contained"
          fullWidth
          href={startUrl({ page, ...(account === undefined ? {} : { account }) })}
          sx={{ marginBottom: 1 }}
        >
          {account === undefined ? `Sign in with ${provider.name}` : `Open account ${account}`}
        </Button>
      ))}
      <Divider sx={{ marginBlock: 1 }}>or with a password</Divider>
    </>
  );
}

/** A link to the provider for people who have no password. They come back to this page, and to the same account. */
export function ProviderConfirmation({ session }: { session: Pick<Session, 'read'> }) {
  const provider = useProvider();
  const { pathname, search } = useLocation();
  const [account, setAccount] = useState<string>();
  useEffect(() => {
    void session.read().then((info) => setAccount(info.account.id));
  }, [session]);
  if (!provider || account === undefined) return null;
  return (
    <Button href={startUrl({ fresh: 'true', page: `${pathname}${search}`, account })}>
      Use {provider.name} instead (what you entered here is lost)
    </Button>
  );
}
