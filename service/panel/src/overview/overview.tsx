import { Box } from '@mui/material';
import { Page } from '../common/page.tsx';
import { RangeFigures } from '../figures/range-figures.tsx';
import { TopList } from '../figures/top-list.tsx';
import { FailedDeliveries } from './failed-deliveries.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Mistakes } from './mistakes.tsx';
import { NoAdReasons } from './no-ad-reasons.tsx';

/** Requests, impressions, rewards and failed deliveries in a time range. */
export const Overview = () => (
  <Page title="Overview">
    <FirstSteps />
    <RangeFigures>
      {(rows, range) => (
        <Box sx={columnsStyle}>
          <TopList range={range} />
          <NoAdReasons rows={rows} />
        </Box>
      )}
    </RangeFigures>
    <Mistakes />
    <FailedDeliveries />
  </Page>
);

const columnsStyle = {
  display: 'grid',
  gap: 2,
  gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'repeat(2, minmax(0, 1fr))' },
  alignItems: 'start',
};
