import { useId } from 'preact/hooks';
import { ApiError, call } from '../../call.ts';
import { t } from '../../messages.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Required } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import type { InputField, Module } from '../../rest-modules.ts';
import { Control } from './control.tsx';
import { valueOf } from './field-text.ts';
import type { Row } from './staged.ts';

interface NewRowProps {
  readonly module: Module;
  readonly fields: readonly InputField[];
  close(): void;
  made(row: Row | null): void;
}

/** The dialog `New <Type>` with a control for each field that a new row takes. */
export function NewRow({ module, fields, close, made }: NewRowProps) {
  const title = t('New {type}', { type: module.type });
  const submit = async (form: FormData) => {
    const row = await call<Row | null>('POST', module.path, inputOf(form, fields));
    notify(t('{type} {id} created', { type: module.type, id: String(row?.['id'] ?? '') }));
    made(row);
  };
  return (
    <FormDialog title={title} action={t('Create')} close={close} submit={submit}>
      <p class="quiet">{t('Fields that you leave empty get the defaults of the server.')}</p>
      {fields.map((field) => (
        <NewField key={field.name} field={field} />
      ))}
    </FormDialog>
  );
}

function NewField({ field }: { field: InputField }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {field.name} {field.required && <Required />} <KindOf field={field} />
      </label>
      <Control field={field} text="" inForm id={id} />
    </div>
  );
}

const KindOf = ({ field: { kind, keyOf } }: { field: InputField }) => (
  <span class="quiet">{keyOf ? keyOf.type : t(kind)}</span>
);

/** The input of a new row. Empty fields are left out, so that the server's defaults apply. */
function inputOf(form: FormData, fields: readonly InputField[]): Record<string, unknown> {
  const given = fields.flatMap((field) => {
    const text = String(form.get(field.name) ?? '');
    return text === '' ? [] : [[field.name, jsonOrError(field, text)] as const];
  });
  return Object.fromEntries(given);
}

function jsonOrError(field: InputField, text: string): unknown {
  try {
    return valueOf(field, text);
  } catch {
    throw new ApiError(400, t('{name} is not valid JSON', { name: field.name }), null);
  }
}
