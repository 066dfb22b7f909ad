import { Box } from '@mui/material';
import { AppBar, Logout, TitlePortal, UserMenu } from 'react-admin';
import { useEnvironment } from '../api/environment.ts';
import { environmentColors } from '../theme.ts';
import { titleStyle, useIsPhone } from './title-place.ts';
import { AccountMenuItem } from './account-menu-item.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';

/** The bar at the top, in the colour of its environment. */
export function PanelAppBar() {
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
