import type { Reason } from '../outcome.ts';
import { linkSignals, runWithTimeout } from '../platform/clock.ts';
import { has, toText } from '../platform/guard.ts';
import { browserLocks } from '../platform/locks.ts';
import { listen } from '../platform/native.ts';
import { warnOnce } from '../platform/warn.ts';
import { isGuestRef } from '../player-context.ts';
import { createBackOff } from '../transport/back-off.ts';
import { hasShape, toReasonCode } from '../transport/service-client.ts';
import type { Spend as WireSpend } from '../../protocol/wire.ts';
import type { DeviceStore, SpendRecord } from './device-store.ts';
import type { Proof, SpendOptions, SpendResult, Wallet, WalletDeps } from './wallet.ts';

/** Spends from balances, and delivers what was bought. */
export interface Spends {
  spend: Wallet['spend'];
  /** Repeats spends that the service has not answered, and delivers those that it has. */
  wake(): void;
  /** Like {@link Spends.wake}, without waiting for a delay to end. */
  hurry(): void;
  stop(): void;
}

interface Deps extends WalletDeps {
  store: DeviceStore;
  prove(): Promise<Proof>;
  /** Called with every answer for a completed spend. Returns the latest known balance. */
  onCharged(ref: string, spend: WireSpend): number;
}

/** How long a handler may take, in milliseconds. After that, it is called again later. */
const handlerTimeoutMs = 10_000;

/** Refusals of the spend itself: the service knows that it has not charged it. */
const spendRefusals = new Set<string>(['insufficient_balance', 'invalid_request']);

const isWireSpend = (body: unknown): body is WireSpend =>
  hasShape(body, { id: '', type: '', amount: 0, balance: 0, version: 0 });

/** Returns what is wrong with the arguments, or undefined. */
function findMistake(
  type: unknown,
  amount: unknown,
  { id, reason }: SpendOptions,
): string | undefined {
  if (typeof type !== 'string' || type === '' || type.length > 64)
    return `\`type\` must be text of 1 to 64 characters; got ${toText(type)}.`;
  if (!Number.isSafeInteger(amount) || (amount as number) < 1)
    return `\`amount\` must be a whole number of at least 1; got ${toText(amount)}.`;
  if (reason !== undefined && (typeof reason !== 'string' || reason === '' || reason.length > 64))
    return `\`reason\` must be text of 1 to 64 characters; got ${toText(reason)}.`;
  if (id !== undefined && (typeof id !== 'string' || !/^[A-Za-z0-9-]{1,64}$/.test(id)))
    return `\`id\` must be 1 to 64 letters, digits and hyphens; got ${toText(id)}.`;
  return undefined;
}

export function createSpends(deps: Deps): Spends {
  const { client, clock, connectivity, events, name, newId, player, prove, signal, store } = deps;
  const backOff = createBackOff(deps, () => wake());
  let running: Promise<void> | undefined;
  let again = false;

  /**
   * Sends a stored spend. The service charges it once, however often it is sent.
   *
   * @param isRepeat - Whether an earlier request may have charged it.
   */
  const send = async (
    record: SpendRecord,
    proof: Proof,
    isRepeat = false,
  ): Promise<SpendResult> => {
    if (!has(proof, 'headers')) return proof;
    const { id, ref, type, amount, reason } = record;
    const response = await client.call('/v1/wallet/spends', isWireSpend, {
      body: { id, type, amount, ...(reason !== undefined && { reason }) },
      headers: proof.headers,
      signal,
    });
    if (response.kind === 'ok') {
      const balance = deps.onCharged(ref, response.body);
      try {
        // What was charged, which differs from what the game asks for if the price has changed since.
        const paid = { type: response.body.type, amount: response.body.amount };
        if (paid.type !== type || paid.amount !== amount)
          warnOnce(`spend ${id} was charged before at another price.`, id);
        await store.writeSpend({ ...record, ...paid, charged: true });
        backOff.reset();
        wake();
      } catch {
        // It is sent again, and stored then.
        backOff.fail();
      }
      return { outcome: 'spent', id, balance };
    }
    const code = toReasonCode(response) as Reason;
    if (response.kind !== 'refused') {
      backOff.fail(response.kind === 'retry' ? response.retryAfterMs : undefined);
      return { outcome: 'pending', id, reason: code };
    }
    // A refused player says nothing of an earlier request, which may have charged the player: it is asked again later.
    if (isRepeat && !spendRefusals.has(code)) {
      backOff.fail();
      return { outcome: 'pending', id, reason: code };
    }
    await store.removeSpend(record);
    const { balance } = response.problem;
    if (code === 'insufficient_balance')
      return { outcome: 'insufficient', id, ...(balance !== undefined && { balance }) };
    const outcome = code === 'player_unknown' || code === 'token_invalid' ? 'unavailable' : 'error';
    return { outcome, reason: code };
  };

  const callHandler = (record: SpendRecord): Promise<object | string> =>
    runWithTimeout(
      clock,
      handlerTimeoutMs,
      signal,
      (ending) =>
        new Promise<object>((resolve, reject) => {
          const { id, type, amount, reason } = record;
          const details = { id, type, amount, ...(reason !== undefined && { reason }) };
          const cancel = deps.deliver(() => {
            events.call('spend', details).then(() => resolve({}), reject);
          });
          listen(ending, 'abort', cancel);
        }),
    );

  /** Delivers completed spends. A lock keeps two tabs from delivering the same one. */
  const deliver = async (ref: string): Promise<void> => {
    const lock = linkSignals(signal);
    await browserLocks()(`${name}:spend`, lock.signal);
    if (signal.aborted) return;
    for (const record of await store.readSpends(ref)) {
      const isDue = record.charged && events.hasListeners('spend') && deps.lifecycle.isVisible();
      if (!isDue || player.player().ref !== ref || signal.aborted) continue;
      if (typeof (await callHandler(record)) === 'object') await store.removeSpend(record);
      else if (!signal.aborted) backOff.fail();
    }
    lock.abort();
  };

  const run = async (): Promise<void> => {
    const { ref } = player.player();
    if (!ref) return;
    const open = await store.readSpends(ref);
    const unanswered = open.filter(({ id, charged }) => !charged && !sending.has(`${ref} ${id}`));
    for (const record of unanswered) {
      const proof = await prove();
      if (has(proof, 'headers') && proof.ref === ref && !signal.aborted)
        await send(record, proof, true);
    }
    if (open.some(({ charged }) => charged)) await deliver(ref);
  };
  /** The spends that a call is sending, by player and id. */
  const sending = new Map<string, Promise<SpendResult>>();
  const findSpend = async (ref: string, id: string): Promise<SpendRecord | undefined> =>
    (await store.readSpends(ref)).find((record) => record.id === id);
  /** Stores a spend, and sends it. One that this device has stored already is sent again, at its own price. */
  const begin = async (record: SpendRecord, proof: Proof): Promise<SpendResult> => {
    const earlier = await findSpend(record.ref, record.id);
    try {
      if (!earlier) await store.writeSpend(record);
      return await send(earlier ?? record, proof, earlier !== undefined);
    } catch (error) {
      return { outcome: 'unavailable', reason: 'storage_failed', detail: toText(error) };
    }
  };
  const wake = (): void => {
    if (signal.aborted || backOff.isWaiting()) return;
    again = running !== undefined;
    running ??= run()
      .catch(() => undefined)
      .then(() => {
        running = undefined;
        if (again) wake();
      });
  };

  return {
    async spend(type, amount, given) {
      const options = Object(given) as SpendOptions;
      const detail = findMistake(type, amount, options);
      if (detail !== undefined) return { outcome: 'error', reason: 'option_invalid', detail };
      const { id = newId(), reason } = options;
      const spender = player.player();
      if (!connectivity.isOnline()) {
        const earlier = await findSpend(spender.ref ?? '', id);
        return earlier
          ? { outcome: 'pending', id, reason: 'network' }
          : { outcome: 'offline', reason: 'network' };
      }
      const proof = await prove();
      // Before the first ad, there is no player yet, who has nothing.
      if (!has(proof, 'headers'))
        return proof.reason === 'player_required'
          ? { outcome: 'insufficient', id, balance: 0 }
          : proof;
      const { ref } = proof;
      // Somebody else plays by now, who has not asked for it. The device's guest is nobody until then.
      if (ref !== spender.ref && !(spender.ref === '' && isGuestRef(ref)))
        return { outcome: 'unavailable', reason: 'player_changed' };
      const record: SpendRecord = {
        v: 1,
        id,
        ref,
        type,
        amount,
        ...(reason !== undefined && { reason }),
        charged: false,
      };
      const name = `${ref} ${id}`;
      const sent =
        sending.get(name) ?? begin(record, proof).finally(() => void sending.delete(name));
      sending.set(name, sent);
      return sent;
    },
    wake,
    hurry() {
      backOff.hurry();
      wake();
    },
    stop: backOff.cancel,
  };
}
