import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { Answer, Facts, Page, Panel } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { EventList } from './events.tsx';
import { KeyList } from './keys.tsx';
import { RoleChoice } from './role-choice.tsx';
import { SessionList } from './sessions.tsx';
import { ADMIN, fullName, type User } from './shapes.ts';
import { StateOf } from './state-of.tsx';
import { UserActions } from './user-actions.tsx';
import { can } from '../../parts/can.ts';
import { description } from '../../description.ts';
import type { OpenApi } from '../../rest-modules.ts';
import { ActAs } from './act-as.tsx';

/** The page of one user: the account and its means of signing in. */
export function UserPage({ id }: { id: string }) {
  const user = useCall<User>(`${ADMIN}/users/${encodeURIComponent(id)}`);
  const title = user.data?.email ?? t('User');
  return (
    <Page
      title={title}
      about={
        <>
          <a href={`${base}/users`}>{t('Users')}</a>
          {user.data && <StateOf user={user.data} />}
        </>
      }
      tools={
        user.data && (
          <>
            <ActAs user={user.data} />
            <UserActions user={user.data} changed={user.reload} />
          </>
        )
      }
    >
      <Answer of={user}>
        {(data) => (
          <>
            <div class="panels">
              <Account user={data} changed={user.reload} />
              <SignIn user={data} />
              <OwnFields user={data} />
            </div>
            <Panel name={t('Open sessions')}>
              <SessionList user={data} changed={user.reload} />
            </Panel>
            <KeyList of={data} />
            <Panel name={t('What happened')}>
              <EventList of={String(data.id)} />
            </Panel>
          </>
        )}
      </Answer>
    </Page>
  );
}

function Account({ user, changed }: { user: User; changed(): void }) {
  return (
    <Panel name={t('Account')}>
      <Facts
        rows={[
          [t('Id'), String(user.id)],
          [t('Name'), fullName(user) || '–'],
          [t('Username'), user.username || '–'],
          [t('Phone'), user.phone || '–'],
          ...(user.permissions
            ? ([[t('Role'), <RoleChoice key="role" user={user} changed={changed} />]] as const)
            : []),
          [t('Created'), <Time key="created" at={user.created_at} />],
        ]}
      />
    </Panel>
  );
}

const yes = (is: boolean) => (is ? t('yes') : t('no'));

function SignIn({ user }: { user: User }) {
  const { disabled_until, disabled_reason, locked_until, deletion_at } = user;
  return (
    <Panel name={t('Sign-in')}>
      <Facts
        rows={[
          [t('Last sign-in'), <Time key="last" at={user.last_login} />],
          [t('Email verified'), yes(user.email_verified)],
          [
            t('Password'),
            user.password_change_required ? t('to be changed') : yes(user.has_password),
          ],
          [t('Authenticator app'), yes(user.totp)],
          [t('Passkeys'), String(user.passkeys)],
          ...(user.disabled
            ? ([[t('Disabled'), disabled_reason ?? t('no reason given')]] as const)
            : []),
          ...(disabled_until !== null
            ? ([[t('Enabled again'), <Time key="until" at={disabled_until} />]] as const)
            : []),
          ...(locked_until !== null
            ? ([[t('Locked until'), <Time key="locked" at={locked_until} absolute />]] as const)
            : []),
          ...(deletion_at !== null
            ? ([[t('Deleted for good'), <Time key="gone" at={deletion_at} absolute />]] as const)
            : []),
        ]}
      />
    </Panel>
  );
}

/** Fields that the account shows already, in snake_case. */
const SHOWN = new Set([
  'id',
  'email',
  'name',
  'first_name',
  'last_name',
  'username',
  'phone',
  'created_at',
  'last_login',
]);

/** Further fields of a user that the rules let the caller read, and a link to the row. */
function OwnFields({ user: { id, row } }: { user: User }) {
  const isListed = description.value?.pages.some((page) => page.id === 'data');
  const document = useCall<OpenApi>(isListed && row ? '/api/openapi.json' : null).data;
  const has = (path: string) => document?.paths[path]?.['get'] !== undefined;
  const at = encodeURIComponent(id);
  const plural = row?.plural ?? '';
  const { data } = useCall<Row>(has(`/api/${plural}/{id}`) ? `/api/${plural}/${at}` : null);
  const isAdmin = can('data:read') && has(`/api/data/${plural}/{id}`);
  const fields = data ? fieldsOf(data) : [];
  if (!row || (fields.length === 0 && !isAdmin)) return null;
  const rowPath = `${base}/data/${plural}?${isAdmin ? 'as=admin&' : ''}row=${at}`;
  return (
    <Panel name={row.type} tools={<a href={rowPath}>{t('Open the row')}</a>}>
      {fields.length > 0 ? <Facts rows={fields} /> : <p class="quiet">{t('No further fields.')}</p>}
    </Panel>
  );
}

type Row = Readonly<Record<string, unknown>>;

const fieldsOf = (row: Row): (readonly [string, string])[] =>
  Object.entries(row)
    .filter(([name]) => !SHOWN.has(snakeCase(name)))
    .map(([name, value]) => [name, textOf(value)]);

const snakeCase = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
