import type { DecisionRequest } from '@trueward/protocol/wire';

/** A request as it is filled in. */
export interface TriedRequest {
  placement: string;
  userRef: string;
  locale: string;
  consent: 'granted' | 'denied' | 'unknown';
  device: 'desktop' | 'mobile' | 'tablet';
  childDirected: 'yes' | 'no';
  /** Two letters. */
  country: string;
  /** By commas. */
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

/** The request as the service takes it. */
export const toRequest = (tried: TriedRequest): DecisionRequest => ({
  placement: tried.placement,
  consent: { status: tried.consent },
  segments: [...new Set(tried.segments.split(',').flatMap((each) => each.trim() || []))],
  ...(tried.userRef === '' ? {} : { user_ref: tried.userRef }),
  ...(tried.locale === '' ? {} : { locale: tried.locale }),
  ...(tried.childDirected === 'yes' ? { child_directed: true } : {}),
});
