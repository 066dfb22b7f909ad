import type { DecisionRequest } from '../../protocol/wire.ts';
import type { RequestOptions, UserToken } from '../options.ts';
import type { Player } from '../player-context.ts';

/** What requests say of the player at one moment. */
export interface Profile {
  user: {
    userRef?: string;
    userToken?: UserToken | undefined;
    customData?: string;
    childDirected?: boolean;
    segments?: string[];
  };
  consent:
    | { status: 'granted' | 'denied' | 'unknown'; tcfString?: string; gppString?: string }
    | undefined;
  simulate: DecisionRequest['simulate'];
  player?: Player;
}

/**
 * Builds the body of an ad request. Options of the `call` replace those of the user, except in child-directed
 * mode, where none of them leaves the device.
 */
export function describeRequest(
  placement: string,
  locale: string,
  { user, consent, simulate }: Profile,
  call: RequestOptions = {},
  userToken?: string,
): DecisionRequest {
  const { childDirected, userRef } = user;
  const { customData = user.customData, segments = user.segments } = childDirected ? {} : call;
  return {
    placement,
    viewport: { width: Math.max(1, innerWidth), height: Math.max(1, innerHeight) },
    locale,
    ...(userRef !== undefined && { user_ref: userRef }),
    ...(userToken !== undefined && { user_token: userToken }),
    ...(customData !== undefined && { custom_data: customData }),
    ...(childDirected !== undefined && { child_directed: childDirected }),
    ...(segments && { segments }),
    ...(consent && {
      consent: {
        status: consent.status,
        ...(consent.tcfString !== undefined && { tcf_string: consent.tcfString }),
        ...(consent.gppString !== undefined && { gpp_string: consent.gppString }),
      },
    }),
    ...(simulate && { simulate }),
  };
}
