import { useState } from 'preact/hooks';
import { base, query } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { Badge, Empty, Page } from '../../parts/page.tsx';
import { type Column, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { Chosen } from './chosen.tsx';
import { EditWebhook, SecretDialog, WEBHOOKS, type Webhook } from './dialogs.tsx';

/** The endpoints that get security events, and the deliveries to them. */
export function WebhooksPage() {
  const asked = useCall<{ webhooks: Webhook[] }>(WEBHOOKS);
  const [creating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const webhooks = asked.data?.webhooks;
  const wanted = query.value.get('webhook');
  const chosen = webhooks?.find(({ id }) => id === wanted) ?? webhooks?.[0];
  const create = can('auth:manage') && (
    <Button class="main" onClick={() => setCreating(true)}>
      {t('New webhook')}
    </Button>
  );
  return (
    <Page
      title={t('Webhooks')}
      about={t('Security events, such as sign-ins and new users, are sent to these addresses.')}
      tools={webhooks?.length !== 0 && create}
    >
      <Table
        name={t('Webhooks')}
        columns={columns()}
        rows={webhooks}
        linkOf={({ id }) => `${base}/webhooks?webhook=${encodeURIComponent(id)}`}
        of={asked}
        empty={
          <Empty
            text={t('No webhooks yet')}
            hint={t('A webhook gets each event as a signed request, and again when it fails.')}
          >
            {create}
          </Empty>
        }
      />
      {chosen && (
        <Chosen key={chosen.id} webhook={chosen} changed={asked.reload} show={setSecret} />
      )}
      {creating && (
        <EditWebhook
          close={() => setCreating(false)}
          saved={(made) => {
            asked.reload();
            setSecret(made);
          }}
        />
      )}
      {secret !== null && <SecretDialog secret={secret} close={() => setSecret(null)} />}
    </Page>
  );
}

const columns = (): readonly Column<Webhook>[] => [
  {
    id: 'url',
    title: t('Address'),
    width: 'wrap',
    render: ({ url }) => url,
    sort: ({ url }) => url,
  },
  {
    id: 'types',
    title: t('Events'),
    width: 'wrap',
    render: ({ types }) => <code>{types.join(', ')}</code>,
  },
  { id: 'state', title: t('State'), width: 'fit', render: State },
  { id: 'source', title: t('Set in'), width: 'fit', render: ({ source }) => t(SOURCES[source]) },
  timeColumn('created_at', t('Created'), { width: 'fit', sort: ({ created_at }) => created_at }),
];

const State = ({ disabled_at }: Webhook) =>
  disabled_at === null ? (
    <Badge tone="good">{t('enabled')}</Badge>
  ) : (
    <Badge tone="bad">{t('disabled')}</Badge>
  );

const SOURCES = { manifest: 'manifest.yaml', admin: 'the API' } as const;
