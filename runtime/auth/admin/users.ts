import { failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import type { Emit } from '../events/events.ts';
import { parseOwnUserId } from '../ids.ts';
import { assertNotLastFirst } from '../organizations/membership.ts';
import type { AuthParts } from '../parts.ts';
import { type Caller, callerOf } from '../requests/caller.ts';
import { assertProofFor } from '../requests/proof.ts';
import type { Db, Trx } from '../tables.ts';
import { rfc3339 } from '../time.ts';
import { assertHoldsAsMuch } from '../users/authority.ts';
import { assertOwnerLeft } from '../users/owners.ts';
import { serialiseRights } from '../users/permissions.ts';
import { recordChange } from '../users/roles.ts';
import type { Account } from '../users/user-directory.ts';

export type Change = (account: Account, trx: Trx, emit: Emit, caller: Caller) => Promise<void>;

/**
 * Runs one change of an account. The caller must hold every permission of that account, and no
 * permissions can change meanwhile. Their own account they change only with a proof.
 *
 * @throws AppError 403, 404
 */
export async function actOn(
  parts: AuthParts,
  { context, params }: Pick<Call, 'context' | 'params'>,
  change: Change,
): Promise<void> {
  const caller = callerOf(context);
  await parts.events.transact(caller, async (trx, emit) => {
    await serialiseRights(trx, parts.kernel.store.dialect);
    const account = await findUser(parts, params['id'], trx);
    await assertHoldsAsMuch(parts, trx, context, account);
    await assertProofFor(parts, trx, context, account.id);
    await change(account, trx, emit, caller);
  });
}

/** The change that disables an account, for a time or for good. */
export function disabling(
  parts: AuthParts,
  { disabled_until = null, disabled_reason = null }: Partial<Disabling> = {},
): Change {
  const data = {
    ...(disabled_reason && { reason: disabled_reason }),
    ...(disabled_until && { until: rfc3339(disabled_until) }),
  };
  return async (account, trx, emit, caller) => {
    const now = parts.kernel.now();
    const disabled_at = account.disabledAt ?? now;
    const patch = { disabled_at, disabled_until, disabled_reason };
    await parts.directory.update(trx, account.id, patch);
    await assertOwnerLeft(parts, trx, account);
    await assertNotLastFirst(parts, trx, account.id);
    await endEverything(parts, account, trx, 'user disabled');
    await recordChange(trx, now, caller, {
      action: 'user.disabled',
      target: { kind: 'user', id: account.id },
      before: { disabled: account.disabledAt !== null },
      after: { disabled: true, ...data },
    });
    emit('user.disabled', account.id, data);
  };
}

interface Disabling {
  readonly disabled_until: number | null;
  readonly disabled_reason: string | null;
}

export async function enable(
  { directory, kernel }: AuthParts,
  account: Account,
  trx: Trx,
  emit: Emit,
  caller: Caller,
): Promise<void> {
  const patch = { disabled_at: null, disabled_until: null, disabled_reason: null };
  await directory.update(trx, account.id, patch);
  await recordChange(trx, kernel.now(), caller, {
    action: 'user.enabled',
    target: { kind: 'user', id: account.id },
    before: { disabled: account.disabledAt !== null },
    after: { disabled: false },
  });
  emit('user.enabled', account.id, {});
}

/** Ends sessions, keys and one-time tokens of an account that is disabled or deleted. */
export async function endEverything(
  { sessions, oneTime, kernel }: AuthParts,
  account: Account,
  trx: Trx,
  reason: string,
): Promise<void> {
  await sessions.endAll(trx, account.id, reason);
  await oneTime.endAll(trx, account.id);
  await trx
    .updateTable('auth_api_keys')
    .set({ revoked_at: kernel.now() })
    .where('owner_user_id', '=', account.id)
    .where('revoked_at', 'is', null)
    .execute();
}

export async function findRole(
  trx: Trx,
  id: number,
): Promise<{ readonly id: number; readonly name: string }> {
  const role = await trx
    .selectFrom('auth_roles')
    .select(['id', 'name'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!role) throw failure.notFound('Role not found');
  return role;
}

export async function findUser(
  { directory, kernel }: AuthParts,
  id = '',
  db: Db = kernel.store.db,
): Promise<Account> {
  const userId = parseOwnUserId(kernel.project.ids, id);
  const account = userId === null ? null : await directory.find(db, userId);
  if (!account) throw failure.notFound('User not found');
  return account;
}
