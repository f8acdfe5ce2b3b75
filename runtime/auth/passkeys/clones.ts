import type { Trx } from '../tables.ts';
import type { Call } from '@twofold/runtime/http';
import { callerOf } from '../requests/caller.ts';
import type { AuthParts } from '../parts.ts';
import { noteUse } from './passkey-store.ts';
import type { ProvenPasskey } from './prove.ts';

/** The counter of a passkey did not grow. */
export class ClonedPasskey extends Error {}

/** Stores the use of a passkey in the transaction of the sign-in. @throws ClonedPasskey */
export async function usePasskey(
  { kernel }: AuthParts,
  trx: Trx,
  { passkey, used }: ProvenPasskey,
): Promise<void> {
  if (!(await noteUse(trx, passkey.id, used, kernel.now()))) throw new ClonedPasskey();
}

/** Stores the event `passkey.cloned`, outside the transaction that was rolled back. */
export function reportClone(
  { events }: AuthParts,
  { context }: Pick<Call, 'context'>,
  { account, passkey, used }: ProvenPasskey,
): Promise<void> {
  return events.emit(callerOf(context), 'passkey.cloned', account.id, {
    passkey_id: passkey.id,
    name: passkey.name,
    counter: used.counter,
    expected_above: passkey.counter,
  });
}
