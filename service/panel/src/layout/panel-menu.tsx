import ManageSearchIcon from '@mui/icons-material/ManageSearch';
import PlaylistAddCheckIcon from '@mui/icons-material/PlaylistAddCheck';
import QuizIcon from '@mui/icons-material/Quiz';
import { ListSubheader } from '@mui/material';
import type { ReactNode } from 'react';
import { Menu, useGetList, useSidebarState } from 'react-admin';

/** Links to all pages, in typical workflow order. */
export function PanelMenu() {
  return (
    <Menu>
      <Menu.DashboardItem primaryText="Overview" />
      <Heading>Ads</Heading>
      <Menu.ResourceItem name="placements" />
      <Menu.ResourceItem name="house-ads" />
      <Menu.ResourceItem name="creatives" />
      <ReviewItem />
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

const refetchInterval = 60_000;

/** The review queue, with the number of creatives that wait in it. */
function ReviewItem() {
  const { total = 0 } = useGetList(
    'creatives',
    { filter: { 'review.status': 'pending_review' }, pagination: { page: 1, perPage: 1 } },
    { refetchInterval },
  );
  return (
    <Menu.Item
      to="/review"
      primaryText={total === 0 ? 'Review queue' : `Review queue (${total})`}
      leftIcon={<PlaylistAddCheckIcon />}
    />
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
