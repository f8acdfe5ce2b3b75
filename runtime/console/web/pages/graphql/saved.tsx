import type { ComponentChildren } from 'preact';
import { t } from '../../messages.ts';
import { Button, CloseButton } from '../../parts/button.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, textIn } from '../../parts/field.tsx';
import { Panel } from '../../parts/page.tsx';
import type { Past, SavedQuery } from './kept.ts';

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
          <Operation key={query.name} name={query.name} open={() => open(query)}>
            <CloseButton
              label={t('Remove {name}', { name: query.name })}
              onClick={() => ask(query.name)}
            />
          </Operation>
        ))}
      </ul>
    </Panel>
  );
}

interface HistoryProps {
  readonly past: readonly Past[];
  open(past: Past): void;
  forget(): void;
}

/** What was run in this browser. */
export function History({ past, open, forget }: HistoryProps) {
  const tools = past.length > 0 && <Button onClick={forget}>{t('Forget all')}</Button>;
  return (
    <Panel name={t('History')} tools={tools}>
      {past.length === 0 && <p class="quiet">{t('Nothing was run yet.')}</p>}
      <ul aria-label={t('Operations that were run')} class="graphql-saved">
        {past.map((each) => (
          <Operation
            key={`${each.text} ${each.variables}`}
            name={oneLine(each.text)}
            open={() => open(each)}
          />
        ))}
      </ul>
    </Panel>
  );
}

/** An operation without its comments. */
const oneLine = (text: string): string => text.replaceAll(/#.*$/gm, '').replaceAll(/\s+/g, ' ');

interface OperationProps {
  readonly name: string;
  open(): void;
  readonly children?: ComponentChildren;
}

const Operation = ({ name, open, children }: OperationProps) => (
  <li>
    <Button class="plain" onClick={open}>
      {name}
    </Button>
    {children}
  </li>
);

interface SaveDialogProps {
  readonly name: string;
  save(name: string): void;
  close(): void;
}

/** Asks for the name. One that is taken is replaced. */
export function SaveDialog({ name, save, close }: SaveDialogProps) {
  const submit = (form: FormData) => {
    const given = textIn(form, 'name');
    save(given);
    return t('Saved as {name}', { name: given });
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
