import { useState } from 'preact/hooks';
import { base, navigate } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm, Confirm } from '../../parts/confirm.tsx';
import { attempt, notify } from '../../parts/notices.tsx';
import { type AppProps, routeOf, type App, sourceText } from './types.ts';
import { useCall } from '../../parts/use-call.ts';
import { formatBytes, formatTime } from '../../parts/time.tsx';
import type { Volumes } from './volumes.tsx';
import { Field } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/page.tsx';
import { DeployDialog } from './deploy.tsx';

type Open = 'deploy' | 'roll-back' | 'delete' | null;

/** The buttons of an app. Actions that its state does not allow are disabled. */
export function AppActions({ app, deployments, reload }: AppProps) {
  const [open, setOpen] = useState<Open>(null);
  const [doing, setDoing] = useState(false);
  if (!can('apps:write')) return null;
  const { name, status, deployment } = app;
  const never = deployment === null;
  const close = () => setOpen(null);
  const act = async (verb: string, done: string) => {
    setDoing(true);
    await attempt(() => call('POST', `${routeOf(name)}/${verb}`), done);
    setDoing(false);
    reload();
  };
  const stop = async () => {
    const text = t('{name} stops: {url} answers 503 until it is started again.', {
      name,
      url: app.url ?? name,
    });
    if (await confirm({ text, action: t('Stop') }))
      await act('stop', t('{name} is stopped', { name }));
  };
  const isUp = status === 'running' || status === 'restarting';
  return (
    <>
      <Button class="main" onClick={() => setOpen('deploy')}>
        {t('Deploy')}
      </Button>
      <Button
        disabled={never || isUp || doing}
        onClick={() => act('start', t('{name} is running', { name }))}
      >
        {t('Start')}
      </Button>
      <Button disabled={never || !isUp || doing} onClick={stop}>
        {t('Stop')}
      </Button>
      <Button
        disabled={never || !isUp || doing}
        onClick={() => act('restart', t('{name} is restarted', { name }))}
      >
        {t('Restart')}
      </Button>
      <Button disabled={never} onClick={() => setOpen('roll-back')}>
        {t('Roll back')}
      </Button>
      <Button class="danger" onClick={() => setOpen('delete')}>
        {t('Delete app')}
      </Button>
      {open === 'deploy' && <DeployDialog {...{ app, reload, close }} />}
      {open === 'roll-back' && <RollBackDialog {...{ app, deployments, reload, close }} />}
      {open === 'delete' && (
        <DeleteApp app={app} close={close} deleted={() => navigate(`${base}/apps`)} />
      )}
    </>
  );
}

interface DeleteAppProps {
  readonly app: App;
  close(): void;
  deleted(): void;
}

/** Asks for the app's name, and whether its volumes go with it. */
function DeleteApp({ app, close, deleted }: DeleteAppProps) {
  const { name, volumes } = app;
  const sizes = useCall<Volumes>(volumes.length > 0 ? `${routeOf(name)}/volumes` : null);
  const [withVolumes, setWithVolumes] = useState(false);
  const remove = async () => {
    close();
    const path = withVolumes ? `${routeOf(name)}?volumes=true` : routeOf(name);
    if (await attempt(() => call('DELETE', path), t('{name} is deleted', { name }))) deleted();
  };
  const text = [
    t('{name} is deleted with its deployments, environment, secrets and domains.', { name }),
    volumesText(app, sizes.data),
  ];
  return (
    <Confirm
      text={text.filter(Boolean).join(' ')}
      action={t('Delete app')}
      typed={name}
      confirm={() => void remove()}
      cancel={close}
    >
      {volumes.length > 0 && (
        <label class="choice">
          <input
            type="checkbox"
            checked={withVolumes}
            onChange={(event) => setWithVolumes(event.currentTarget.checked)}
          />
          {t('Delete its volumes too')}
        </label>
      )}
    </Confirm>
  );
}

function volumesText({ volumes }: App, sizes: Volumes | undefined): string {
  if (volumes.length === 0) return '';
  const list = volumes.map(({ name }) => {
    const bytes = sizes?.volumes.find((each) => each.name === name)?.bytes ?? null;
    return bytes === null ? name : `${name} (${formatBytes(bytes)})`;
  });
  return t('Its volumes are kept, unless you tick the box: {list}.', { list: list.join(', ') });
}

/** Deploys the image of an earlier deployment that has served. */
function RollBackDialog({ app, deployments, reload, close }: AppProps & { close(): void }) {
  const { name } = app;
  const earlier = deployments.filter(
    ({ status, number }) =>
      (status === 'healthy' || status === 'superseded') && number !== app.deployment,
  );
  const submit = async (form: FormData) => {
    const deployment = Number(form.get('deployment'));
    const answer = await call('POST', `${routeOf(name)}/rollback`, { deployment });
    notify(t('{name} serves deployment {n} again', { name, n: deployment }));
    reload();
    close();
    navigate(`${base}/apps/${name}?tab=deployments&deployment=${answer.number}`);
  };
  return (
    <FormDialog title={t('Roll back')} action={t('Roll back')} {...{ close, submit }}>
      {earlier.length === 0 ? (
        <Empty text={t('No earlier deployment has served')} />
      ) : (
        <>
          <p>{t('The present deployment serves until the earlier image is ready.')}</p>
          <Field
            label={t('Deployment')}
            name="deployment"
            required
            options={earlier.map(({ number, created_at, source, image }) => [
              String(number),
              `${number} · ${image ?? sourceText(source)} · ${formatTime(created_at)}`,
            ])}
          />
        </>
      )}
    </FormDialog>
  );
}
