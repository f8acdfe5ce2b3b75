import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { notify } from '../../parts/notices.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Field, wordsIn } from '../../parts/field.tsx';

interface EditWebhookProps {
  /** A new one where it is absent. */
  readonly webhook?: Webhook;
  close(): void;
  /** Called with the secret of a new one. */
  saved(secret: string): void;
}

/** Makes a webhook, or changes where it sends which events. */
export function EditWebhook({ webhook, close, saved }: EditWebhookProps) {
  const submit = async (form: FormData) => {
    const body = { url: form.get('url'), types: wordsIn(form, 'types') };
    const made = await (webhook
      ? call('PATCH', pathOf(webhook), body)
      : call<{ secret: string }>('POST', WEBHOOKS, body));
    notify(webhook ? t('Webhook changed') : t('Webhook created'));
    close();
    saved(webhook ? '' : made.secret);
  };
  return (
    <FormDialog
      title={webhook ? t('Edit webhook') : t('New webhook')}
      action={webhook ? t('Save') : t('Create webhook')}
      {...{ close, submit }}
    >
      <AddressFields {...(webhook ?? { url: '', types: ['*'] })} />
    </FormDialog>
  );
}

interface WebhookDialogProps {
  readonly webhook: Webhook;
  close(): void;
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

/** An endpoint that events are sent to. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly source: 'manifest' | 'admin';
  readonly created_at: string;
  readonly disabled_at: string | null;
}

/** The delivery of one event to one endpoint. */
export interface WebhookDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly type: string | null;
  readonly attempt: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly last_code: number | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly next_at: string | null;
}

export const WEBHOOKS = '/api/auth/admin/webhooks';

export const pathOf = ({ id }: Webhook): string => `${WEBHOOKS}/${encodeURIComponent(id)}`;
