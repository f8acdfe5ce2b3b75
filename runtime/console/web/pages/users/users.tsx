import type { PageProps } from '../../parts/lazy-page.tsx';
import { askedPath, decoded } from '../../address.ts';
import { Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { t } from '../../messages.ts';
import { KeyList } from './keys.tsx';
import { EventList, Actor, Details } from './events.tsx';
import { RoleList } from './roles.tsx';
import { UserPage } from './user.tsx';
import { UserList } from './user-list.tsx';
import { CursorPager } from '../../parts/cursor-pager.tsx';
import { type Column, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { ADMIN, type PermissionChange } from './shapes.ts';
import { UserLink } from './user-link.tsx';

/** The page of users, their permissions and events. `/users/<id>` shows one user. */
export function UsersPage({ rest }: PageProps) {
  const [id] = rest;
  if (id) return <UserPage key={id} id={decoded(id)} />;
  return (
    <Page title={t('Users')}>
      <Tabs
        label={t('Users')}
        tabs={[
          { id: 'users', title: t('Users'), render: () => <UserList /> },
          { id: 'roles', title: t('Roles'), render: () => <RoleList /> },
          { id: 'keys', title: t('API keys'), render: () => <KeyList /> },
          { id: 'events', title: t('Security events'), render: () => <EventList /> },
          { id: 'log', title: t('Permission log'), render: () => <PermissionLog /> },
        ]}
      />
    </Page>
  );
}

/** The tab `Permission log`: who changed whose permissions, newest first. */
function PermissionLog() {
  const changes = useCall<{ changes: PermissionChange[]; next_cursor: string | null }>(
    askedPath(`${ADMIN}/permission-changes`, ['cursor'], { limit: '50' }),
  );
  return (
    <div class="answer">
      <Table
        name={t('Permission log')}
        columns={COLUMNS}
        rows={changes.data?.changes}
        of={changes}
        empty={[
          t('No permission changes yet'),
          t('Changes of roles, permissions and API keys, and disabled users, are kept for good.'),
        ]}
      />
      <CursorPager next={changes.data?.next_cursor} />
    </div>
  );
}

const COLUMNS: readonly Column<PermissionChange>[] = [
  timeColumn('time', t('Time')),
  { id: 'action', title: t('Action'), render: ({ action }) => action },
  {
    id: 'target',
    title: t('Target'),
    render: ({ target_kind, target_id }) =>
      target_kind === 'user' ? (
        <UserLink id={target_id} />
      ) : (
        `${target_kind === 'api_key' ? t('key') : t(target_kind)} ${target_id}`
      ),
  },
  {
    id: 'actor',
    title: t('By'),
    render: ({ actor_kind, actor_id }) => <Actor kind={actor_kind} id={actor_id} />,
  },
  {
    id: 'change',
    title: t('Change'),
    width: 'wrap',
    render: ({ before, after }) => <Difference before={before} after={after} />,
  },
  { id: 'ip', title: t('IP address'), render: ({ ip }) => ip || '–' },
];

/** The values before and after the change. A grant has only the latter. */
function Difference({ before, after }: Pick<PermissionChange, 'before' | 'after'>) {
  if (before === null) return <Details of={after} />;
  return (
    <span class="details">
      <Details of={before} />
      <span class="quiet">→</span>
      {after === null ? t('removed') : <Details of={after} />}
    </span>
  );
}
