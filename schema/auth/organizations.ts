import type { Tenancy } from '../manifest/section.ts';
import type { AuthValues } from './manifest.ts';

/** The table of memberships. */
export const MEMBERS = {
  table: 'auth_members',
  user: 'user_id',
  organization: 'organization_id',
} as const;

/** The parts of `auth.organizations` that inference and rules need. */
export function tenancyOf(values: NonNullable<AuthValues['organizations']>): Tenancy {
  const { type, roles, create } = values;
  return { type, roles, manage: managing(values), create, members: MEMBERS };
}

/** Without `manage`, every role but the lowest manages the organization. */
export function managing({
  roles,
  manage,
}: Pick<NonNullable<AuthValues['organizations']>, 'roles' | 'manage'>): readonly string[] {
  return manage ?? roles.slice(0, Math.max(1, roles.length - 1));
}
