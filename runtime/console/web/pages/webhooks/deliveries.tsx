import { query, setQuery } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { CursorPager } from '../../parts/cursor-pager.tsx';
import { Choice } from '../../parts/field.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Badge } from '../../parts/page.tsx';
import { type Columns, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { pathOf, type Webhook, type WebhookDelivery } from './webhook.ts';

interface Page {
  readonly deliveries: readonly WebhookDelivery[];
  readonly next_cursor: string | null;
}

/** Milliseconds between two looks: an event is delivered within seconds. */
const EVERY = 5000;

/** The deliveries to a webhook, newest first. The address contains the filter and the page. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [status, cursor] = [query.value.get('status') ?? '', query.value.get('cursor')];
  const parameters = new URLSearchParams({
    ...(status !== '' && { status }),
    ...(cursor !== null && { cursor }),
  });
  const path = `${pathOf(webhook)}/deliveries`;
  const asked = useCall<Page>(parameters.size > 0 ? `${path}?${parameters}` : path, {
    every: EVERY,
  });
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
