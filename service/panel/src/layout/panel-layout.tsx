import { type ReactNode, Suspense } from 'react';
import { Layout, Loading } from 'react-admin';
import { EnvironmentBand } from './environment-band.tsx';
import { PanelAppBar } from './panel-app-bar.tsx';
import { PanelMenu } from './panel-menu.tsx';

/** What surrounds every page. The bar stays: it says which environment this is. */
export function PanelLayout({ children }: { children: ReactNode }) {
  return (
    <Layout appBar={PanelAppBar} menu={PanelMenu} appBarAlwaysOn>
      <EnvironmentBand />
      <Suspense fallback={<Loading />}>{children}</Suspense>
    </Layout>
  );
}
