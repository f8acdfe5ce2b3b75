import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, call } from '../call.ts';
import { valueOf } from '../field-text.ts';
import { t } from '../messages.ts';
import { Control } from '../parts/value-control.tsx';
import type { InputField, Module } from '../rest-modules.ts';

interface NewRowProps {
  readonly module: Module;
  readonly fields: readonly InputField[];
  /** Called when the dialog closes; `made` says whether there is a new row. */
  close(made: boolean): void;
}

/** The dialog `New <Type>` with a control for each field that a new row takes. */
export function NewRow({ module, fields, close }: NewRowProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [refused, setRefused] = useState<string | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    try {
      await call('POST', `/api/${module.plural}`, inputOf(form, fields));
      close(true);
    } catch (error) {
      setRefused(error instanceof ApiError ? error.error : String(error));
    }
  };
  const title = t('New {type}', { type: module.type });
  return (
    <dialog ref={dialog} aria-label={title} onCancel={() => close(false)}>
      <h2>{title}</h2>
      <form onSubmit={(event) => void submit(event)}>
        {fields.map((field) => (
          <label key={field.name}>
            <span>
              {field.name} {field.required && <span class="quiet">{t('required')}</span>}
            </span>
            <Control field={field} text="" />
          </label>
        ))}
        {refused !== null && <p role="alert">{refused}</p>}
        <div class="buttons">
          <button type="submit" class="main">
            {t('Create')}
          </button>
          <button type="button" onClick={() => close(false)}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** What was left empty is left out, so that the server's own defaults hold. */
function inputOf(form: FormData, fields: readonly InputField[]): Record<string, unknown> {
  const given = fields.flatMap((field) => {
    const text = String(form.get(field.name) ?? '');
    return text === '' ? [] : [[field.name, valueOf(field, text)] as const];
  });
  return Object.fromEntries(given);
}
