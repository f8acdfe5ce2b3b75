import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, textIn, wordsIn } from '../../parts/field.tsx';
import { ADMIN, type Role } from './shapes.ts';

/** The role whose name or permissions are edited. `new` is a role that does not exist yet. */
export type Editing =
  | { readonly kind: 'rename' | 'grant'; readonly role: Role }
  | { readonly kind: 'new' };

interface RoleDialogProps {
  readonly editing: Editing;
  close(): void;
  saved(): void;
}

/** Makes a role, gives it another name, or grants it a permission. */
export function RoleDialog({ editing, close, saved }: RoleDialogProps) {
  const [title, action] = TITLES[editing.kind];
  const save = async (form: FormData) => {
    await SAVE[editing.kind](editing, form);
    return t(DONE[editing.kind]);
  };
  return (
    <FormDialog title={t(title)} action={t(action)} {...{ close, saved }} submit={save}>
      {editing.kind !== 'grant' && (
        <Field
          label={t('Name')}
          name="name"
          required
          autofocus
          autocomplete="off"
          defaultValue={editing.kind === 'rename' ? editing.role.name : ''}
        />
      )}
      {editing.kind !== 'rename' && (
        <Field
          label={editing.kind === 'new' ? t('Permissions') : t('Permission')}
          name="permissions"
          required={editing.kind === 'grant'}
          autofocus={editing.kind === 'grant'}
          autocomplete="off"
          spellcheck={false}
          hint={t('Such as posts:read, auth:manage, *:read.')}
        />
      )}
    </FormDialog>
  );
}

const TITLES = {
  new: ['New role', 'Create role'],
  rename: ['Rename role', 'Rename'],
  grant: ['Grant permission', 'Grant'],
} as const;

const DONE = {
  new: 'Role created',
  rename: 'Role renamed',
  grant: 'Permission granted',
} as const;

const idOf = (editing: Editing) => (editing.kind === 'new' ? '' : editing.role.id);

const SAVE: Readonly<Record<Editing['kind'], (editing: Editing, form: FormData) => Promise<void>>> =
  {
    new: (_, form) =>
      call('POST', `${ADMIN}/roles`, {
        name: textIn(form, 'name'),
        permissions: wordsIn(form, 'permissions'),
      }),
    rename: (editing, form) =>
      call('PUT', `${ADMIN}/roles/${idOf(editing)}`, { name: textIn(form, 'name') }),
    grant: async (editing, form) => {
      for (const permission of wordsIn(form, 'permissions')) {
        const path = `${ADMIN}/roles/${idOf(editing)}/permissions`;
        await call('PUT', `${path}/${encodeURIComponent(permission)}`);
      }
    },
  };
