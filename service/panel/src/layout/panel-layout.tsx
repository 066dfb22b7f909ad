import { type ReactNode, Suspense } from 'react';
import { Layout, Loading, TitlePortal } from 'react-admin';
import { EnvironmentBand } from './environment-band.tsx';
import { PanelAppBar } from './panel-app-bar.tsx';
import { PanelMenu } from './panel-menu.tsx';
import { titleStyle, useIsPhone } from './title-place.ts';

/** Wide tables scroll on their own, so that the page does not. */
const layoutStyle = {
  minWidth: 0,
  '& .RaLayout-content': { minWidth: 0 },
  '&& .RaList-main': { minWidth: 0, maxWidth: '100%' },
  '&& .RaList-content': { overflowX: 'auto' },
};

/** The layout of every page. The app bar stays visible, because it shows the environment. */
export function PanelLayout({ children }: { children: ReactNode }) {
  return (
    <Layout appBar={PanelAppBar} menu={PanelMenu} appBarAlwaysOn sx={layoutStyle}>
      <EnvironmentBand />
      {useIsPhone() && (
        <TitlePortal variant="h1" sx={{ ...titleStyle, flex: 'none', marginTop: 1.5 }} />
      )}
      <Suspense fallback={<Loading />}>{children}</Suspense>
    </Layout>
  );
}
