import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Field } from '../../parts/field.tsx';
import { wordsIn } from '../../parts/form-text.ts';
import { notify } from '../../parts/notices.tsx';
import { pathOf, WEBHOOKS, type Webhook } from './webhook.ts';

interface NewWebhookProps {
  close(): void;
  created(secret: string): void;
}

export function NewWebhook({ close, created }: NewWebhookProps) {
  const submit = async (form: FormData) => {
    const body = { url: form.get('url'), types: wordsIn(form, 'types') };
    const { secret } = await call<{ secret: string }>('POST', WEBHOOKS, body);
    notify(t('Webhook created'));
    close();
    created(secret);
  };
  return (
    <FormDialog title={t('New webhook')} action={t('Create webhook')} close={close} submit={submit}>
      <AddressFields url="" types={['*']} />
    </FormDialog>
  );
}

interface WebhookDialogProps {
  readonly webhook: Webhook;
  close(): void;
}

export function EditWebhook({ webhook, close, changed }: WebhookDialogProps & { changed(): void }) {
  const submit = async (form: FormData) => {
    const body = { url: form.get('url'), types: wordsIn(form, 'types') };
    await call('PATCH', pathOf(webhook), body);
    notify(t('Webhook changed'));
    close();
    changed();
  };
  return (
    <FormDialog title={t('Edit webhook')} action={t('Save')} close={close} submit={submit}>
      <AddressFields url={webhook.url} types={webhook.types} />
    </FormDialog>
  );
}

function AddressFields({ url, types }: Pick<Webhook, 'url' | 'types'>) {
  return (
    <>
      <Field
        label={t('URL')}
        name="url"
        type="url"
        required
        maxLength={2048}
        defaultValue={url}
        hint={t('https, except on a loopback address')}
      />
      <Field
        label={t('Events')}
        name="types"
        required
        defaultValue={types.join(', ')}
        hint={t('* for all, or types and prefixes: user.*, auth.login.failed')}
      />
    </>
  );
}

export function RotateSecret({
  webhook,
  close,
  rotated,
}: WebhookDialogProps & { rotated(secret: string): void }) {
  const submit = async (form: FormData) => {
    const path = `${pathOf(webhook)}/rotate`;
    const { secret } = await call<{ secret: string }>('POST', path, {
      overlap: form.get('overlap'),
    });
    close();
    rotated(secret);
  };
  return (
    <FormDialog
      title={t('Rotate secret')}
      action={t('Rotate secret')}
      close={close}
      submit={submit}
    >
      <Field
        label={t('Overlap')}
        name="overlap"
        required
        defaultValue="24h"
        hint={t('How long requests are signed with the old secret too: 30m, 24h, 7d')}
      />
    </FormDialog>
  );
}

/** The secret of a webhook, which the server shows once. */
export const SecretDialog = ({ secret, close }: { secret: string; close: () => void }) => (
  <ShownOnce
    title={t('Webhook secret')}
    about={t('It is shown only once: copy it now.')}
    label={t('Secret')}
    secret={secret}
    close={close}
  >
    {t('Requests are signed with it.')}
  </ShownOnce>
);
