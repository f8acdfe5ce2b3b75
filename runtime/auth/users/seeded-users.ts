import { takeSeedValues } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { mac } from '../secrets/keys.ts';
import { roleByName } from './roles.ts';

/**
 * A seed row of the user's type may hold `password`, which the policy checks, and `role`. A changed
 * password or role in the file ends what was signed in with the old one.
 *
 * @param prepare makes the tables and roles that a start of the server makes.
 */
export function takeSeededUsers(auth: AuthState, prepare: () => Promise<void>): void {
  const { entity } = auth.model.user;
  if (entity === null) return;
  const names = ['password', ...(auth.model.roles ? ['role'] : [])];
  takeSeedValues(auth.store, entity, {
    names,
    prepare,
    check: async ({ password, role }, row) => {
      if (password !== undefined) await checkPassword(auth, password, row);
      if (role !== undefined) checkRole(auth, role);
    },
    digest: (name, value) => mac(auth.keys.derived('identifier'), `seed ${name} ${value}`),
    write: async (id, { password, role }) => {
      const { db } = auth;
      const now = auth.now();
      const found = role === undefined ? undefined : await roleByName(db, role);
      await auth.directory.update(db, keyOf(auth, id), {
        ...(password !== undefined && {
          password: await auth.passwords.hash(password),
          password_changed_at: now,
        }),
        ...(found && { role_id: found.id }),
        tokens_valid_after: now,
      });
    },
  });
}

const keyOf = (auth: AuthState, id: string): UserId =>
  auth.project.ids === 'uuid' ? id : Number(id);

async function checkPassword(
  auth: AuthState,
  password: string,
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  try {
    await auth.passwords.assert(password, row as never);
  } catch (error) {
    throw failure.badRequest((error as Error).message, { extensions: { field: 'password' } });
  }
}

function checkRole(auth: AuthState, role: string): void {
  const known = auth.model.roles?.list ?? [];
  if (!known.includes(role))
    throw failure.badRequest(`there is no role ${role}: one of ${known.join(', ')}`, {
      extensions: { field: 'role' },
    });
}
