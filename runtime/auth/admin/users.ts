import { failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import type { Change } from '../events/events.ts';
import { parseOwnUserId } from '../base/ids.ts';
import { assertNotLastFirst } from '../organizations/membership.ts';
import type { AuthState } from '../state.ts';
import { callerOf } from '../base/caller.ts';
import { assertProofFor } from '../requests/proof.ts';
import type { Db, Trx } from '../base/tables.ts';
import { rfc3339 } from '../base/time.ts';
import { assertHoldsAsMuch } from '../requests/authority.ts';
import { assertOwnerLeft } from '../users/owners.ts';
import { serialiseRights } from '../users/permissions.ts';
import { recordChange } from '../users/roles.ts';
import type { Account } from '../users/user-directory.ts';

export type AccountChange = (account: Account, change: Change) => Promise<void>;

/**
 * Runs one change of an account. The caller must hold every permission of that account, and no
 * permissions can change meanwhile. Their own account they change only with a proof.
 *
 * @throws AppError 403, 404
 */
export async function actOn(
  auth: AuthState,
  { context, params }: Pick<Call, 'context' | 'params'>,
  work: AccountChange,
): Promise<void> {
  const caller = callerOf(context);
  await auth.events.transact(caller, async (change) => {
    const { trx } = change;
    await serialiseRights(trx, auth.store.dialect);
    const account = await findUser(auth, params['id'], trx);
    await assertHoldsAsMuch(auth, trx, context, account);
    await assertProofFor(auth, trx, context, account.id);
    await work(account, change);
  });
}

/** The change that disables an account, for a time or for good. */
export function disabling(
  auth: AuthState,
  { disabled_until = null, disabled_reason = null }: Partial<Disabling> = {},
): AccountChange {
  const data = {
    ...(disabled_reason && { reason: disabled_reason }),
    ...(disabled_until && { until: rfc3339(disabled_until) }),
  };
  return async (account, { trx, emit, caller }) => {
    const now = auth.now();
    const disabled_at = account.disabledAt ?? now;
    const patch = { disabled_at, disabled_until, disabled_reason };
    await auth.directory.update(trx, account.id, patch);
    await assertOwnerLeft(auth, trx, account);
    await assertNotLastFirst(auth, trx, account.id);
    await endEverything(auth, account, trx, 'user disabled');
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
  auth: AuthState,
  account: Account,
  { trx, emit, caller }: Change,
): Promise<void> {
  const patch = { disabled_at: null, disabled_until: null, disabled_reason: null };
  await auth.directory.update(trx, account.id, patch);
  await recordChange(trx, auth.now(), caller, {
    action: 'user.enabled',
    target: { kind: 'user', id: account.id },
    before: { disabled: account.disabledAt !== null },
    after: { disabled: false },
  });
  emit('user.enabled', account.id, {});
}

/** Ends sessions, keys and one-time tokens of an account that is disabled or deleted. */
export async function endEverything(
  auth: AuthState,
  account: Account,
  trx: Trx,
  reason: string,
): Promise<void> {
  await auth.sessions.endAll(trx, account.id, reason);
  await auth.oneTime.endAll(trx, account.id);
  await trx
    .updateTable('auth_api_keys')
    .set({ revoked_at: auth.now() })
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

export async function findUser(auth: AuthState, id = '', db: Db = auth.db): Promise<Account> {
  const userId = parseOwnUserId(auth.project.ids, id);
  const account = userId === null ? null : await auth.directory.find(db, userId);
  if (!account) throw failure.notFound('User not found');
  return account;
}
