import ManageAccountsIcon from '@mui/icons-material/ManageAccounts';
import {
  Box,
  ListItemIcon,
  ListItemText,
  MenuItem,
  type Theme,
  useMediaQuery,
} from '@mui/material';
import { type ReactNode, type Ref, Suspense } from 'react';
import { AppBar, Layout, Loading, Logout, TitlePortal, UserMenu, useUserMenu } from 'react-admin';
import { Link } from 'react-router';
import { useEnvironment } from '../api/environment.ts';
import { environmentColors } from '../theme.ts';
import { EnvironmentBand } from './environment-band.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { PanelMenu } from './panel-menu.tsx';

/** Wide tables scroll on their own, so that the page never scrolls horizontally. */
const layoutStyle = {
  minWidth: 0,
  '& .RaLayout-content': { minWidth: 0 },
  '&& .RaList-main': { minWidth: 0, maxWidth: '100%' },
  '&& .RaList-content': { overflowX: 'auto' },
  // Above the table, not over the search, where the scrolling table would cut it off.
  '&& .RaBulkActionsToolbar-toolbar': { position: 'static', transform: 'none' },
  // React-admin folds the bar away, but the keyboard would still reach its buttons.
  '&& .RaBulkActionsToolbar-collapsed': { visibility: 'hidden' },
  '& .wide-only': { display: { xs: 'none', sm: 'table-cell' } },
};

/** The layout of every page. The app bar stays visible, because it shows the environment. */
export function PanelLayout({ children }: { children: ReactNode }) {
  return (
    <Layout appBar={PanelAppBar} menu={PanelMenu} appBarAlwaysOn sx={layoutStyle}>
      <EnvironmentBand />
      {useIsPhone() && <TitlePortal variant="h1" sx={phoneTitleStyle} />}
      <Suspense fallback={<Loading />}>{children}</Suspense>
    </Layout>
  );
}

/**
 * Whether the viewport is as narrow as a phone. If so, the title doesn't fit into the app bar and is shown on the page
 * instead.
 */
const useIsPhone = (): boolean =>
  useMediaQuery<Theme>((theme) => theme.breakpoints.down('sm'), { noSsr: true });

const titleStyle = { fontSize: '1.25rem', fontWeight: 500 };
const phoneTitleStyle = {
  ...titleStyle,
  flex: 'none',
  marginTop: 1.5,
  whiteSpace: 'normal',
  overflowWrap: 'anywhere',
};

/** The user menu's link to the account page. */
function AccountMenuItem({ ref }: { ref?: Ref<HTMLAnchorElement> }) {
  const menu = useUserMenu();
  return (
    <MenuItem component={Link} to="/account" ref={ref ?? null} onClick={menu?.onClose}>
      <ListItemIcon>
        <ManageAccountsIcon fontSize="small" />
      </ListItemIcon>
      <ListItemText>Your account</ListItemText>
    </MenuItem>
  );
}

/** The app bar, in the environment's color. */
function PanelAppBar() {
  const { environment } = useEnvironment();
  const isPhone = useIsPhone();
  return (
    <AppBar
      alwaysOn
      sx={{ backgroundColor: environmentColors[environment], color: '#fff' }}
      userMenu={
        <UserMenu>
          <AccountMenuItem />
          <Logout />
        </UserMenu>
      }
    >
      {isPhone ? <Box sx={{ flex: 1 }} /> : <TitlePortal variant="h1" sx={titleStyle} />}
      <EnvironmentSwitch />
    </AppBar>
  );
}
