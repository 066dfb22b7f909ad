import ApartmentIcon from '@mui/icons-material/Apartment';
import BlockIcon from '@mui/icons-material/Block';
import CampaignIcon from '@mui/icons-material/Campaign';
import GroupIcon from '@mui/icons-material/Group';
import HistoryIcon from '@mui/icons-material/History';
import InputIcon from '@mui/icons-material/Input';
import KeyIcon from '@mui/icons-material/Key';
import MovieIcon from '@mui/icons-material/Movie';
import HourglassEmptyIcon from '@mui/icons-material/HourglassEmpty';
import PlaceIcon from '@mui/icons-material/Place';
import PolicyIcon from '@mui/icons-material/Policy';
import WebhookIcon from '@mui/icons-material/Webhook';
import type { ResourceProps } from 'react-admin';
import { page } from './layout/lazy-page.tsx';

/** React-admin's resources. For users without edit permission, clicking a row opens the read-only page. */
export const resources: readonly ResourceProps[] = [
  {
    name: 'placements',
    icon: PlaceIcon,
    list: page(() => import('./ads/placements.tsx'), 'PlacementList'),
    create: page(() => import('./ads/placements.tsx'), 'PlacementCreate'),
    edit: page(() => import('./ads/placements.tsx'), 'PlacementEdit'),
    show: page(() => import('./resource/resource-pages.tsx'), 'ShowPage'),
  },
  {
    name: 'house-ads',
    icon: CampaignIcon,
    list: page(() => import('./ads/house-ads.tsx'), 'HouseAdList'),
    create: page(() => import('./ads/house-ads.tsx'), 'HouseAdCreate'),
    edit: page(() => import('./ads/house-ads.tsx'), 'HouseAdEdit'),
    show: page(() => import('./resource/resource-pages.tsx'), 'ShowPage'),
    options: { label: 'House ads' },
  },
  {
    name: 'creatives',
    icon: MovieIcon,
    list: page(() => import('./creative/creatives.tsx'), 'CreativeList'),
    create: page(() => import('./creative/creatives.tsx'), 'CreativeCreate'),
    edit: page(() => import('./creative/creatives.tsx'), 'CreativeEdit'),
    show: page(() => import('./resource/resource-pages.tsx'), 'ShowPage'),
    recordRepresentation: 'name',
  },
  {
    name: 'advertisers',
    icon: ApartmentIcon,
    list: page(() => import('./ads/advertisers.tsx'), 'AdvertiserList'),
    create: page(() => import('./ads/advertisers.tsx'), 'AdvertiserCreate'),
    edit: page(() => import('./ads/advertisers.tsx'), 'AdvertiserEdit'),
    show: page(() => import('./resource/resource-pages.tsx'), 'ShowPage'),
    recordRepresentation: 'name',
  },
  {
    name: 'sources',
    icon: InputIcon,
    list: page(() => import('./ads/sources.tsx'), 'SourceList'),
    create: page(() => import('./ads/sources.tsx'), 'SourceCreate'),
    edit: page(() => import('./ads/sources.tsx'), 'SourceEdit'),
    show: page(() => import('./ads/sources.tsx'), 'SourceShow'),
    recordRepresentation: 'name',
  },
  {
    name: 'kill-switches',
    icon: BlockIcon,
    list: page(() => import('./kill-switch/kill-switch-page.tsx'), 'KillSwitchPage'),
    options: { label: 'Kill switches' },
  },
  {
    name: 'policies',
    icon: PolicyIcon,
    list: page(() => import('./policy/policies.tsx'), 'PolicyList'),
    create: page(() => import('./policy/policies.tsx'), 'PolicyCreate'),
    edit: page(() => import('./policy/policies.tsx'), 'PolicyEdit'),
    show: page(() => import('./resource/resource-pages.tsx'), 'ShowPage'),
  },
  {
    name: 'ad-rules',
    icon: HourglassEmptyIcon,
    list: page(() => import('./ad-rules/ad-rules.tsx'), 'AdRuleList'),
    create: page(() => import('./ad-rules/ad-rules.tsx'), 'AdRuleCreate'),
    edit: page(() => import('./ad-rules/ad-rules.tsx'), 'AdRuleEdit'),
    show: page(() => import('./resource/resource-pages.tsx'), 'ShowPage'),
    options: { label: 'Ad rules' },
  },
  {
    name: 'audit-entries',
    icon: HistoryIcon,
    list: page(() => import('./activity/audit-list.tsx'), 'AuditList'),
    options: { label: 'Audit log' },
  },
  {
    name: 'webhooks',
    icon: WebhookIcon,
    list: page(() => import('./webhook/webhooks.tsx'), 'WebhookList'),
    create: page(() => import('./webhook/webhooks.tsx'), 'WebhookCreate'),
    edit: page(() => import('./webhook/webhooks.tsx'), 'WebhookEdit'),
    show: page(() => import('./webhook/webhooks.tsx'), 'WebhookShow'),
    // The page's title has no room for more.
    recordRepresentation: ({ url }: { url?: string }) => (url ? new URL(url).host : ''),
  },
  {
    name: 'keys',
    icon: KeyIcon,
    list: page(() => import('./key/keys.tsx'), 'KeyList'),
    create: page(() => import('./key/keys.tsx'), 'KeyCreate'),
    edit: page(() => import('./key/keys.tsx'), 'KeyEdit'),
  },
  {
    name: 'users',
    icon: GroupIcon,
    list: page(() => import('./user/users.tsx'), 'UserList'),
    create: page(() => import('./user/users.tsx'), 'UserCreate'),
    edit: page(() => import('./user/users.tsx'), 'UserEdit'),
    recordRepresentation: 'email',
  },
];
