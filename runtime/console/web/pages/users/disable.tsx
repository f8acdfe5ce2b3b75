import { useId, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { leave } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { textIn } from '../../parts/form-text.ts';
import { notify } from '../../parts/notices.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { failureText } from '../../parts/use-call.ts';
import { useModal } from '../../parts/use-modal.ts';

interface DisableProps {
  /** A text about what ends. */
  readonly text: string;
  readonly path: string;
  readonly email: string;
  close(): void;
  changed(): void;
}

/**
 * Asks before an account is disabled, for which reason and until when. The focus is on `Cancel`.
 */
export function DisableDialog({ text, path, email, close, changed }: DisableProps) {
  const dialog = useModal();
  const id = useId();
  const [refused, setRefused] = useState<string | null>(null);
  const disable = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const reason = textIn(form, 'reason');
    const until = String(form.get('until') ?? '');
    const body = {
      ...(reason && { reason }),
      ...(until && { until: new Date(until).toISOString() }),
    };
    try {
      await call('POST', path, body);
      notify(t('{email} is disabled', { email }));
      close();
    } catch (error) {
      setRefused(failureText(error));
    }
    changed();
  };
  return (
    <dialog
      ref={dialog}
      class="small"
      role="alertdialog"
      aria-label={t('Disable')}
      aria-describedby={id}
      onCancel={(event) => leave(event, close)}
    >
      <h2>{t('Disable')}</h2>
      <p id={id} class="lost">
        {text}
      </p>
      <form onSubmit={(event) => void disable(event)}>
        <Field label={t('Reason')} name="reason" maxLength={256} autocomplete="off" />
        <Field
          label={t('Until')}
          name="until"
          type="datetime-local"
          hint={t('The account is enabled again at this time. Empty: it stays disabled.')}
        />
        <Refusal text={refused} />
        <div class="buttons end">
          <button type="button" autofocus onClick={close}>
            {t('Cancel')}
          </button>
          <button type="submit" class="danger">
            {t('Disable')}
          </button>
        </div>
      </form>
    </dialog>
  );
}
