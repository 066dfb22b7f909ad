import type { DecisionRequest } from '../../protocol/wire.ts';

/** What requests say of the player at one moment. */
export interface Profile {
  user: {
    userRef?: string;
    userToken?: string | (() => string);
    customData?: string;
    childDirected?: boolean;
    segments?: string[];
  };
  consent:
    | { status: 'granted' | 'denied' | 'unknown'; tcfString?: string; gppString?: string }
    | undefined;
  simulate: DecisionRequest['simulate'];
}

/** A game whose function fails has no token: the service then says what is missing. */
function tokenOf(userToken: Profile['user']['userToken']): string | undefined {
  try {
    return typeof userToken === 'function' ? userToken() : userToken;
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
    return undefined;
  }
}

/** Everything that a request for an ad says. */
export function describeRequest(
  placement: string,
  locale: string,
  { user, consent, simulate }: Profile,
): DecisionRequest {
  const { childDirected, customData, segments, userRef } = user;
  const userToken = tokenOf(user.userToken);
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
