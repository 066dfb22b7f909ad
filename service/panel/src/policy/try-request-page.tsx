import { Page } from '../common/page.tsx';
import { PanelCard } from '../common/panel-card.tsx';
import { TryRequest } from './try-request.tsx';

/** Asks what the service would decide, by the code that decides. */
export const TryRequestPage = () => (
  <Page
    title="Try a request"
    lead="See what the service would decide. Nothing is stored, counted or sent to webhooks."
  >
    <PanelCard title="Request">
      <TryRequest />
    </PanelCard>
  </Page>
);
