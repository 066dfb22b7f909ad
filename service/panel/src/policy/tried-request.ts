import type { DecisionRequest } from '@trueward/protocol/wire';

/** The form values of a trial request. */
export interface TriedRequest {
  placement: string;
  userRef: string;
  locale: string;
  consent: 'granted' | 'denied' | 'unknown';
  device: 'desktop' | 'mobile' | 'tablet';
  childDirected: 'yes' | 'no';
  /** Two letters. */
  country: string;
  /** Comma-separated. */
  segments: string;
}

export const emptyRequest: TriedRequest = {
  placement: '',
  userRef: 'player-1',
  locale: 'en',
  consent: 'granted',
  device: 'desktop',
  childDirected: 'no',
  country: '',
  segments: '',
};

/** Converts the form values to an ad request. */
export const toRequest = (tried: TriedRequest): DecisionRequest => ({
  placement: tried.placement,
  consent: { status: tried.consent },
  segments: [...new Set(tried.segments.split(',').flatMap((each) => each.trim() || []))],
  ...(tried.userRef === '' ? {} : { user_ref: tried.userRef }),
  ...(tried.locale === '' ? {} : { locale: tried.locale }),
  ...(tried.childDirected === 'yes' ? { child_directed: true } : {}),
});
