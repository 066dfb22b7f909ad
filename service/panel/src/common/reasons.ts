import { humanize } from './status-chip.tsx';

/** A reason in words: a short name, and a sentence that says what happened and what can be done about it. */
interface Reason {
  name: string;
  text: string;
}

/** Why a request had no ad, and why a candidate was not chosen. */
const adReasons: Readonly<Record<string, Reason>> = {
  ad_free: {
    name: 'Player without ads',
    text: 'Your server’s user token frees the player from ads, or a timed reward that an ad rule names. This is intended.',
  },
  frequency_capped: {
    name: 'Frequency cap reached',
    text: 'The player has seen as many ads as the placement’s frequency cap or an ad rule allows. Raise it to show more.',
  },
  cooldown: {
    name: 'Too soon after an ad',
    text: 'The player’s last ad was too recent. Shorten the placement’s cooldown, or the gap of an ad rule, to show ads sooner.',
  },
  no_candidates: {
    name: 'No ad to show',
    text: 'No house ad or source can serve this placement now. Create a house ad, or check the status, dates and formats of the existing ones.',
  },
  not_approved: {
    name: 'Creative not approved',
    text: 'The creative has not been approved. Approve it in the review queue.',
  },
  budget: {
    name: 'Daily cap reached',
    text: 'The house ad has reached its daily cap, which starts again at midnight UTC. Raise the cap to show it today.',
  },
  paused: {
    name: 'Placement paused',
    text: 'The placement is paused. Set its status to active to show ads.',
  },
  killed: {
    name: 'Stopped by a kill switch',
    text: 'A kill switch stops the ad, its advertiser, its source or the placement. Resume it under Kill switches.',
  },
  policy: {
    name: 'Blocked by a policy',
    text: 'A policy blocks it. Change the policy’s conditions if that was not intended.',
  },
  commercial: {
    name: 'Blocked by a contract',
    text: 'A commercial policy blocks it. Change the policy’s conditions if that was not intended.',
  },
  brand_safety: {
    name: 'Blocked for brand safety',
    text: 'A brand safety policy blocks it. Change the policy’s conditions if that was not intended.',
  },
  rate_limited: {
    name: 'Too many requests',
    text: 'The player or device sent too many requests. Check whether the game requests ads in a loop.',
  },
  consent_required: {
    name: 'Consent missing',
    text: 'The player has not consented. Ask for consent before the first ad.',
  },
  chosen: { name: 'chosen', text: 'This ad was shown.' },
  eligible: { name: 'eligible', text: 'It could have been shown.' },
  priority_or_weight: {
    name: 'not picked',
    text: 'Another ad had a higher priority, or was picked by weight. Raise the priority or the weight to show it more often.',
  },
  source_paused: {
    name: 'source paused',
    text: 'The creative’s source is paused. Set the source’s status to active.',
  },
  out_of_schedule: {
    name: 'outside its dates',
    text: 'The house ad has not started yet, or has ended. Change its dates to show it now.',
  },
  format_not_accepted: {
    name: 'format not accepted',
    text: 'The game did not accept the creative’s format. Choose a creative in another format, or allow it in the game.',
  },
  not_ready_in_page: {
    name: 'not ready in the page',
    text: 'The source’s ad SDK was not ready in the player’s page. Check that the game lists it in pageAds. An ad blocker may also have blocked it.',
  },
  page_cap: {
    name: 'cap of page rewards reached',
    text: 'The player has reached the placement’s cap for rewards that only an ad SDK in the page confirms.',
  },
  no_bid: { name: 'no bid', text: 'The source had no ad for this request. Nothing is wrong.' },
  offer: { name: 'not picked', text: 'Another ad had a higher priority or price.' },
  timeout: {
    name: 'timeout',
    text: 'The source did not respond in time. Raise its timeout, or ask its operator.',
  },
  source_error: {
    name: 'source failed',
    text: 'The source’s response could not be used. Try the source on its page to see the details.',
  },
  below_floor: {
    name: 'below the floor',
    text: 'The bid was lower than the source’s floor. Lower the floor to accept such bids.',
  },
  refused: {
    name: 'refused',
    text: 'The ad can’t be used. Try the source on its page to see the details.',
  },
};

/** Why a reward is pending, denied or expired. */
const rewardReasons: Readonly<Record<string, Reason>> = {
  not_rewarded_placement: {
    name: 'no reward here',
    text: 'The placement’s format has no reward.',
  },
  no_impression: {
    name: 'not seen yet',
    text: 'No verified impression has arrived. The device may be offline; the reward is earned when its events arrive.',
  },
  awaiting_callback: {
    name: 'not confirmed by the network',
    text: 'The ad network’s server has not confirmed the view. If none is confirmed, check the callback URL at the network and on the source’s page.',
  },
  watched_too_little: {
    name: 'watched too little',
    text: 'The ad was not watched long enough. If many rewards have this reason, compare the file’s length with the creative’s.',
  },
  impossible_timing: {
    name: 'impossible timing',
    text: 'There was not enough time to watch the ad. If honest players have this reason, check whether the game ends ads itself.',
  },
  overlapping_watch: {
    name: 'overlapping ads',
    text: 'Two ads seem to have been watched at once. Check whether several players share a reference.',
  },
  killed: { name: 'stopped', text: 'A kill switch stopped the ad while it was shown.' },
  invalid_traffic: {
    name: 'invalid traffic',
    text: 'The request came from a bot, or its events can’t come from a real player.',
  },
  frequency_capped: {
    name: 'frequency cap reached',
    text: 'The player had reached a frequency cap with other ads in the meantime.',
  },
  late: {
    name: 'too late',
    text: 'The completion arrived after the placement’s late window. Make it longer to accept later ones.',
  },
  simulated: { name: 'simulated', text: 'The game asked for this outcome in the sandbox.' },
};

/**
 * Describes a reason in words. A reason with details, such as `policy: No films`, keeps them. An unknown one is shown as
 * it is, because the service may be newer than this page.
 */
function describe(reasons: Readonly<Record<string, Reason>>, code: string): Reason {
  const [name = '', ...details] = code.split(': ');
  const detail = details.join(': ');
  const reason = reasons[name] ?? { name: humanize(name), text: '' };
  return detail === '' ? reason : { ...reason, text: `${detail}. ${reason.text}`.trim() };
}

/** Describes why there was no ad, or why a candidate was not chosen. */
export const describeAdReason = (code: string): Reason => describe(adReasons, code);

/** Describes why a reward is pending, denied or expired. */
export const describeRewardReason = (code: string): Reason => describe(rewardReasons, code);
