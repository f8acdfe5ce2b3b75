import { base, navigate } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import { Empty } from '../../parts/page.tsx';
import { formatTime } from '../../parts/time.tsx';
import { type AppProps, routeOf, sourceText } from './types.ts';

/** Deploys the image of an earlier deployment that has served. */
export function RollBackDialog({ app, deployments, reload, close }: AppProps & { close(): void }) {
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
          <Field label={t('Deployment')} name="deployment" required>
            {(it) => (
              <select {...it}>
                {earlier.map(({ number, created_at, source, image }) => (
                  <option key={number} value={number}>
                    {number} · {image ?? sourceText(source)} · {formatTime(created_at)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
