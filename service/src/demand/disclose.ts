import type { Consent } from '@trueward/protocol/wire';
import ipaddr from 'ipaddr.js';

/** What the service knows about a player while it decides. */
export interface Player {
  ip?: string;
  userAgent?: string;
  /** BCP 47. */
  language?: string;
  /** A pseudonym of the game's user, different for every source. */
  userId?: string;
  consent?: Consent;
  childDirected: boolean;
}

/** What a source may learn about a player. */
export interface DisclosedPlayer {
  ip?: string;
  userAgent?: string;
  language?: string;
  userId?: string;
  limitAdTracking: boolean;
  childDirected: boolean;
  /** Undefined: not known. */
  gdpr?: boolean;
  tcfString?: string;
  gppString?: string;
}

/**
 * Applies the player's consent. Without it, and for children always: a truncated IP, no user id, and limited
 * ad tracking. The consent strings are passed on in any case, because they also say what was denied.
 */
export function disclose(player: Player): DisclosedPlayer {
  const { ip, userAgent, language, userId, consent, childDirected } = player;
  const isTrackable = consent?.status === 'granted' && !childDirected;
  const shownIp = ip === undefined || isTrackable ? ip : truncateIp(ip);
  return {
    ...(shownIp !== undefined && { ip: shownIp }),
    ...(userAgent !== undefined && { userAgent }),
    ...(language !== undefined && { language }),
    ...(userId !== undefined && isTrackable && { userId }),
    limitAdTracking: !isTrackable,
    childDirected,
    // Consent platforms issue this string only where the GDPR applies.
    ...(consent?.tcf_string !== undefined && { gdpr: true, tcfString: consent.tcf_string }),
    ...(consent?.gpp_string !== undefined && { gppString: consent.gpp_string }),
  };
}

/** The first 24 bits of an IPv4 address, the first 48 of an IPv6 address; undefined for anything else. */
export function truncateIp(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const ip = ipaddr.process(text);
  const kept = ip.kind() === 'ipv4' ? 3 : 6;
  const bytes = ip.toByteArray().map((byte, index) => (index < kept ? byte : 0));
  return ipaddr.fromByteArray(bytes).toString();
}
