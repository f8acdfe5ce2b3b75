import { takeSeedValues } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { mac } from '../secrets/keys.ts';
import { roleByName } from './roles.ts';

/**
 * A seed row of the user's type may hold `password`, which the policy checks, and `role`. A changed
 * password or role in the file ends what was signed in with the old one.
 *
 * @param prepare makes the tables and roles that a start of the server makes.
 */
export function takeSeededUsers(parts: AuthParts, prepare: () => Promise<void>): void {
  const { kernel, model, passwords, directory } = parts;
  const { entity } = model.user;
  if (entity === null) return;
  const names = ['password', ...(model.roles ? ['role'] : [])];
  takeSeedValues(kernel.store, entity, {
    names,
    prepare,
    check: async ({ password, role }, row) => {
      if (password !== undefined) await checkPassword(parts, password, row);
      if (role !== undefined) checkRole(parts, role);
    },
    digest: (name, value) => mac(parts.keys.derived('identifier'), `seed ${name} ${value}`),
    write: async (id, { password, role }) => {
      const { db } = kernel.store;
      const now = kernel.now();
      const found = role === undefined ? undefined : await roleByName(db, role);
      await directory.update(db, keyOf(parts, id), {
        ...(password !== undefined && {
          password: await passwords.hash(password),
          password_changed_at: now,
        }),
        ...(found && { role_id: found.id }),
        tokens_valid_after: now,
      });
    },
  });
}

const keyOf = ({ kernel }: AuthParts, id: string): UserId =>
  kernel.project.ids === 'uuid' ? id : Number(id);

async function checkPassword(
  { policy }: AuthParts,
  password: string,
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  try {
    await policy.assert(password, row as never);
  } catch (error) {
    throw failure.badRequest((error as Error).message, { extensions: { field: 'password' } });
  }
}

function checkRole({ model }: AuthParts, role: string): void {
  const known = model.roles?.list ?? [];
  if (!known.includes(role))
    throw failure.badRequest(`there is no role ${role}: one of ${known.join(', ')}`, {
      extensions: { field: 'role' },
    });
}
