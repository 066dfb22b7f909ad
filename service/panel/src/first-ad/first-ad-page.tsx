import { Alert, Link, Step, StepContent, StepLabel, Stepper } from '@mui/material';
import type { ReactNode } from 'react';
import { Loading, useCanAccess } from 'react-admin';
import { Link as RouterLink } from 'react-router';
import { Page } from '../common/page.tsx';
import { ReviewCard } from '../creative/review-card.tsx';
import { CodeToPaste } from './code-to-paste.tsx';
import { AdvertiserStep, CreativeStep, HouseAdStep, KeyStep, PlacementStep } from './steps.tsx';
import { type FirstAd, stepNames, useFirstAd } from './use-first-ad.ts';

/** Leads from an empty environment to the first ad, one step after the other. */
export function FirstAdPage() {
  const firstAd = useFirstAd(true);
  const { canAccess = true } = useCanAccess({ resource: 'placements', action: 'create' });
  if (!firstAd.isKnown) return <Loading />;
  const { done } = firstAd;
  return (
    <Page
      title="Your first ad"
      lead="Seven short steps. You can leave at any time and go on later; everything can be changed afterward."
    >
      {canAccess ? (
        <Stepper activeStep={done} orientation="vertical">
          {stepNames.map((name, index) => (
            <Step key={name}>
              <StepLabel>{name}</StepLabel>
              <StepContent>{index === done && <CurrentStep firstAd={firstAd} />}</StepContent>
            </Step>
          ))}
        </Stepper>
      ) : (
        <Alert severity="info">Ask an owner or an operator to set up the first ad.</Alert>
      )}
      {done === stepNames.length && (
        <Alert severity="success">
          Your game has requested an ad.{' '}
          <Link component={RouterLink} to={`/decisions/${firstAd.decision?.id}`}>
            See what happened
          </Link>
        </Alert>
      )}
    </Page>
  );
}

function CurrentStep({ firstAd }: { firstAd: FirstAd }): ReactNode {
  const { placement, advertiser, creative, key, done } = firstAd;
  if (done === 0 || !placement) return <PlacementStep />;
  if (done === 1 || !advertiser) return <AdvertiserStep />;
  if (done === 2 || !creative) return <CreativeStep advertiser={advertiser} />;
  if (done === 3) {
    return creative.review.status === 'pending_review' ? (
      <ReviewCard creative={creative} canReview />
    ) : (
      <Alert severity="warning">
        {creative.name} is {creative.review.status}: {creative.review.feedback ?? 'no feedback'}.{' '}
        <Link component={RouterLink} to={`/creatives/${creative.id}`}>
          Change it
        </Link>{' '}
        or{' '}
        <Link component={RouterLink} to="/creatives/create">
          upload another one
        </Link>
        .
      </Alert>
    );
  }
  if (done === 4) return <HouseAdStep creative={creative} placement={placement} />;
  if (done === 5 || !key) return <KeyStep />;
  return <CodeToPaste placement={placement} publishableKey={key.key ?? 'pk_…'} />;
}
