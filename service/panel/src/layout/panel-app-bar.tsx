import { AppBar, Logout, TitlePortal, UserMenu } from 'react-admin';
import { useEnvironment } from '../api/environment.ts';
import { environmentColors } from '../theme.ts';
import { AccountMenuItem } from './account-menu-item.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';

/** On a phone there is room for it to be read out only. */
const titleStyle = {
  fontSize: '1.25rem',
  fontWeight: 500,
  opacity: { xs: 0, sm: 1 },
  width: { xs: 0, sm: 'auto' },
};

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
      <TitlePortal variant="h1" sx={titleStyle} />
      <EnvironmentSwitch />
    </AppBar>
  );
}
