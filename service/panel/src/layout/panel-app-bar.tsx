import { AppBar, Logout, TitlePortal, UserMenu } from 'react-admin';
import { useEnvironment } from '../api/environment.ts';
import { environmentColors } from '../theme.ts';
import { AccountMenuItem } from './account-menu-item.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';

/** The bar at the top, in the colour of its environment. */
export function PanelAppBar() {
  const { environment } = useEnvironment();
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
      <TitlePortal sx={{ display: { xs: 'none', sm: 'block' } }} />
      <EnvironmentSwitch />
    </AppBar>
  );
}
