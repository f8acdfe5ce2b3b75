import { useState } from 'preact/hooks';
import { base, navigate } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { confirm, Confirm } from '../../parts/confirm.tsx';
import { attempt, notifyFailure, notify } from '../../parts/notices.tsx';
import { ADMIN, mayChange, type User, type ApiKey, counted } from './shapes.ts';
import type { Question } from '../../../own-pages.ts';
import { isCaller } from './role-choice.tsx';
import { Field, textIn } from '../../parts/field.tsx';

interface OfUser {
  readonly user: User;
  changed(): void;
}

/** The buttons of an account; nothing for a caller without the permission. */
export function UserActions({ user, changed }: OfUser) {
  const [disabling, setDisabling] = useState<string | null>(null);
  if (!mayChange(user)) return null;
  const at = `${ADMIN}/users/${encodeURIComponent(user.id)}`;
  const { email } = user;
  const run = async ({ name, method, path, done, text }: Act) => {
    if (text !== undefined && !(await confirm({ text, action: name }))) return;
    await attempt(() => call(method, `${at}${path}`), done);
    changed();
  };
  const disable = async () => setDisabling(await losses(user, t('cannot sign in')));
  const remove = async () => {
    if (!(await confirm(await deletion(user)))) return;
    if (await attempt(() => call('DELETE', at), t('{email} is deleted', { email })))
      navigate(`${base}/users`);
    else changed();
  };
  return (
    <>
      {user.disabled ? (
        <ActButton name={t('Enable')} act={() => run(enabling(email))} />
      ) : (
        <ActButton name={t('Disable')} act={disable} />
      )}
      {actsOn(user).map((act) => (
        <ActButton key={act.name} name={act.name} act={() => run(act)} />
      ))}
      <ActButton name={t('Delete user')} act={remove} danger />
      {disabling !== null && (
        <DisableDialog
          text={disabling}
          path={`${at}/disable`}
          email={email}
          close={() => setDisabling(null)}
          changed={changed}
        />
      )}
    </>
  );
}

interface ActButtonProps {
  readonly name: string;
  act(): Promise<void>;
  readonly danger?: boolean;
}

const ActButton = ({ name, act, danger }: ActButtonProps) => (
  <Button class={danger ? 'danger' : undefined} onClick={() => act().catch(notifyFailure)}>
    {name}
  </Button>
);

/** One call that changes an account. */
interface Act {
  /** The verb of its button. */
  readonly name: string;
  readonly method: 'POST' | 'DELETE';
  /** Below the path of the user. */
  readonly path: string;
  /** The notice after the action is done. */
  readonly done: string;
  /** What is lost by the action, when something is. */
  readonly text?: string;
}

/** The actions that the account's state allows, apart from disabling and deleting it. */
function actsOn(user: User): readonly Act[] {
  const given = {
    email: user.email,
    sessions: counted(user.sessions, 'session'),
    passkeys: counted(user.passkeys, 'passkey'),
  };
  const acts: readonly (Act | false)[] = [
    { name: t('Unlock'), method: 'POST', path: '/unlock', done: t('{email} is unlocked', given) },
    {
      name: t('Send password reset'),
      method: 'POST',
      path: '/reset-password',
      done: t('A mail went to {email}', given),
    },
    user.has_password &&
      !user.password_change_required && {
        name: t('Require password change'),
        method: 'POST',
        path: '/require-password-change',
        done: t('The next sign-in of {email} asks for a new password', given),
        text: t('Ends {sessions} of {email}; the next sign-in asks for a new password.', given),
      },
    (user.totp || user.passkeys > 0) && {
      name: t('Remove second factor'),
      method: 'DELETE',
      path: '/second-factor',
      done: t('{email} has no second factor any more', given),
      text: t(
        'Removes the app, the recovery codes and {passkeys} of {email}, and ends {sessions}.',
        given,
      ),
    },
    user.deletion_at !== null && {
      name: t('Restore'),
      method: 'POST',
      path: '/restore',
      done: t('{email} is restored', given),
    },
    user.sessions > 0 && {
      name: t('End all sessions'),
      method: 'DELETE',
      path: '/sessions',
      done: t('All sessions of {email} ended', given),
      text: t('Ends {sessions} of {email}.', given),
    },
  ];
  return acts.filter((act) => act !== false);
}

const enabling = (email: string): Act => ({
  name: t('Enable'),
  method: 'POST',
  path: '/enable',
  done: t('{email} is enabled', { email }),
});

/** The question before a user is deleted, whose address must be typed. */
const deletion = async (user: User): Promise<Question> => ({
  text: await losses(user, t('is deleted for good, with what belongs to the account')),
  action: t('Delete user'),
  typed: user.email,
});

/** Sentences about what ends when an account is disabled or deleted, with numbers. */
async function losses(user: User, fate: string): Promise<string> {
  const { email } = user;
  const path = `${ADMIN}/api-keys?user_id=${encodeURIComponent(user.id)}`;
  const { api_keys } = await call<{ api_keys: ApiKey[] }>('GET', path);
  const live = api_keys.filter(({ revoked_at }) => revoked_at === null).length;
  const text = t('{email} {fate}. Ends {sessions} and {keys}.', {
    email,
    fate,
    sessions: counted(user.sessions, 'session'),
    keys: counted(live, 'API key'),
  });
  return isCaller(user) ? `${text}\n${t('This is your own account.')}` : text;
}

interface DisableProps {
  /** A text about what ends. */
  readonly text: string;
  readonly path: string;
  readonly email: string;
  close(): void;
  changed(): void;
}

/** Asks before an account is disabled, for which reason and until when. */
function DisableDialog({ text, path, email, close, changed }: DisableProps) {
  const disable = async (form: FormData) => {
    const reason = textIn(form, 'reason');
    const until = String(form.get('until') ?? '');
    const body = {
      ...(reason && { reason }),
      ...(until && { until: new Date(until).toISOString() }),
    };
    await call('POST', path, body).finally(changed);
    notify(t('{email} is disabled', { email }));
    close();
  };
  return (
    <Confirm text={text} action={t('Disable')} confirm={disable} cancel={close}>
      <Field label={t('Reason')} name="reason" maxLength={256} autocomplete="off" />
      <Field
        label={t('Until')}
        name="until"
        type="datetime-local"
        hint={t('The account is enabled again at this time. Empty: it stays disabled.')}
      />
    </Confirm>
  );
}
