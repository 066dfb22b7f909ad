import { type Confirmation, type ConfirmationParts, createConfirmation } from './confirmation.ts';
import { createDelivery, type Delivery, type DeliveryParts } from './delivery.ts';

/** Confirmation and delivery of pending rewards. A page without any does not load this code. */
export interface Pursuit {
  confirmation: Confirmation;
  delivery: Delivery;
}

/** Starts polling for pending rewards and delivering earned ones. */
export function pursueRewards(parts: ConfirmationParts & DeliveryParts): Pursuit {
  const pursuit = { confirmation: createConfirmation(parts), delivery: createDelivery(parts) };
  pursuit.confirmation.wake();
  pursuit.delivery.wake();
  return pursuit;
}
