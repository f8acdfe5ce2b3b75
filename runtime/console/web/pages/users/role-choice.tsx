import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Options } from '../../parts/field.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { useCall } from '../../parts/use-call.ts';
import { description } from '../../description.ts';
import { ADMIN, holdsAll, mayChange, type Role, rightsOf, type User } from './shapes.ts';

/** The role of a user, to choose from those that the caller may give. */
export function RoleChoice({ user, changed }: { user: User; changed(): void }) {
  const roles = useCall<{ roles: Role[] }>(`${ADMIN}/roles`).data?.roles;
  const now = user.role_id ?? null;
  if (!roles || !mayChange(user)) return <>{user.role_name ?? t('none')}</>;
  const choose = async (select: HTMLSelectElement) => {
    const role_id = select.value === '' ? null : Number(select.value);
    // The choice shows the old role until the server has answered.
    select.value = String(now ?? '');
    const name = roles.find(({ id }) => id === role_id)?.name ?? t('none');
    if (isCaller(user) && !(await confirm({ text: OWN(name), action: t('Change role') }))) return;
    const path = `${ADMIN}/users/${encodeURIComponent(user.id)}/role`;
    const done = t('{email} has the role {name}', { email: user.email, name });
    await attempt(() => call('PUT', path, { role_id }), done);
    changed();
  };
  const given = roles.filter((role) => role.id === now || holdsAll(rightsOf(role)));
  return (
    <select
      aria-label={t('Role')}
      value={String(now ?? '')}
      onChange={(event) => void choose(event.currentTarget)}
    >
      <Options
        of={[['', t('none')], ...given.map(({ id, name }) => [String(id), name] as const)]}
        chosen={String(now ?? '')}
      />
    </select>
  );
}

const OWN = (name: string) =>
  t('This is your own account. With the role {name} you may lose what you can do here.', { name });

/** Whether this is the account of the one who is signed in. */
export const isCaller = ({ id }: Pick<User, 'id'>): boolean => {
  const caller = description.value?.caller;
  return caller?.kind === 'user' && caller.id === String(id);
};
