import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { attempt, notifyFailure } from '../../parts/notices.tsx';
import { Answer, Facts, Panel } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { type App, routeOf } from './types.ts';

interface Webhook {
  readonly enabled: boolean;
  readonly path: string;
  readonly deliveries: readonly { readonly status: string; readonly at: string }[];
}

/** The panel that lets a push to the repository deploy the app. The secret is shown once. */
export function WebhookPanel({ app }: { app: App }) {
  const path = `${routeOf(app.name)}/webhook`;
  const webhook = useCall<Webhook>(path);
  const [secret, setSecret] = useState<string | null>(null);
  const create = () =>
    call<{ readonly secret: string }>('PUT', path).then(({ secret: made }) => {
      setSecret(made);
      webhook.reload();
    }, notifyFailure);
  const replace = async () => {
    const text = t('The present secret of {name} no longer deploys it.', { name: app.name });
    if (await confirm({ text, action: t('Replace secret') })) await create();
  };
  const remove = async () => {
    const text = t('A push no longer deploys {name}.', { name: app.name });
    if (!(await confirm({ text, action: t('Remove webhook') }))) return;
    if (await attempt(() => call('DELETE', path), t('The webhook is removed'))) webhook.reload();
  };
  const enabled = webhook.data?.enabled === true;
  const tools = can('apps:write') && webhook.data && (
    <>
      <Button onClick={() => (enabled ? replace() : create())}>
        {enabled ? t('Replace secret') : t('Create webhook')}
      </Button>
      {enabled && (
        <Button class="danger" onClick={remove}>
          {t('Remove webhook')}
        </Button>
      )}
    </>
  );
  return (
    <Panel name={t('Webhook')} tools={tools}>
      <Answer of={webhook} lines={2}>
        {(data) => <WebhookState {...data} />}
      </Answer>
      {secret !== null && (
        <Dialog title={t('Webhook created')} close={() => setSecret(null)}>
          <p>{t('Give both to GitHub, Gitea or GitLab. The secret is shown only once.')}</p>
          <Facts
            rows={[
              [
                t('URL'),
                <code key="url">{`${location.origin}${webhook.data?.path ?? path}`}</code>,
              ],
              [t('Secret'), <code key="secret">{secret}</code>],
            ]}
          />
        </Dialog>
      )}
    </Panel>
  );
}

function WebhookState({ enabled, path, deliveries }: Webhook) {
  if (!enabled)
    return <p class="quiet">{t('A push to a git repository can deploy this app by itself.')}</p>;
  return (
    <>
      <p>
        {t('A signed push to this address deploys the app:')}{' '}
        <code>{`${location.origin}${path}`}</code>
      </p>
      {deliveries.length > 0 && (
        <ol class="events" aria-label={t('Deliveries')}>
          {deliveries.map(({ status, at }) => (
            <li key={at}>
              <Time at={at} /> {t(status)}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
