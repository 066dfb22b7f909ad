import { findCurrentScript } from '../platform/native.ts';
import { connectPageAds } from '../portal/connect-page-ads.ts';
import { connectPortal } from '../portal/connect-portal.ts';
import { partsEvent, type PortalParts } from './portal-parts.ts';

// The file that `portal-parts.ts` loads. Nothing else is defined in the page.
const detail: PortalParts = { connectPageAds, connectPortal };
findCurrentScript()?.dispatchEvent(new CustomEvent(partsEvent, { detail }));
