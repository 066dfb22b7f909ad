/** How long a receipt can be redeemed, in seconds. */
export const receiptLifetimeS = 30 * 86_400;
