import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { type App, type AppProps, type Deployment, isBusy } from './types.ts';

/**
 * Says why the last deployment failed or the app ended, with its last lines and what to do next.
 * Nothing is shown while a deployment runs.
 */
export function FailureNotice({ app, deployments }: Pick<AppProps, 'app' | 'deployments'>) {
  const last = deployments[0];
  if (last && isBusy(last.status)) return null;
  if (last?.status === 'failed') return <FailedDeployment app={app} deployment={last} />;
  if (app.error === undefined) return null;
  return (
    <div class="failure-notice" role="alert">
      <h2>
        {app.status === 'crashed'
          ? t('{name} has crashed', { name: app.name })
          : t('{name} has a problem', { name: app.name })}
      </h2>
      <p>{app.error}</p>
      <p class="next-step">
        {t('Next:')} <a href={`${base}/apps/${app.name}?tab=logs`}>{t('read its logs')}</a>,{' '}
        {t('fix the cause, then press Deploy or Start.')}
      </p>
    </div>
  );
}

function FailedDeployment({ app, deployment }: { app: App; deployment: Deployment }) {
  const { number, reason, log, has_build_log: hasLog } = deployment;
  return (
    <div class="failure-notice" role="alert">
      <h2>{t('Deployment {n} failed', { n: number })}</h2>
      <p>{reason}</p>
      {log.length > 0 && <pre tabIndex={0}>{log.slice(-LINES).join('\n')}</pre>}
      <p class="next-step">
        {app.deployment === null
          ? t('Nothing serves yet.')
          : t('Deployment {n} goes on serving.', { n: app.deployment })}{' '}
        {t('Next:')}{' '}
        <a href={`${base}/apps/${app.name}?tab=deployments&deployment=${number}`}>
          {hasLog ? t('read the build log') : t('see its steps')}
        </a>
        , {t('fix the source or the settings, then press Deploy.')}
      </p>
    </div>
  );
}

/** Lines of the app's output that are enough to see why it ended. */
const LINES = 12;
