import { useState } from 'preact/hooks';
import { setQuery } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { attempt, notify, notifyFailure } from '../../parts/notices.tsx';
import { Panel } from '../../parts/page.tsx';
import { Deliveries } from './deliveries.tsx';
import { EditWebhook, RotateSecret } from './dialogs.tsx';
import { pathOf, type Webhook } from './webhook.ts';

interface ChosenProps {
  readonly webhook: Webhook;
  /** Called when the list has to be read again. */
  changed(): void;
  /** Shows a secret. */
  show(secret: string): void;
}

/** One webhook: its actions, and the deliveries to it. */
export function Chosen({ webhook, changed, show }: ChosenProps) {
  const [open, setOpen] = useState<'edit' | 'rotate' | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Panel
        name={webhook.url}
        tools={can('auth:manage') && <Actions {...{ webhook, changed, open: setOpen }} />}
      >
        {webhook.disabled_at !== null && (
          <p class="quiet">{t('Nothing is sent to it while it is disabled.')}</p>
        )}
      </Panel>
      <Deliveries webhook={webhook} />
      {open === 'edit' && <EditWebhook {...{ webhook, close, changed }} />}
      {open === 'rotate' && <RotateSecret {...{ webhook, close }} rotated={show} />}
    </>
  );
}

interface ActionsProps extends Pick<ChosenProps, 'webhook' | 'changed'> {
  open(dialog: 'edit' | 'rotate'): void;
}

function Actions({ webhook, changed, open }: ActionsProps) {
  const disabled = webhook.disabled_at !== null;
  const turn = () =>
    attempt(
      () => call('PATCH', pathOf(webhook), { disabled: !disabled }),
      disabled ? t('Webhook enabled') : t('Webhook disabled'),
    ).then(changed);
  return (
    <>
      <Button onClick={() => test(webhook)}>{t('Send test event')}</Button>
      {webhook.source === 'admin' && <Button onClick={() => open('edit')}>{t('Edit')}</Button>}
      <Button onClick={turn}>{disabled ? t('Enable') : t('Disable')}</Button>
      <Button onClick={() => open('rotate')}>{t('Rotate secret')}</Button>
      <Button class="danger" onClick={() => remove(webhook, changed)}>
        {t('Delete webhook')}
      </Button>
    </>
  );
}

/** The server sends the event during this call, and returns the receiver's response. */
async function test(webhook: Webhook): Promise<void> {
  try {
    const path = `${pathOf(webhook)}/test`;
    const { delivered, status } = await call<{ delivered: boolean; status: number | null }>(
      'POST',
      path,
    );
    if (delivered) return notify(t('The receiver answered {status}', { status: status ?? 0 }));
    notifyFailure(
      status === null
        ? t('The receiver could not be reached')
        : t('The receiver refused the event: {status}', { status }),
    );
  } catch (error) {
    notifyFailure(error);
  }
}

async function remove(webhook: Webhook, changed: () => void): Promise<void> {
  const text = t('{url} gets no more events, and the list of its deliveries goes with it.', {
    url: webhook.url,
  });
  if (!(await confirm({ text, action: t('Delete webhook') }))) return;
  if (!(await attempt(() => call('DELETE', pathOf(webhook)), t('Webhook deleted')))) return;
  setQuery({ webhook: null, cursor: null, status: null }, { replace: true });
  changed();
}
