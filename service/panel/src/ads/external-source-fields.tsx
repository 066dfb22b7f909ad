import type { Source } from '@trueward/protocol/wire';
import {
  BooleanInput,
  NumberInput,
  required,
  SelectInput,
  TextArrayInput,
  TextInput,
  useRecordContext,
} from 'react-admin';
import { AdvancedFields } from '../common/advanced-fields.tsx';
import { makeChoices } from '../common/choices.tsx';
import { DurationInput } from '../common/duration-input.tsx';
import { PlacementsInput } from '../common/placements-input.tsx';
import {
  formatSupplyChain,
  fromMicros,
  parseHeaders,
  parseObject,
  parseSupplyChain,
  toMicros,
} from './source-values.ts';

interface Props {
  kind: Source['kind'];
  isReviewAutomatic: boolean;
}

/** Form fields for VAST tags and OpenRTB bidders. Most sources need only the first three. */
export const ExternalSourceFields = ({ kind, isReviewAutomatic }: Props) => (
  <>
    {kind === 'vast' ? <VastFields /> : <OpenRtbFields />}
    <SourcePlacements />
    <AdvancedFields title="Advanced settings">
      {kind === 'openrtb' && <BidderDetails />}
      <CommonFields isReviewAutomatic={isReviewAutomatic} />
    </AdvancedFields>
  </>
);

/** Form fields for an ad SDK in the game's page. */
export const PageSourceFields = () => (
  <>
    <TextInput
      source="adapter"
      label="Ad SDK"
      helperText="google_h5, or custom: and your adapter’s name. The game lists it in pageAds."
      defaultValue="google_h5"
      validate={required()}
    />
    <SourcePlacements />
    <PriorityInput />
    <ChildDirectedInput />
  </>
);

const SourcePlacements = () => (
  <PlacementsInput
    label="Placements"
    helperText="Rewarded and interstitial placements. If empty, the source is not used."
  />
);

const PriorityInput = () => (
  <NumberInput
    source="priority"
    label="Priority"
    helperText="1 is the highest, 10 the lowest, as for house ads. Default: 5."
    min={1}
    max={10}
  />
);

const ChildDirectedInput = () => (
  <BooleanInput
    source="child_directed"
    label="Accepts child-directed requests"
    defaultValue={false}
  />
);

const VastFields = () => (
  <>
    <TextInput
      source="tag_url"
      label="VAST tag URL"
      helperText="HTTPS only. VAST macros such as [CACHEBUSTING] are expanded."
      validate={required()}
    />
    <MoneyInput
      source="cpm_micros"
      label="Value per 1,000 impressions"
      helperText="The network’s average. Ranks sources of equal priority and counts as revenue."
    />
  </>
);

const OpenRtbFields = () => (
  <>
    <TextInput
      source="endpoint_url"
      type="url"
      label="Bidder URL"
      helperText="HTTPS only."
      validate={required()}
    />
    <MoneyInput
      source="floor_micros"
      label="Floor per 1,000 impressions"
      helperText="Lower bids are rejected."
    />
  </>
);

/** What a bidder needs to know about the sellers, and the protocol. */
const BidderDetails = () => (
  <>
    <TextInput
      source="publisher_id"
      label="Publisher ID"
      helperText="Your ID in the bidder’s ads.txt line."
    />
    <TextInput
      source="supply_chain"
      label="Supply chain"
      helperText="The sellers before the bidder, starting with you. One per line: exchange.example, 1234"
      multiline
      format={formatSupplyChain}
      validate={(value: unknown) =>
        typeof value === 'string' && parseSupplyChain(value) === undefined
          ? 'Enter one “domain, seller ID” per line'
          : undefined
      }
    />
    <TextInput
      source="ext"
      label="Extra bid request fields (JSON)"
      helperText='Merged into each request. Prebid Server: {"ext":{"prebid":{"storedrequest":{"id":"…"}}}}'
      multiline
      format={(value: unknown) =>
        value === undefined || typeof value === 'string' ? value : JSON.stringify(value, null, 2)
      }
      validate={(value: unknown) =>
        typeof value === 'string' && parseObject(value) === undefined
          ? 'Enter a JSON object'
          : undefined
      }
    />
    <SelectInput
      source="ortb_version"
      label="OpenRTB version"
      choices={makeChoices('2.6', '2.5')}
      helperText="Default: 2.6."
    />
  </>
);

const CommonFields = ({ isReviewAutomatic }: Pick<Props, 'isReviewAutomatic'>) => (
  <>
    <PriorityInput />
    <TextInput source="currency" label="Currency" helperText="For example EUR. Default: USD." />
    <DurationInput
      source="timeout_ms"
      label="Timeout"
      helperText="How long the source may take, for example 800 ms. Default: 1 s."
      unit="ms"
      min={100}
      max={5_000}
    />
    <HeadersInput />
    <SelectInput
      source="review"
      label="Review of new creatives"
      choices={[
        { id: 'manual', name: 'Manual' },
        { id: 'automatic', name: 'Automatic for the advertisers below' },
      ]}
      helperText="Whether the source’s new creatives wait in the review queue. Default: manual."
    />
    {isReviewAutomatic && (
      <TextArrayInput
        source="allowed_domains"
        label="Approved advertisers"
        helperText="For example shop.example. Press Enter after each one."
        validate={required()}
      />
    )}
    <SelectInput
      source="impression_on"
      label="Report impressions"
      choices={[
        { id: 'verified', name: 'When they are verified' },
        { id: 'rendered', name: 'When the ad is on screen' },
      ]}
      helperText="Default: when verified."
    />
    <DurationInput
      source="tracking_window_s"
      label="Tracking window"
      helperText="How long after the decision trackers may be requested. Default: 30 min."
      unit="s"
      min={60}
      max={86_400}
    />
    <SelectInput
      source="header_profile"
      label="Tracker headers"
      choices={[
        { id: 'iab', name: 'X-Device-IP and X-Device-User-Agent' },
        { id: 'forwarded', name: 'X-Forwarded-For and User-Agent' },
      ]}
      helperText="Headers with the player’s IP. Default: X-Device-IP."
    />
    <TextInput
      source="ads_txt.domain"
      label="ads.txt domain"
      helperText="Your site’s root domain. trueward-service doctor checks its ads.txt."
    />
    <TextInput
      source="ads_txt.lines"
      label="ads.txt lines"
      helperText="The source’s records, one per line."
      multiline
      format={(lines: unknown) => (Array.isArray(lines) ? lines.join('\n') : lines)}
      parse={(text: string) => (text === '' ? null : text.split('\n'))}
    />
    <ChildDirectedInput />
  </>
);

interface MoneyProps {
  source: string;
  label: string;
  helperText: string;
}

const MoneyInput = ({ source, label, helperText }: MoneyProps) => (
  <NumberInput
    source={source}
    label={label}
    helperText={helperText}
    format={fromMicros}
    parse={toMicros}
    min={0}
    step="any"
  />
);

/** An input for request headers. The service never returns stored header values. */
function HeadersInput() {
  const { request_header_names: names = [] } = useRecordContext<Source>() ?? {};
  const storedNames =
    names.length === 0 ? '' : ` Stored: ${names.join(', ')}. Enter - to remove them.`;
  return (
    <TextInput
      source="request_headers"
      label="Request headers"
      helperText={`One per line, such as Authorization: Bearer abc. Replaces stored headers.${storedNames}`}
      multiline
      autoComplete="off"
      validate={(value: unknown) =>
        typeof value === 'string' && parseHeaders(value) === undefined
          ? 'Enter one “Name: value” per line'
          : undefined
      }
    />
  );
}
