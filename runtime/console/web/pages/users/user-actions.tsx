import { useState } from 'preact/hooks';
import { base, navigate } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { attempt, notifyFailure } from '../../parts/notices.tsx';
import { type Act, actsOn, deletion, enabling, losses } from './account-acts.ts';
import { DisableDialog } from './disable.tsx';
import { ADMIN, mayChange, type User } from './shapes.ts';

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
