import { type Confirmation, type ConfirmationParts, createConfirmation } from './confirmation.ts';
import { createDelivery, type Delivery, type DeliveryParts } from './delivery.ts';

/** What is done about rewards that are awaited. A page without any does not load this. */
export interface Pursuit {
  confirmation: Confirmation;
  delivery: Delivery;
}

/** Asks for what is pending, and hands over what is earned. */
export function pursueRewards(parts: ConfirmationParts & DeliveryParts): Pursuit {
  const pursuit = { confirmation: createConfirmation(parts), delivery: createDelivery(parts) };
  pursuit.confirmation.wake();
  pursuit.delivery.wake();
  return pursuit;
}
