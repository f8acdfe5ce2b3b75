import { base, navigate } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import { ADMIN, holdsAll, type Role, rightsOf, type User } from './shapes.ts';

const NAMES = [
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['username', 'Username'],
] as const;

/** Makes an account; its owner sets the password by the link of a mail. */
export function NewUser({ roles, close }: { roles: readonly Role[]; close(): void }) {
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
        <Field label={t('Role')} name="role_id">
          {(attributes) => (
            <select {...attributes}>
              <option value="">{t('The default role')}</option>
              {roles
                .filter((role) => holdsAll(rightsOf(role)))
                .map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
            </select>
          )}
        </Field>
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
