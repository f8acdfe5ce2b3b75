import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import type { Question } from '../../../own-pages.ts';
import { isCaller } from './role-choice.tsx';
import { ADMIN, type ApiKey, counted, type User } from './shapes.ts';

/** One call that changes an account. */
export interface Act {
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
export function actsOn(user: User): readonly Act[] {
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

export const enabling = (email: string): Act => ({
  name: t('Enable'),
  method: 'POST',
  path: '/enable',
  done: t('{email} is enabled', { email }),
});

/** The question before a user is deleted, whose address must be typed. */
export const deletion = async (user: User): Promise<Question> => ({
  text: await losses(user, t('is deleted for good, with what belongs to the account')),
  action: t('Delete user'),
  typed: user.email,
});

/** Sentences about what ends when an account is disabled or deleted, with numbers. */
export async function losses(user: User, fate: string): Promise<string> {
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
