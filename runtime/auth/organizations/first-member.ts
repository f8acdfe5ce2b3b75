import { type Kernel, followRows } from '@twofold/runtime/kernel';
import { type Caller, SYSTEM } from '../requests/caller.ts';
import type { AuthParts } from '../parts.ts';

/**
 * The user who makes a row of the organization's type, by whatever way, is its first member, in the
 * same transaction.
 */
export function followOrganizations({ kernel, model, events }: AuthParts): void {
  const { organizations } = model;
  if (!organizations) return;
  const [first = ''] = organizations.roles;
  followRows(kernel.store, organizations.entity, {
    made: ({ id, caller }) =>
      events.transact(by(caller), async (trx, emit) => {
        const organization_id = keyOf(kernel, id);
        emit('organization.created', caller, { organization_id });
        if (caller === null) return;
        await trx
          .insertInto('auth_members')
          .values({ organization_id, user_id: caller, role: first, created_at: kernel.now() })
          .execute();
        emit('member.added', caller, { organization_id, role: first });
      }),
    // The table's own trigger removes its memberships.
    removed: ({ id, caller }) =>
      events.emit(by(caller), 'organization.deleted', null, { organization_id: keyOf(kernel, id) }),
  });
}

const by = (caller: number | string | null): Caller =>
  caller === null ? SYSTEM : { ...SYSTEM, actor: { kind: 'user', id: caller } };

/** A key as the database has it. */
export const keyOf = ({ project }: Pick<Kernel, 'project'>, id: string): number | string =>
  project.ids === 'uuid' ? id : Number(id);
