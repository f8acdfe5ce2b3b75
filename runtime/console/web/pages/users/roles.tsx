import { useState } from 'preact/hooks';
import { base } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button, RowButton } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Badge, Panel } from '../../parts/page.tsx';
import { actionsColumn, type Columns, Table } from '../../parts/table.tsx';
import { formatNumber } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { ADMIN, counted, holdsAll, type Role, rightsOf } from './shapes.ts';
import { type Editing, RoleDialog } from './role-dialog.tsx';

/** The tab `Roles`: the permissions of each role, and how many users have it. */
export function RoleList() {
  const [editing, setEditing] = useState<Editing | null>(null);
  const roles = useCall<{ roles: Role[] }>(`${ADMIN}/roles`);
  const close = () => setEditing(null);
  return (
    <Panel
      name={t('Roles')}
      tools={
        can('auth:manage') && (
          <Button onClick={() => setEditing({ kind: 'new' })}>{t('New role')}</Button>
        )
      }
    >
      <Table
        name={t('Roles')}
        columns={columnsOf(setEditing, roles.reload)}
        rows={roles.data?.roles}
        of={roles}
        empty={[t('No roles'), t('auth.roles in the manifest switches them on.')]}
      />
      {editing && <RoleDialog {...{ editing, close }} saved={roles.reload} />}
    </Panel>
  );
}

function columnsOf(edit: (editing: Editing) => void, changed: () => void): Columns<Role> {
  return [
    {
      id: 'name',
      title: t('Name'),
      render: ({ name, is_system }) => (
        <span class="badges">
          {name}
          {is_system && <Badge>{t('manifest')}</Badge>}
        </span>
      ),
    },
    {
      id: 'users',
      title: t('Users'),
      align: 'end',
      render: ({ id, users }) => <a href={`${base}/users?role=${id}`}>{formatNumber(users)}</a>,
      sort: ({ users }) => users,
    },
    {
      id: 'permissions',
      title: t('Permissions'),
      width: 'wrap',
      render: (role) => <Permissions of={role} changed={changed} />,
    },
    {
      id: 'application_permissions',
      title: t('By console.roles'),
      render: ({ application_permissions: given }) => given.join(', ') || '–',
    },
    can('auth:manage') &&
      actionsColumn((role: Role) => <RoleActions of={role} edit={edit} changed={changed} />),
  ];
}

const isEverything = ({ permissions }: Role) => permissions.includes('*');

/** Whether the caller may change a role. They must hold all of its permissions. */
const mayChange = (role: Role) => can('auth:manage') && holdsAll(rightsOf(role));

function Permissions({ of: role, changed }: { of: Role; changed(): void }) {
  if (role.permissions.length === 0) return <span class="quiet">{t('none')}</span>;
  const take = async (permission: string) => {
    const { id, name, users } = role;
    const text = t('{name} loses {permission}: {users} at once.', {
      users: counted(users, 'user'),
      name,
      permission,
    });
    if (!(await confirm({ text, action: t('Remove permission') }))) return;
    const path = `${ADMIN}/roles/${id}/permissions/${encodeURIComponent(permission)}`;
    if (await attempt(() => call('DELETE', path), t('Permission removed'))) changed();
  };
  return (
    <ul class="badges">
      {role.permissions.map((permission) => (
        <li key={permission} class="badge">
          {permission}
          {mayChange(role) && !isEverything(role) && (
            <Button
              class="icon"
              aria-label={t('Remove {permission} from {name}', { permission, name: role.name })}
              onClick={() => take(permission)}
            >
              ×
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

interface RoleActionsProps {
  readonly of: Role;
  edit(editing: Editing): void;
  changed(): void;
}

function RoleActions({ of: role, edit, changed }: RoleActionsProps) {
  if (!mayChange(role)) return null;
  const { id, name } = role;
  const remove = async () => {
    const text = t('The role {name} is deleted, with its permissions.', { name });
    if (!(await confirm({ text, action: t('Delete role') }))) return;
    if (await attempt(() => call('DELETE', `${ADMIN}/roles/${id}`), t('Role deleted'))) changed();
  };
  return (
    <div class="buttons">
      {!isEverything(role) && (
        <Button
          aria-label={t('Grant to {name}', { name })}
          onClick={() => edit({ kind: 'grant', role })}
        >
          {t('Grant')}
        </Button>
      )}
      {!role.is_system && (
        <>
          <RowButton verb={t('Rename')} of={name} onClick={() => edit({ kind: 'rename', role })} />
          {role.users === 0 && (
            <RowButton class="danger" verb={t('Delete')} of={name} onClick={remove} />
          )}
        </>
      )}
    </div>
  );
}
