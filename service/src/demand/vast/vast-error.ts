/** VAST 4.3 error codes (section 2.3.6.3) that this parser reports. */
export const vastErrorCodes = {
  /** The document is not well-formed XML, or exceeds the parser's limits. */
  xml: 100,
  /** The XML is not a VAST document, or a required element is missing. */
  schema: 101,
  version: 102,
  /** The video player does not support this kind of ad: an audio ad, or an ad that becomes skippable too early. */
  trafficking: 200,
  /** The ad is non-linear, but a linear ad was expected. */
  linearity: 201,
  duration: 202,
  blockedCategory: 205,
  /** An ad in a pod was not used, because only one of the pod's ads is shown. */
  breakShortened: 206,
  /** The wrapper contains no usable tag. */
  wrapper: 300,
  /** The document that a wrapper refers to was unavailable or timed out. */
  timeout: 301,
  wrapperLimit: 302,
  noAds: 303,
  /** The player cannot play any of the media files. */
  media: 403,
  /** The media plays, but its interactive component (SIMID, VPAID) fails to run. */
  interactive: 409,
  undefined: 900,
} as const;

export type VastErrorCode = (typeof vastErrorCodes)[keyof typeof vastErrorCodes];

/** Thrown when a document or an ad cannot be used. The message is for operators. */
export class VastError extends Error {
  override readonly name = 'VastError';
  readonly code: VastErrorCode;

  constructor(code: VastErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
