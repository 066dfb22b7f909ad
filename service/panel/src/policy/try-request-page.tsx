import { Page } from '../common/page.tsx';
import { PanelCard } from '../common/panel-card.tsx';
import { TryRequest } from './try-request.tsx';

/** Asks what the service would decide, by the code that decides. */
export const TryRequestPage = () => (
  <Page
    title="Try a request"
    lead="What would be decided now? Nothing is stored, counted or told to webhooks."
  >
    <PanelCard title="The request">
      <TryRequest />
    </PanelCard>
  </Page>
);
