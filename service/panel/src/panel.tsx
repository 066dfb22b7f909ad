import { useMemo, useState, useSyncExternalStore } from 'react';
import { AdminContext, AdminUI, CustomRoutes, localStorageStore, Resource } from 'react-admin';
import { Route } from 'react-router';
import { createCall } from './api/call.ts';
import type { Connection } from './api/connection.ts';
import { createDataProvider } from './api/data-provider.ts';
import {
  type Environment,
  EnvironmentContext,
  readEnvironment,
  storeEnvironment,
} from './api/environment.ts';
import { createQueryClient } from './api/query-client.ts';
import { shouldRetry } from './api/use-call.ts';
import { i18nProvider } from './i18n.ts';
import { ConnectionBanner } from './layout/connection-banner.tsx';
import { PanelLayout } from './layout/panel-layout.tsx';
import { customPages, Dashboard } from './pages.tsx';
import { resources } from './resources.tsx';
import { createAuthProvider } from './session/auth-provider.ts';
import { ConfirmationDialog } from './session/confirmation-dialog.tsx';
import { SessionEndedDialog } from './session/session-ended-dialog.tsx';
import type { Session } from './session/session.ts';
import { SetupPage } from './session/setup-page.tsx';
import { SignInPage } from './session/sign-in.tsx';
import { darkTheme, lightTheme } from './theme.ts';

const store = localStorageStore();
const appearance = { i18nProvider, store, theme: lightTheme, darkTheme };

interface Props {
  connection: Connection;
  session: Session;
}

/** The administration panel. */
export function Panel(props: Props) {
  return useIsSetupLink() ? (
    // During setup, nobody is signed in yet, so no part of the page may require a session.
    <AdminContext {...appearance}>
      <SetupPage session={props.session} />
    </AdminContext>
  ) : (
    <SignedInPanel {...props} />
  );
}

/** Whether the URL is a single-use link. */
function useIsSetupLink(): boolean {
  const subscribe = (onChange: () => void) => {
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  };
  return useSyncExternalStore(subscribe, () => location.hash.startsWith('#/setup?'));
}

function SignedInPanel({ connection, session }: Props) {
  const [environment, setEnvironment] = useState(readEnvironment);
  const authProvider = useMemo(() => createAuthProvider(session), [session]);
  const dataProvider = useMemo(
    () => createDataProvider(createCall(session, connection, environment)),
    [session, connection, environment],
  );
  const queryClient = useMemo(() => createQueryClient(shouldRetry), [environment]);
  const environmentSwitch = useMemo(
    () => ({
      environment,
      switchTo(next: Environment) {
        storeEnvironment(next);
        // Objects in one environment don't exist in the other, so start at the overview. Bypass the router, which an
        // unsaved form would block.
        history.replaceState(null, '', '#/');
        setEnvironment(next);
      },
    }),
    [environment],
  );
  return (
    <EnvironmentContext value={environmentSwitch}>
      <AdminContext
        // Remount when the environment changes, so that data from one environment never appears in the other.
        key={environment}
        authProvider={authProvider}
        dataProvider={dataProvider}
        queryClient={queryClient}
        {...appearance}
      >
        <ConnectionBanner connection={connection} />
        <SessionEndedDialog session={session} />
        <ConfirmationDialog session={session} />
        <AdminUI
          title="Trueward"
          dashboard={Dashboard}
          layout={PanelLayout}
          loginPage={SignInPage}
          disableTelemetry
          requireAuth
        >
          {resources.map((resource) => (
            <Resource key={resource.name} {...resource} />
          ))}
          <CustomRoutes>
            {customPages.map(({ path, Content }) => (
              <Route key={path} path={path} element={<Content session={session} />} />
            ))}
          </CustomRoutes>
        </AdminUI>
      </AdminContext>
    </EnvironmentContext>
  );
}
