import { followRows, type Kernel, type RequestContext } from '@twofold/runtime/kernel';
import { asUser, type Caller, callerOf, SYSTEM } from '../base/caller.ts';
import type { AuthState } from '../state.ts';

/**
 * The user who makes a row of the organization's type, by whatever way, is its first member, in the
 * same transaction.
 */
export function followOrganizations(auth: AuthState): void {
  const { organizations } = auth.model;
  if (!organizations) return;
  const [first = ''] = organizations.roles;
  followRows(auth.store, organizations.entity, {
    made: ({ id, caller, request }) =>
      auth.events.transact(by(caller, request), async ({ trx, emit }) => {
        const organization_id = keyOf(auth, id);
        emit('organization.created', caller, { organization_id });
        if (caller === null) return undefined;
        await trx
          .insertInto('auth_members')
          .values({ organization_id, user_id: caller, role: first, created_at: auth.now() })
          .execute();
        emit('member.added', caller, { organization_id, role: first });
        return isNarrowed(request) ? undefined : { id: organization_id, role: first };
      }),
    // The table's own trigger removes its memberships.
    removed: ({ id, caller, request }) =>
      auth.events.emit(by(caller, request), 'organization.deleted', null, {
        organization_id: keyOf(auth, id),
      }),
  });
}

/** Whether the request is about one organization that was there before. */
const isNarrowed = (request: RequestContext | undefined): boolean =>
  request !== undefined && 'narrowed' in request.principal && request.principal.narrowed === true;

/** The caller as events name it, with address and id of the request if there is one. */
function by(caller: number | string | null, request: RequestContext | undefined): Caller {
  const known = request ? callerOf(request) : SYSTEM;
  return caller === null ? known : asUser(known, caller);
}

/** A key as the database has it. */
export const keyOf = ({ project }: Pick<Kernel, 'project'>, id: string): number | string =>
  project.ids === 'uuid' ? id : Number(id);
