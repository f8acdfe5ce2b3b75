import { useState } from 'preact/hooks';
import { base, navigate } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { DeleteApp } from './delete-app.tsx';
import { DeployDialog } from './deploy.tsx';
import { RollBackDialog } from './roll-back.tsx';
import { type AppProps, routeOf } from './types.ts';

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
