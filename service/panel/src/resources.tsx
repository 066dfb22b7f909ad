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
import { lazy } from 'react';
import type { ResourceProps } from 'react-admin';
import { AuditList } from './activity/audit-list.tsx';
import { CreativeCreate, CreativeEdit, CreativeList } from './creative/creatives.tsx';
import { AdvertiserCreate, AdvertiserEdit, AdvertiserList } from './ads/advertisers.tsx';
import { SourceCreate, SourceEdit, SourceList, SourceShow } from './ads/sources.tsx';
import { HouseAdCreate, HouseAdEdit, HouseAdList } from './ads/house-ads.tsx';
import { KeyCreate, KeyEdit, KeyList } from './key/keys.tsx';
import { KillSwitchPage } from './kill-switch/kill-switch-page.tsx';
import { PlacementCreate, PlacementEdit, PlacementList } from './ads/placements.tsx';
import { PolicyCreate, PolicyEdit, PolicyList } from './policy/policies.tsx';
import { ShowPage } from './common/resource-pages.tsx';
import { UserCreate, UserEdit, UserList } from './user/users.tsx';
import { WebhookCreate, WebhookEdit, WebhookList, WebhookShow } from './webhook/webhooks.tsx';

/** The pages for ad rules. They load when they are first opened. */
const importAdRules = () => import('./ad-load/ad-rules.tsx');
const AdRuleList = lazy(async () => ({ default: (await importAdRules()).AdRuleList }));
const AdRuleCreate = lazy(async () => ({ default: (await importAdRules()).AdRuleCreate }));
const AdRuleEdit = lazy(async () => ({ default: (await importAdRules()).AdRuleEdit }));

/** React-admin's resources. For users without edit permission, clicking a row opens the read-only page. */
export const resources: readonly ResourceProps[] = [
  {
    name: 'placements',
    icon: PlaceIcon,
    list: PlacementList,
    create: PlacementCreate,
    edit: PlacementEdit,
    show: ShowPage,
  },
  {
    name: 'house-ads',
    icon: CampaignIcon,
    list: HouseAdList,
    create: HouseAdCreate,
    edit: HouseAdEdit,
    show: ShowPage,
    options: { label: 'House ads' },
  },
  {
    name: 'creatives',
    icon: MovieIcon,
    list: CreativeList,
    create: CreativeCreate,
    edit: CreativeEdit,
    show: ShowPage,
    recordRepresentation: 'name',
  },
  {
    name: 'advertisers',
    icon: ApartmentIcon,
    list: AdvertiserList,
    create: AdvertiserCreate,
    edit: AdvertiserEdit,
    show: ShowPage,
    recordRepresentation: 'name',
  },
  {
    name: 'sources',
    icon: InputIcon,
    list: SourceList,
    create: SourceCreate,
    edit: SourceEdit,
    show: SourceShow,
    recordRepresentation: 'name',
  },
  {
    name: 'kill-switches',
    icon: BlockIcon,
    list: KillSwitchPage,
    options: { label: 'Kill switches' },
  },
  {
    name: 'policies',
    icon: PolicyIcon,
    list: PolicyList,
    create: PolicyCreate,
    edit: PolicyEdit,
    show: ShowPage,
  },
  {
    name: 'ad-rules',
    icon: HourglassEmptyIcon,
    list: AdRuleList,
    create: AdRuleCreate,
    edit: AdRuleEdit,
    show: ShowPage,
    options: { label: 'Ad load' },
  },
  {
    name: 'audit-entries',
    icon: HistoryIcon,
    list: AuditList,
    options: { label: 'Audit log' },
  },
  {
    name: 'webhooks',
    icon: WebhookIcon,
    list: WebhookList,
    create: WebhookCreate,
    edit: WebhookEdit,
    show: WebhookShow,
    recordRepresentation: 'url',
  },
  { name: 'keys', icon: KeyIcon, list: KeyList, create: KeyCreate, edit: KeyEdit },
  {
    name: 'users',
    icon: GroupIcon,
    list: UserList,
    create: UserCreate,
    edit: UserEdit,
    recordRepresentation: 'email',
  },
];
