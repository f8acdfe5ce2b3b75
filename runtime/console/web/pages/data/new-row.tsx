import { useId } from 'preact/hooks';
import { t } from '../../messages.ts';
import type { Module, InputField } from '../../rest-modules.ts';
import type { Row } from './staged.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { valueOf } from './value.tsx';
import { ApiError, call } from '../../call.ts';
import { Control } from './control.tsx';

interface NewRowProps {
  readonly module: Module;
  readonly fields: readonly InputField[];
  close(): void;
  saved(): void;
}

/** The dialog `New <Type>` with a control for each field that a new row takes. */
export function NewRow({ module, fields, close, saved }: NewRowProps) {
  const title = t('New {type}', { type: module.type });
  const submit = async (form: FormData) => {
    const row = await call<Row | null>('POST', module.path, inputOf(form, fields));
    return t('{type} {id} created', { type: module.type, id: String(row?.['id'] ?? '') });
  };
  return (
    <FormDialog title={title} action={t('Create')} {...{ close, submit, saved }}>
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
        {field.name}{' '}
        <span class="quiet">
          {[field.required && t('required'), field.keyOf?.type ?? t(field.kind)]
            .filter(Boolean)
            .join(' ')}
        </span>
      </label>
      <Control field={field} text="" inForm id={id} />
    </div>
  );
}

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
