import { useState } from 'preact/hooks';
import { askedPath, setQuery, query } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { attempt, notify, notifyFailure } from '../../parts/notices.tsx';
import { Panel, Badge } from '../../parts/page.tsx';
import {
  EditWebhook,
  RotateSecret,
  pathOf,
  type Webhook,
  type WebhookDelivery,
} from './dialogs.tsx';
import { CursorPager } from '../../parts/cursor-pager.tsx';
import { Choice } from '../../parts/field.tsx';
import { type Columns, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';

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
      {open === 'edit' && <EditWebhook {...{ webhook, close, saved: changed }} />}
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

interface Page {
  readonly deliveries: readonly WebhookDelivery[];
  readonly next_cursor: string | null;
}

/** Milliseconds between two looks: an event is delivered within seconds. */
const EVERY = 5000;

/** The deliveries to a webhook, newest first. The address contains the filter and the page. */
function Deliveries({ webhook }: { webhook: Webhook }) {
  const status = query.value.get('status') ?? '';
  const path = `${pathOf(webhook)}/deliveries`;
  const asked = useCall<Page>(askedPath(path, ['status', 'cursor']), { every: EVERY });
  const again = (delivery: WebhookDelivery) =>
    attempt(
      () => call('POST', `${path}/${encodeURIComponent(delivery.id)}/redeliver`),
      t('The event is sent again'),
    ).then(asked.reload);
  return (
    <section aria-label={t('Sent events')} class="webhook-deliveries">
      <div class="panel-head">
        <h2>{t('Deliveries')}</h2>
        <div class="tools">
          <Choice
            label={t('Status')}
            value={status}
            options={STATUSES.map(([value, text]) => [value, t(text)] as const)}
            choose={(next) => setQuery({ status: next === '' ? null : next, cursor: null })}
          />
        </div>
      </div>
      <Table
        name={t('Deliveries')}
        columns={columnsOf(webhook, again)}
        rows={asked.data?.deliveries}
        of={{ ...asked, loading: asked.data === undefined && asked.loading }}
        empty={[
          status === '' ? t('No deliveries yet') : t('No deliveries with this status'),
          t('Deliveries are kept for seven days.'),
        ]}
      />
      <CursorPager next={asked.data?.next_cursor} />
    </section>
  );
}

const STATUSES = [
  ['', 'all'],
  ['pending', 'pending'],
  ['delivered', 'delivered'],
  ['failed', 'failed'],
] as const;

const TONES = { pending: 'busy', delivered: 'good', failed: 'bad' } as const;

function columnsOf(
  { disabled_at }: Webhook,
  again: (delivery: WebhookDelivery) => void,
): Columns<WebhookDelivery> {
  return [
    { id: 'type', title: t('Event'), render: ({ type }) => <code>{type ?? ''}</code> },
    {
      id: 'status',
      title: t('Status'),
      width: 'fit',
      render: ({ status }) => <Badge tone={TONES[status]}>{t(status)}</Badge>,
    },
    {
      id: 'attempt',
      title: t('Attempts'),
      align: 'end',
      width: 'fit',
      render: ({ attempt: count }) => count,
    },
    {
      id: 'answer',
      title: t('Last answer'),
      width: 'wrap',
      render: ({ last_code, last_error }) =>
        last_code ?? last_error ?? <span class="quiet">–</span>,
    },
    timeColumn('created_at', t('Created'), { width: 'fit' }),
    timeColumn('next_at', t('Next attempt'), { width: 'fit' }),
    can('auth:manage') &&
      disabled_at === null && {
        id: 'again',
        title: t('Action'),
        width: 'fit',
        render: (delivery: WebhookDelivery) => (
          <Button onClick={() => again(delivery)}>{t('Redeliver')}</Button>
        ),
      },
  ];
}
