import { useState } from 'preact/hooks';
import { base, navigate } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { confirm, type Question } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { formatNumber } from '../../parts/time.tsx';
import { DisableDialog } from './disable.tsx';
import { isCaller } from './role-choice.tsx';
import { ADMIN, type ApiKey, mayChange, type User } from './shapes.ts';

interface OfUser {
  readonly user: User;
  changed(): void;
}

/** What can be done with an account; nothing for a caller who may not. */
export function UserActions({ user, changed }: OfUser) {
  const [disabling, setDisabling] = useState<string | null>(null);
  if (!mayChange(user)) return null;
  const at = `${ADMIN}/users/${encodeURIComponent(user.id)}`;
  const { email } = user;
  const act = async (question: Question | null, method: string, path: string, done: string) => {
    if (question && !(await confirm(question))) return false;
    const isDone = await attempt(() => call(method, `${at}${path}`), done);
    changed();
    return isDone;
  };
  const disable = async () => setDisabling(await losses(user, t('cannot sign in')));
  const remove = async () => {
    const text = await losses(user, t('is deleted for good, with what belongs to the account'));
    const question = { text, action: t('Delete user'), typed: email };
    if (await act(question, 'DELETE', '', t('{email} is deleted', { email })))
      navigate(`${base}/users`);
  };
  const n = formatNumber(user.sessions);
  const endAll = () =>
    act(
      { text: t('{n} sessions of {email} end.', { n, email }), action: t('End all sessions') },
      'DELETE',
      '/sessions',
      t('All sessions of {email} ended', { email }),
    );
  return (
    <>
      {user.disabled ? (
        <Act
          name={t('Enable')}
          act={() => act(null, 'POST', '/enable', t('{email} is enabled', { email }))}
        />
      ) : (
        <Act name={t('Disable')} act={disable} />
      )}
      <Act
        name={t('Unlock')}
        act={() => act(null, 'POST', '/unlock', t('{email} is unlocked', { email }))}
      />
      <Act
        name={t('Send password reset')}
        act={() => act(null, 'POST', '/reset-password', t('A mail went to {email}', { email }))}
      />
      {user.has_password && !user.password_change_required && (
        <Act
          name={t('Require password change')}
          act={() =>
            act(
              {
                text: t('{n} sessions of {email} end; the next sign-in asks for a new password.', {
                  n,
                  email,
                }),
                action: t('Require password change'),
              },
              'POST',
              '/require-password-change',
              t('The next sign-in of {email} asks for a new password', { email }),
            )
          }
        />
      )}
      {(user.totp || user.passkeys > 0) && (
        <Act
          name={t('Remove second factor')}
          act={() =>
            act(
              {
                text: t(
                  'The app, recovery codes and {passkeys} passkeys of {email} are removed; {n} sessions end.',
                  {
                    passkeys: formatNumber(user.passkeys),
                    email,
                    n,
                  },
                ),
                action: t('Remove second factor'),
              },
              'DELETE',
              '/second-factor',
              t('{email} has no second factor any more', { email }),
            )
          }
        />
      )}
      {user.deletion_at !== null && (
        <Act
          name={t('Restore')}
          act={() => act(null, 'POST', '/restore', t('{email} is restored', { email }))}
        />
      )}
      {user.sessions > 0 && <Act name={t('End all sessions')} act={endAll} />}
      <Act name={t('Delete user')} act={remove} danger />
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

function Act({ name, act, danger }: { name: string; act(): Promise<unknown>; danger?: boolean }) {
  return (
    <button type="button" class={danger ? 'danger' : undefined} onClick={() => void act()}>
      {name}
    </button>
  );
}

/** What ends when an account is disabled or deleted, by number. */
async function losses(user: User, fate: string): Promise<string> {
  const { email } = user;
  const path = `${ADMIN}/api-keys?user_id=${encodeURIComponent(user.id)}`;
  const { api_keys } = await call<{ api_keys: ApiKey[] }>('GET', path);
  const live = api_keys.filter(({ revoked_at }) => revoked_at === null).length;
  const text = t('{email} {fate}. {sessions} sessions and {keys} API keys end.', {
    email,
    fate,
    sessions: formatNumber(user.sessions),
    keys: formatNumber(live),
  });
  return isCaller(user) ? `${text}\n${t('This is your own account.')}` : text;
}
