import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button, RowButton } from '../../parts/button.tsx';
import { textIn, Field } from '../../parts/field.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Empty, Panel } from '../../parts/page.tsx';
import { actionsColumn, type Column, Table } from '../../parts/table.tsx';
import { ApplyHint } from './apply-hint.tsx';
import { envOf } from './source-fields.tsx';
import { type AppProps, MASK, routeOf } from './types.ts';

interface Variable {
  readonly key: string;
  /** Null for a secret, which is never read back. */
  readonly value: string | null;
}

type Open =
  | { readonly kind: 'variable'; readonly variable?: Variable }
  | { readonly kind: 'secret'; readonly key?: string }
  | { readonly kind: 'all' }
  | null;

/** The environment of an app, and its secrets: they are set and never shown. */
export function EnvironmentTab(props: AppProps) {
  const { app, reload } = props;
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const variables = variablesOf(app.env);
  const writes = can('apps:write');
  return (
    <>
      <Panel
        name={t('Variables and secrets')}
        tools={
          writes && (
            <>
              <Button onClick={() => setOpen({ kind: 'variable' })}>{t('Add variable')}</Button>
              <Button onClick={() => setOpen({ kind: 'secret' })}>{t('Set secret')}</Button>
              <Button onClick={() => setOpen({ kind: 'all' })}>{t('Edit as text')}</Button>
            </>
          )
        }
      >
        <Table
          name={t('Environment')}
          columns={columnsOf({ ...props, writes, setOpen })}
          rows={variables}
          keyOf={({ key }) => key}
          empty={<Empty text={t('No variables or secrets yet')} />}
        />
        <ApplyHint {...props} />
      </Panel>
      {open?.kind === 'variable' && (
        <VariableDialog
          {...{ ...props, close }}
          {...(open.variable && { variable: open.variable })}
        />
      )}
      {open?.kind === 'secret' && (
        <SecretDialog {...{ app, reload, close }} given={open.key ?? ''} />
      )}
      {open?.kind === 'all' && <AllDialog {...{ app, reload, close }} />}
    </>
  );
}

/** A masked value is a secret. */
const variablesOf = (env: Readonly<Record<string, string>>): readonly Variable[] =>
  Object.entries(env)
    .map(([key, value]) => ({ key, value: value === MASK ? null : value }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

interface ColumnProps extends AppProps {
  readonly writes: boolean;
  setOpen(open: Open): void;
}

function columnsOf({ app, reload, writes, setOpen }: ColumnProps): readonly Column<Variable>[] {
  const remove = async ({ key, value }: Variable) => {
    const text = t('{key} of {name} is removed.', { key, name: app.name });
    if (!(await confirm({ text, action: t('Remove') }))) return;
    const removed = () =>
      value === null
        ? call('DELETE', `${routeOf(app.name)}/secrets/${key}`)
        : call('PUT', `${routeOf(app.name)}/env`, without(app.env, key));
    if (await attempt(removed, t('{key} is removed', { key }))) reload();
  };
  const shown: readonly Column<Variable>[] = [
    { id: 'key', title: t('Name'), render: ({ key }) => <code>{key}</code> },
    {
      id: 'value',
      title: t('Value'),
      width: 'wrap',
      render: ({ value }) => (value === null ? <span class="quiet">{t('secret')}</span> : value),
    },
  ];
  if (!writes) return shown;
  const change = (variable: Variable) =>
    setOpen(
      variable.value === null
        ? { kind: 'secret', key: variable.key }
        : { kind: 'variable', variable },
    );
  const actions = (variable: Variable) => (
    <span class="buttons">
      <RowButton verb={t('Change')} of={variable.key} onClick={() => change(variable)} />
      <RowButton verb={t('Remove')} of={variable.key} onClick={() => remove(variable)} />
    </span>
  );
  return [...shown, actionsColumn(actions)];
}

const without = (env: Readonly<Record<string, string>>, key: string) =>
  Object.fromEntries(Object.entries(env).filter(([each]) => each !== key));

interface DialogProps extends Pick<AppProps, 'app' | 'reload'> {
  close(): void;
}

function VariableDialog({ app, reload, close, variable }: DialogProps & { variable?: Variable }) {
  const submit = async (form: FormData) => {
    const key = variable?.key ?? textIn(form, 'key');
    await call('PUT', `${routeOf(app.name)}/env`, { ...app.env, [key]: String(form.get('value')) });
    return t('{key} is saved', { key });
  };
  return (
    <FormDialog
      title={variable ? t('Change {key}', { key: variable.key }) : t('Add variable')}
      action={t('Save')}
      {...{ close, submit, saved: reload }}
    >
      {!variable && <KeyField given="" />}
      <Field label={t('Value')} name="value">
        {(it) => (
          <textarea {...it} rows={3} spellcheck={false} defaultValue={variable?.value ?? ''} />
        )}
      </Field>
    </FormDialog>
  );
}

function SecretDialog({ app, reload, close, given }: DialogProps & { given: string }) {
  const submit = async (form: FormData) => {
    const key = given === '' ? textIn(form, 'key') : given;
    const path = `${routeOf(app.name)}/secrets/${encodeURIComponent(key)}`;
    await call('PUT', path, { value: String(form.get('value')) });
    return t('{key} is sealed', { key });
  };
  return (
    <FormDialog
      title={given === '' ? t('Set secret') : t('Change {key}', { key: given })}
      action={t('Save secret')}
      {...{ close, submit, saved: reload }}
    >
      {given === '' && <KeyField given={given} />}
      <Field
        label={t('Value')}
        name="value"
        type="password"
        autocomplete="off"
        hint={t('It is stored sealed, and never shown again.')}
      />
    </FormDialog>
  );
}

const KeyField = ({ given }: { given: string }) => (
  <Field
    label={t('Key')}
    name="key"
    required
    autofocus
    autocomplete="off"
    spellcheck={false}
    defaultValue={given}
    maxLength={128}
    pattern="[A-Za-z_][A-Za-z0-9_]*"
    placeholder="DATABASE_URL"
  />
);

/** A dialog with all variables as lines. Secrets are not shown and stay as they are. */
function AllDialog({ app, reload, close }: DialogProps) {
  const open = variablesOf(app.env).filter(({ value }) => value !== null);
  const text = open.map(({ key, value }) => `${key}=${lineOf(value ?? '')}`).join('\n');
  const submit = async (form: FormData) => {
    await call('PUT', `${routeOf(app.name)}/env`, envOf(String(form.get('env') ?? '')));
    return t('The environment is saved');
  };
  return (
    <FormDialog
      title={t('Environment as text')}
      action={t('Save')}
      size="wide"
      {...{ close, submit, saved: reload }}
    >
      <Field
        label={t('Env')}
        name="env"
        hint={t('A line KEY=value for each. Secrets stay as they are.')}
      >
        {(it) => <textarea {...it} rows={12} spellcheck={false} class="code" defaultValue={text} />}
      </Field>
    </FormDialog>
  );
}

/** A value of several lines, with spaces around it or with quotes is written as JSON text. */
const lineOf = (value: string) =>
  /[\n\r]|^\s|\s$|^["']/.test(value) ? JSON.stringify(value) : value;
