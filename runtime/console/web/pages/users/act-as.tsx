import { t } from '../../messages.ts';
import { Time } from '../../parts/time.tsx';
import { isCaller } from './role-choice.tsx';
import { ADMIN, type User, holdsAll } from './shapes.ts';
import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, textIn } from '../../parts/field.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { description } from '../../description.ts';

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
export function ActAs({ user }: { user: User }) {
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
