import type { PageProps } from '../../parts/lazy-page.tsx';
import { decoded } from '../../address.ts';
import { Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { t } from '../../messages.ts';
import { KeyList } from './keys.tsx';
import { EventList } from './events.tsx';
import { PermissionLog } from './permission-log.tsx';
import { RoleList } from './roles.tsx';
import { UserPage } from './user.tsx';
import { UserList } from './user-list.tsx';

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
