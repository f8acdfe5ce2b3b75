import { t } from '../../messages.ts';
import { CloseButton } from '../../parts/button.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Panel } from '../../parts/page.tsx';
import type { SavedQuery } from './saved-queries.ts';

interface SavedProps {
  readonly queries: readonly SavedQuery[];
  open(query: SavedQuery): void;
  remove(name: string): void;
}

/** The queries that the caller saved in this browser. */
export function Saved({ queries, open, remove }: SavedProps) {
  const ask = async (name: string) => {
    const text = t('The saved query {name} is removed from this browser.', { name });
    if (await confirm({ text, action: t('Remove') })) remove(name);
  };
  return (
    <Panel name={t('Saved')}>
      {queries.length === 0 && (
        <p class="quiet">
          {t('Save keeps an operation in this browser, without variables and headers.')}
        </p>
      )}
      <ul aria-label={t('Saved queries')} class="graphql-saved">
        {queries.map((query) => (
          <li key={query.name}>
            <button type="button" class="plain" onClick={() => open(query)}>
              {query.name}
            </button>
            <CloseButton
              label={t('Remove {name}', { name: query.name })}
              onClick={() => ask(query.name)}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface SaveDialogProps {
  readonly name: string;
  save(name: string): void;
  close(): void;
}

/** Asks for the name. One that is taken is replaced. */
export function SaveDialog({ name, save, close }: SaveDialogProps) {
  const submit = (form: FormData) => {
    save(String(form.get('name')).trim());
    close();
  };
  return (
    <FormDialog title={t('Save query')} action={t('Save')} close={close} submit={submit}>
      <Field
        label={t('Name')}
        name="name"
        required
        maxLength={100}
        pattern=".*\S.*"
        defaultValue={name}
        hint={t('Kept in this browser. A query of the same name is replaced.')}
      />
    </FormDialog>
  );
}
