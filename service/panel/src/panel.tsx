import { useMemo, useState } from 'react';
import { Admin, CustomRoutes, Resource } from 'react-admin';
import { Route } from 'react-router';
import { createCall } from './api/call.ts';
import { createDataProvider } from './api/data-provider.ts';
import {
  type Environment,
  EnvironmentContext,
  readEnvironment,
  storeEnvironment,
} from './api/environment.ts';
import { PanelLayout } from './layout/panel-layout.tsx';
import { pages } from './pages.tsx';
import { resources } from './resources.tsx';
import { createAuthProvider } from './session/auth-provider.ts';
import type { Session } from './session/session.ts';
import { SetUpPage } from './session/set-up-page.tsx';
import { SignInPage } from './session/sign-in-page.tsx';
import { darkTheme, lightTheme } from './theme.ts';

/** The administration panel. */
export function Panel({ session }: { session: Session }) {
  const [environment, setEnvironment] = useState(readEnvironment);
  const authProvider = useMemo(() => createAuthProvider(session), [session]);
  const dataProvider = useMemo(
    () => createDataProvider(createCall(session, environment)),
    [session, environment],
  );
  const environmentSwitch = useMemo(
    () => ({
      environment,
      switchTo(next: Environment) {
        storeEnvironment(next);
        // An object of one environment is unknown in the other: begin where both have something.
        location.hash = '/';
        setEnvironment(next);
      },
    }),
    [environment],
  );
  return (
    <EnvironmentContext value={environmentSwitch}>
      <Admin
        // Anew for each environment: nothing that was read in one can be shown in the other.
        key={environment}
        title="Trueward"
        authProvider={authProvider}
        dataProvider={dataProvider}
        dashboard={pages.overview}
        layout={PanelLayout}
        loginPage={SignInPage}
        theme={lightTheme}
        darkTheme={darkTheme}
        disableTelemetry
        requireAuth
      >
        {resources.map((resource) => (
          <Resource key={resource.name} {...resource} />
        ))}
        <CustomRoutes noLayout>
          <Route path="/setup" element={<SetUpPage session={session} />} />
        </CustomRoutes>
        <CustomRoutes>
          <Route path="/decisions" element={<pages.decisions />} />
          <Route path="/decisions/:id" element={<pages.decision />} />
          <Route path="/try" element={<pages.tryRequest />} />
          <Route path="/live-tail" element={<pages.liveTail />} />
          <Route path="/review" element={<pages.reviewQueue />} />
          <Route path="/account" element={<pages.account session={session} />} />
        </CustomRoutes>
      </Admin>
    </EnvironmentContext>
  );
}
