import type { Consent } from '@trueward/protocol/wire';
import ipaddr from 'ipaddr.js';

/** Data about the player before consent is applied. */
export interface Player {
  ip?: string;
  userAgent?: string;
  /** BCP 47. */
  language?: string;
  /** A pseudonym for the player. It is different for each source. */
  userId?: string;
  consent?: Consent;
  childDirected: boolean;
}

/** The player data that a source may receive. */
export interface DisclosedPlayer {
  ip?: string;
  userAgent?: string;
  language?: string;
  userId?: string;
  limitAdTracking: boolean;
  childDirected: boolean;
  /** Whether the GDPR applies; undefined if unknown. */
  gdpr?: boolean;
  tcfString?: string;
  gppString?: string;
}

/**
 * Returns the data that a source may receive. If the player hasn't consented or is a child, the IP is truncated, the
 * user id is removed, and ad tracking is limited. Consent strings are always included, because they also state what the
 * player did not consent to.
 */
export function disclose(player: Player): DisclosedPlayer {
  const { ip, userAgent, language, userId, consent, childDirected } = player;
  const isTrackable = consent?.status === 'granted' && !childDirected;
  const disclosedIp = ip === undefined || isTrackable ? ip : truncateIp(ip);
  return {
    ...(disclosedIp !== undefined && { ip: disclosedIp }),
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

/**
 * Keeps the first 24 bits of an IPv4 address or the first 48 bits of an IPv6 address. Returns undefined if the text is
 * not an IP.
 */
export function truncateIp(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const ip = ipaddr.process(text);
  const keptBytes = ip.kind() === 'ipv4' ? 3 : 6;
  const bytes = ip.toByteArray().map((byte, index) => (index < keptBytes ? byte : 0));
  return ipaddr.fromByteArray(bytes).toString();
}
