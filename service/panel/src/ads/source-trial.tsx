import { Alert, Box, Button, Chip, Link } from '@mui/material';
import type { DecisionCreative, Source } from '@trueward/protocol/wire';
import { type ReactNode, useState } from 'react';
import { Link as RouterLink } from 'react-router';
import { useAction } from '../api/use-call.ts';
import { ChoiceField } from '../common/choices.tsx';
import { Facts } from '../common/facts.tsx';
import { PanelCard } from '../common/page.tsx';
import { humanize } from '../common/status-chip.tsx';
import { CreativePreview } from '../preview/creative-preview.tsx';
import { fromMicros } from './source-values.ts';

interface Exchange {
  method: string;
  url: string;
  /** The URL after redirects. */
  final_url?: string;
  headers: Record<string, string>;
  secret_headers: string[];
  body?: string;
  ms: number;
  http_status?: number;
  failure?: string;
  text?: string;
}

interface Ad {
  advertiser?: string;
  advertiser_domain?: string;
  creative_key: string;
  price_micros: number;
  currency: string;
  media: { url: string; mime: string; width: number; height: number; duration_ms?: number };
  categories: string[];
  click_url?: string;
  skip_after_ms?: number;
  expires_at?: string;
  trackers: { event: string; url: string }[];
}

interface Trial {
  verdict: string;
  ms?: number;
  vast_error?: number;
  exchanges: Exchange[];
  steps: ({ step: string; depth: number } & Record<string, unknown>)[];
  notices: { kind: string; url: string }[];
  ad?: Ad;
  /** The imported creative, as players would receive it. */
  creative?: DecisionCreative;
  review?: string;
}

const consents = [
  { id: 'unknown', name: 'Unknown' },
  { id: 'granted', name: 'Granted' },
  { id: 'denied', name: 'Denied' },
];

/** Sends one request to a saved source, exactly as a decision would, and shows the full response. */
export function SourceTrial({ source }: { source: Source }) {
  const { placements = [] } = source;
  const [placement, setPlacement] = useState(placements[0] ?? '');
  const [consent, setConsent] = useState('unknown');
  const { run, isRunning, result } = useAction<Trial>({ refetches: false });
  const start = (submit: boolean) =>
    run(`/panel/api/sources/${source.id}/try`, { body: { placement, consent, submit } });
  if (placements.length === 0) {
    return (
      <PanelCard title="Try it">
        <Alert severity="info">Choose a placement and save the source to try it.</Alert>
      </PanelCard>
    );
  }
  return (
    <PanelCard title="Try it">
      <Box component="p" sx={{ marginTop: 0, color: 'text.secondary' }}>
        Sends one request with the saved settings. It is not counted, and no notices or trackers are
        requested.
      </Box>
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}>
        <ChoiceField
          label="Placement"
          choices={placements.map((name) => ({ id: name, name }))}
          value={placement}
          onChange={setPlacement}
        />
        <ChoiceField label="Consent" choices={consents} value={consent} onChange={setConsent} />
        <Button variant="contained" disabled={isRunning} onClick={() => start(false)}>
          {isRunning ? 'Waiting…' : 'Try it'}
        </Button>
      </Box>
      <Box aria-live="polite" sx={{ marginTop: 2 }}>
        {result && !isRunning && (
          <TrialResult trial={result} source={source} onSubmit={() => start(true)} />
        )}
      </Box>
    </PanelCard>
  );
}

interface ResultProps {
  trial: Trial;
  source: Source;
  onSubmit(): void;
}

function TrialResult({ trial, source, onSubmit }: ResultProps) {
  const { verdict, ms, vast_error: vastError, exchanges, steps, notices, ad, creative } = trial;
  return (
    <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <Alert
        severity={verdict === 'chosen' ? 'success' : ad ? 'info' : 'warning'}
        action={
          ad && verdict === 'creative_pending' ? (
            <Button color="inherit" onClick={onSubmit}>
              Submit for review
            </Button>
          ) : undefined
        }
      >
        {describeVerdict(verdict, source)}
        {verdict === 'not_approved' && (
          <>
            {' '}
            <Link component={RouterLink} to={`/creatives/${creative?.id}`}>
              Review it
            </Link>
          </>
        )}
      </Alert>
      <Facts
        facts={{
          Latency: ms === undefined ? undefined : `${ms} ms`,
          'VAST error': vastError && `${vastError}: ${vastErrors[vastError] ?? 'undefined error'}`,
        }}
      />
      {creative && <CreativePreview title="Preview" creative={creative} format="rewarded" />}
      {ad && <AdFacts ad={ad} />}
      <UrlList title="Trackers" urls={ad?.trackers.map(({ event, url }) => [event, url]) ?? []} />
      <UrlList title="Notices" urls={notices.map(({ kind, url }) => [kind, url])} />
      {steps.length > 0 && (
        <Details title={`Steps (${steps.length})`}>
          <ol style={{ margin: 0, overflowWrap: 'anywhere' }}>
            {steps.map((step, index) => (
              <li key={index} style={{ marginLeft: step.depth * 16 }}>
                {describeStep(step)}
              </li>
            ))}
          </ol>
        </Details>
      )}
      {exchanges.map((exchange, index) => (
        <ExchangeDetails key={index} exchange={exchange} />
      ))}
    </Box>
  );
}

const AdFacts = ({ ad }: { ad: Ad }) => (
  <Facts
    facts={{
      Advertiser:
        [...new Set([ad.advertiser, ad.advertiser_domain])].filter(Boolean).join(', ') ||
        'not named',
      Creative: ad.creative_key,
      'Price per 1,000': `${fromMicros(ad.price_micros)} ${ad.currency}`,
      Media: `${ad.media.mime}, ${ad.media.width} × ${ad.media.height}: ${ad.media.url}`,
      Categories: ad.categories.join(', '),
      'Click-through URL': ad.click_url,
      'Skippable after': ad.skip_after_ms === undefined ? undefined : `${ad.skip_after_ms} ms`,
      Expires: ad.expires_at,
    }}
  />
);

const Details = ({ title, children }: { title: ReactNode; children: ReactNode }) => (
  <details>
    <summary style={{ cursor: 'pointer', overflowWrap: 'anywhere' }}>{title}</summary>
    <Box sx={{ paddingTop: 1 }}>{children}</Box>
  </details>
);

const UrlList = ({ title, urls }: { title: string; urls: (readonly [string, string])[] }) =>
  urls.length === 0 ? null : (
    <Details title={`${title} (${urls.length})`}>
      <Box component="ul" sx={{ margin: 0, paddingLeft: 2, overflowWrap: 'anywhere' }}>
        {urls.map(([name, url], index) => (
          <li key={index}>
            <strong>{humanize(name)}</strong> {url}
          </li>
        ))}
      </Box>
    </Details>
  );

function ExchangeDetails({ exchange }: { exchange: Exchange }) {
  const { method, url, final_url: finalUrl, headers, body, ms, failure, text } = exchange;
  const status = exchange.http_status;
  return (
    <Details
      title={
        <>
          <Chip
            size="small"
            variant="outlined"
            color={failure === undefined ? 'success' : 'error'}
            label={status ?? 'failed'}
          />{' '}
          {method} {url} ({ms} ms)
        </>
      }
    >
      {failure !== undefined && <Alert severity="error">{failure}</Alert>}
      <Facts
        facts={{
          'Redirected to': finalUrl === url ? undefined : finalUrl,
          'Request headers': [
            ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
            ...exchange.secret_headers.map((name) => `${name}: (hidden)`),
          ].join('; '),
        }}
      />
      {body !== undefined && <Document title="Request" text={indentJson(body)} />}
      {text !== undefined && text !== '' && <Document title="Response" text={indentJson(text)} />}
    </Details>
  );
}

const Document = ({ title, text }: { title: string; text: string }) => (
  <>
    <Box component="h3" sx={{ fontSize: '1rem', marginBlock: 1 }}>
      {title}
    </Box>
    <Box
      component="pre"
      tabIndex={0}
      role="group"
      aria-label={title}
      sx={{ margin: 0, padding: 1, maxHeight: 320, overflow: 'auto', bgcolor: 'action.hover' }}
    >
      {text}
    </Box>
  </>
);

/** Indents JSON; returns other text, such as XML, unchanged. */
function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function describeVerdict(verdict: string, { timeout_ms: timeoutMs = 1_000 }: Source): string {
  const [kind = '', ...details] = verdict.split(': ');
  if (details.length > 0) return `${verdictTexts[kind] ?? humanize(kind)}: ${details.join(': ')}`;
  if (verdict === 'timeout') return `The source did not respond within ${timeoutMs} ms.`;
  return verdictTexts[verdict] ?? `The ad would not be shown: ${humanize(verdict)}.`;
}

const verdictTexts: Record<string, string> = {
  chosen: 'The ad would be shown.',
  creative_pending: 'The source has an ad, but its creative has not been imported yet.',
  not_approved: 'The source has an ad, but its creative is pending review or has been rejected.',
  no_bid: 'The source has no ad for this request.',
  below_floor: 'All bids are below the floor.',
  circuit_open:
    'Requests to the source are paused, because it has failed repeatedly. Try again in ten seconds.',
  killed: 'A source or placement kill switch is active.',
  refused: 'The ad cannot be used',
  source_error: 'The source failed',
};

function describeStep({ step, ...facts }: Trial['steps'][number]): string {
  const details = Object.entries(facts)
    .filter(([name, value]) => name !== 'depth' && value !== undefined)
    .map(
      ([name, value]) =>
        `${name}: ${typeof value === 'number' ? Math.round(value) : String(value)}`,
    );
  return [humanize(step), ...details].join(', ');
}

/** VAST error codes (VAST 4.3, section 2.3.6.3). */
const vastErrors: Record<number, string> = {
  100: 'the document is not well-formed XML, or too large',
  101: 'the document is not valid VAST',
  102: 'unsupported VAST version',
  200: 'unsupported ad type',
  201: 'the ad is not linear',
  202: 'unusable duration',
  205: 'blocked category',
  206: 'only one ad in a pod is shown',
  300: 'unusable wrapper',
  301: 'the document was unavailable or timed out',
  302: 'too many wrappers',
  303: 'no ad',
  403: 'no playable media file',
  409: 'the ad’s interactive part is not supported',
  900: 'undefined error',
};
