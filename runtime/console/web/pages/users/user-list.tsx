import { useState } from 'preact/hooks';
import { askedPath, base, query, setQuery, navigate } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { CursorPager } from '../../parts/cursor-pager.tsx';
import { Choice, Field } from '../../parts/field.tsx';
import { Empty } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { type Columns, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { ADMIN, fullName, type Role, type User, holdsAll, rightsOf } from './shapes.ts';
import { StateOf } from './state-of.tsx';
import { call } from '../../call.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { notify } from '../../parts/notices.tsx';

const STATES = ['active', 'disabled', 'locked', 'unverified', 'deleted'] as const;

/** The tab `Users`: everybody, newest first, found by the start of an address or a name. */
export function UserList() {
  const [making, setMaking] = useState(false);
  const users = useCall<{ users: User[]; next_cursor: string | null; total: number }>(
    pathOfUsers(),
  );
  const roles = useCall<{ roles: Role[] }>(`${ADMIN}/roles`).data?.roles ?? [];
  const isNarrowed = ['q', 'role', 'state'].some((name) => query.value.get(name));
  return (
    <div class="answer">
      <div class="bar">
        <SearchBox label={t('Search users')} />
        {roles.length > 0 && (
          <Filter
            label={t('Role')}
            name="role"
            options={roles.map(({ id, name }) => [String(id), name])}
          />
        )}
        <Filter
          label={t('State')}
          name="state"
          options={STATES.map((state) => [state, t(state)])}
        />
        <span class="spread" />
        {can('auth:manage') && (
          <Button class="main" onClick={() => setMaking(true)}>
            {t('New user')}
          </Button>
        )}
      </div>
      <Table
        name={t('Users')}
        columns={columnsOf(roles.length > 0)}
        rows={users.data?.users}
        linkOf={({ id }) => `${base}/users/${encodeURIComponent(id)}`}
        of={users}
        empty={<NoUsers isNarrowed={isNarrowed} />}
      />
      <CursorPager next={users.data?.next_cursor} total={users.data?.total} />
      {making && <NewUser roles={roles} close={() => setMaking(false)} />}
    </div>
  );
}

/** Without an order, the newest users come first. */
const pathOfUsers = () =>
  askedPath(
    `${ADMIN}/users`,
    ['sort', 'order', 'q', 'role', 'state', 'organization', 'cursor'],
    query.value.has('sort')
      ? { limit: '50', order: 'asc' }
      : { limit: '50', sort: 'created_at', order: 'desc' },
  );

interface FilterProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}

const Filter = ({ label, name, options }: FilterProps) => (
  <Choice
    label={label}
    value={query.value.get(name) ?? ''}
    options={[['', t('All')], ...options]}
    choose={(value) => setQuery({ [name]: value || null, cursor: null })}
  />
);

function columnsOf(hasRoles: boolean): Columns<User> {
  return [
    { id: 'email', title: t('Email'), render: ({ email }) => email, sort: 'server' },
    { id: 'name', title: t('Name'), render: (user) => fullName(user) || user.username },
    hasRoles && { id: 'role', title: t('Role'), render: ({ role_name }: User) => role_name ?? '–' },
    { id: 'state', title: t('State'), render: (user) => <StateOf user={user} /> },
    timeColumn('last_login', t('Last sign-in'), { sort: 'server' }),
    timeColumn('created_at', t('Created'), { sort: 'server' }),
  ];
}

function NoUsers({ isNarrowed }: { isNarrowed: boolean }) {
  if (!isNarrowed)
    return (
      <Empty
        text={t('No users yet')}
        hint={t('Users appear here when they register, or when you create them.')}
      />
    );
  return (
    <Empty
      text={t('No users match')}
      hint={t('A search finds the start of an address, a username or a name.')}
    >
      <Button onClick={() => setQuery({ q: null, role: null, state: null })}>
        {t('Show all users')}
      </Button>
    </Empty>
  );
}

const NAMES = [
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['username', 'Username'],
] as const;

/** Makes an account; its owner sets the password by the link of a mail. */
function NewUser({ roles, close }: { roles: readonly Role[]; close(): void }) {
  const make = async (form: FormData) => {
    const { id, email } = await call<User>('POST', `${ADMIN}/users`, bodyOf(form));
    notify(t('A mail to {email} has the link that sets the password', { email }));
    close();
    navigate(`${base}/users/${encodeURIComponent(id)}`);
  };
  return (
    <FormDialog title={t('New user')} action={t('Create user')} close={close} submit={make}>
      <Field
        label={t('Email')}
        name="email"
        type="email"
        required
        autofocus
        autocomplete="off"
        hint={t('The mail has a link that sets the password, good for 24 hours.')}
      />
      {NAMES.map(([name, label]) => (
        <Field key={name} label={t(label)} name={name} autocomplete="off" />
      ))}
      {roles.length > 0 && (
        <Field
          label={t('Role')}
          name="role_id"
          options={[
            ['', t('The default role')],
            ...roles
              .filter((role) => holdsAll(rightsOf(role)))
              .map(({ id, name }) => [String(id), name] as const),
          ]}
        />
      )}
    </FormDialog>
  );
}

/** Empty fields are not sent. */
function bodyOf(form: FormData): Record<string, string | number> {
  const texts = ['email', ...NAMES.map(([name]) => name)]
    .map((name) => [name, String(form.get(name) ?? '').trim()] as const)
    .filter(([, value]) => value !== '');
  const role = form.get('role_id');
  return { ...Object.fromEntries(texts), ...(role ? { role_id: Number(role) } : {}) };
}
