import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { Answer, Facts, Page, Panel } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { EventList } from './events.tsx';
import { KeyList } from './keys.tsx';
import { RoleChoice, isCaller } from './role-choice.tsx';
import { SessionList } from './sessions.tsx';
import { ADMIN, fullName, type User, holdsAll } from './shapes.ts';
import { StateOf } from './state-of.tsx';
import { UserActions } from './user-actions.tsx';
import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, textIn } from '../../parts/field.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { description } from '../../description.ts';
import type { OpenApi } from '../../rest-modules.ts';

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

interface Acting {
  readonly accessToken: string;
  /** Seconds since 1970. */
  readonly exp: number;
}

/**
 * Whether the caller may act as this user: a person who is signed in, with the permission, and not
 * as themselves or as somebody who cannot sign in.
 */
const mayActAs = (user: User): boolean =>
  description.value?.caller?.kind === 'user' &&
  description.value.sign_in.impersonation !== false &&
  can('auth:impersonate') &&
  holdsAll(user.permissions) &&
  !isCaller(user) &&
  !user.disabled &&
  user.deletion_at === null;

/**
 * The button `Act as user`. The token is for a program or an app: this console stays the caller's.
 */
function ActAs({ user }: { user: User }) {
  const [asking, setAsking] = useState(false);
  const [acting, setActing] = useState<Acting | null>(null);
  if (!mayActAs(user)) return null;
  const path = `${ADMIN}/users/${encodeURIComponent(user.id)}/impersonate`;
  const submit = async (form: FormData) => {
    setActing(await call<Acting>('POST', path, { reason: textIn(form, 'reason') }));
    setAsking(false);
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t('Act as user')}</Button>
      {asking && (
        <FormDialog
          title={t('Act as user')}
          action={t('Make a token')}
          close={() => setAsking(false)}
          submit={submit}
        >
          <p>
            {t('The token acts as {email} for a while. What it does is logged under your name.', {
              email: user.email,
            })}
          </p>
          <Field
            label={t('Reason')}
            name="reason"
            required
            autofocus
            autocomplete="off"
            maxLength={256}
            hint={t('It stands in the security events of the user.')}
          />
        </FormDialog>
      )}
      {acting && <Token of={user} acting={acting} close={() => setActing(null)} />}
    </>
  );
}

interface TokenProps {
  readonly of: User;
  readonly acting: Acting;
  close(): void;
}

const Token = ({ of, acting, close }: TokenProps) => (
  <ShownOnce
    title={t('Token made')}
    about={t('It acts as {email}, and is shown only once: copy it now.', { email: of.email })}
    label={t('Access token')}
    secret={acting.accessToken}
    close={close}
  >
    {t('Programs send it as Authorization: Bearer. It ends')}{' '}
    <Time at={new Date(acting.exp * 1000).toISOString()} absolute />
  </ShownOnce>
);

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
      <Facts rows={fields} />
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
