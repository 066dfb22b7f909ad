import type { DecisionRequest } from '../../protocol/wire.ts';
import type { RequestOptions, UserToken } from '../options.ts';

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
  /** Who plays, by the game's own name; it stays on the device. */
  playerRef?: string | undefined;
}

/**
 * Everything that a request for an ad says. What `call` gives replaces what the user's options say, except
 * for a child: none of that leaves the device.
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
