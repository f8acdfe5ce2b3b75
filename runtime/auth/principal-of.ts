import type { Principal } from '@twofold/runtime/kernel';
import { type Extend, runExtend } from './extend.ts';
import { isUserId } from './ids.ts';
import type { AuthParts } from './parts.ts';
import { permissionsOf } from './permissions.ts';
import { isClosed } from './user-directory.ts';

/**
 * The principal of a user without a session, for `ctx.as`.
 *
 * @returns null when there is no such user, or when they are disabled or deleted.
 */
export async function principalOf(
  parts: AuthParts,
  extend: Extend | undefined,
  userId: number | string,
): Promise<Principal | null> {
  const { directory, kernel, model } = parts;
  const { db } = kernel.store;
  // Rows have keys as numbers or as text.
  const id = /^\d+$/.test(String(userId)) ? Number(userId) : userId;
  const account = parts.users && isUserId(id) ? await directory.find(db, id) : null;
  if (!account || isClosed(account)) return null;
  const role = model.roles ? account.role : null;
  const request = { id: '', ip: '', headers: {} };
  return {
    kind: 'user',
    id: account.id,
    role,
    permissions: await permissionsOf(db, model.roles, role),
    sessionId: '',
    extend: await runExtend(extend, account.id, { db, role, request }),
  };
}
