import ManageSearchIcon from '@mui/icons-material/ManageSearch';
import PlaylistAddCheckIcon from '@mui/icons-material/PlaylistAddCheck';
import QuizIcon from '@mui/icons-material/Quiz';
import { ListSubheader } from '@mui/material';
import type { ReactNode } from 'react';
import { Menu, useSidebarState } from 'react-admin';

/** Links to all pages, in typical workflow order. */
export function PanelMenu() {
  return (
    <Menu>
      <Menu.DashboardItem primaryText="Overview" />
      <Heading>Ads</Heading>
      <Menu.ResourceItem name="placements" />
      <Menu.ResourceItem name="house-ads" />
      <Menu.ResourceItem name="creatives" />
      <Menu.Item to="/review" primaryText="Review queue" leftIcon={<PlaylistAddCheckIcon />} />
      <Menu.ResourceItem name="advertisers" />
      <Menu.ResourceItem name="sources" />
      <Heading>Rules</Heading>
      <Menu.ResourceItem name="kill-switches" />
      <Menu.ResourceItem name="policies" />
      <Menu.ResourceItem name="ad-rules" />
      <Menu.Item to="/try" primaryText="Try a request" leftIcon={<QuizIcon />} />
      <Heading>Activity</Heading>
      <Menu.Item to="/decisions" primaryText="Decisions" leftIcon={<ManageSearchIcon />} />
      <Menu.Item to="/players" primaryText="Players" leftIcon={<ManageSearchIcon />} />
      <Menu.ResourceItem name="audit-entries" />
      <Heading>Access</Heading>
      <Menu.ResourceItem name="webhooks" />
      <Menu.ResourceItem name="keys" />
      <Menu.ResourceItem name="users" />
    </Menu>
  );
}

function Heading({ children }: { children: ReactNode }) {
  const [open] = useSidebarState();
  if (!open) return null;
  return (
    <ListSubheader
      component="li"
      role="presentation"
      disableSticky
      sx={{ lineHeight: '2.4', backgroundColor: 'transparent', color: 'text.secondary' }}
    >
      {children}
    </ListSubheader>
  );
}
