import { Page, PanelCard } from '../common/page.tsx';
import { TryRequest } from './try-request.tsx';

/** A dry run: the service makes the decision with its production code, but stores nothing. */
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
