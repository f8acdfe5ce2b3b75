import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Field } from '../../parts/field.tsx';
import { textIn } from '../../parts/form-text.ts';
import { notify } from '../../parts/notices.tsx';

interface DisableProps {
  /** A text about what ends. */
  readonly text: string;
  readonly path: string;
  readonly email: string;
  close(): void;
  changed(): void;
}

/** Asks before an account is disabled, for which reason and until when. */
export function DisableDialog({ text, path, email, close, changed }: DisableProps) {
  const disable = async (form: FormData) => {
    const reason = textIn(form, 'reason');
    const until = String(form.get('until') ?? '');
    const body = {
      ...(reason && { reason }),
      ...(until && { until: new Date(until).toISOString() }),
    };
    await call('POST', path, body).finally(changed);
    notify(t('{email} is disabled', { email }));
    close();
  };
  return (
    <Confirm text={text} action={t('Disable')} confirm={disable} cancel={close}>
      <Field label={t('Reason')} name="reason" maxLength={256} autocomplete="off" />
      <Field
        label={t('Until')}
        name="until"
        type="datetime-local"
        hint={t('The account is enabled again at this time. Empty: it stays disabled.')}
      />
    </Confirm>
  );
}
