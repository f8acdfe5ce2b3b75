import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { can } from '../../parts/can.ts';
import { Field } from '../../parts/field.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Panel } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { formatBytes, formatTenths } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { type App, type AppProps, routeOf, type Stats } from './types.ts';

/** The tab `Scale`: the number of replicas, and the limits of each. */
export function ScaleTab({ app, reload }: AppProps) {
  const [busy, setBusy] = useState(false);
  const writes = can('apps:write');
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const body = bodyOf(new FormData(event.currentTarget as HTMLFormElement), app);
    const apply = app.deployment === null ? '' : '?apply=true';
    setBusy(true);
    await attempt(
      () => call('PATCH', `${routeOf(app.name)}${apply}`, body),
      t('{name} has {n} replicas', { name: app.name, n: body.replicas }),
    );
    setBusy(false);
    reload();
  };
  return (
    <>
      <Panel name={t('Scale')}>
        <form class="scale" onSubmit={(event) => void save(event)} aria-busy={busy}>
          <ScaleFields app={app} />
          {writes && (
            <div class="buttons">
              <button type="submit" class="main" disabled={busy}>
                {t('Scale')}
              </button>
              <span class="quiet">{t('It is applied at once, one replica after the other.')}</span>
            </div>
          )}
        </form>
      </Panel>
      {app.status === 'running' && <Replicas app={app} />}
    </>
  );
}

const NUMBER = { type: 'number', min: 0, inputMode: 'numeric' } as const;

const ScaleFields = ({ app: { replicas, resources, health } }: { app: App }) => (
  <>
    <Field
      label={t('Replicas')}
      name="replicas"
      {...NUMBER}
      min={1}
      max={50}
      required
      defaultValue={replicas}
    />
    <Field
      label={t('Memory')}
      name="memory_mb"
      {...NUMBER}
      required
      defaultValue={resources.memory_mb}
      hint={t('MB for each; 0 means no limit')}
    />
    <Field
      label={t('CPUs')}
      name="cpus"
      {...NUMBER}
      step={0.05}
      required
      defaultValue={resources.cpus}
      hint={t('Cores for each; 0 means no limit')}
    />
    <Field label={t('Processes')} name="pids" {...NUMBER} required defaultValue={resources.pids} />
    <Field
      label={t('Health path')}
      name="path"
      pattern="/.*"
      placeholder="/health"
      spellcheck={false}
      defaultValue={health.path ?? ''}
      hint={t('This path answers 200 while the app is healthy. Empty: the server tries the port.')}
    />
  </>
);

/** Without a path, the health check only opens the port. */
function bodyOf(form: FormData, { health }: App) {
  const number = (name: string) => Number(form.get(name));
  const path = String(form.get('path') ?? '').trim();
  return {
    replicas: number('replicas'),
    resources: { memory_mb: number('memory_mb'), cpus: number('cpus'), pids: number('pids') },
    ...(path !== (health.path ?? '') && { health: path === '' ? { tcp: true } : { path } }),
  };
}

function Replicas({ app }: { app: App }) {
  const { data, loading, error, reload } = useCall<Stats>(`${routeOf(app.name)}/stats`, {
    every: 3000,
  });
  return (
    <Table
      name={t('Replicas')}
      rows={data?.replicas}
      keyOf={({ replica }) => replica}
      of={{ loading, error, reload }}
      columns={[
        { id: 'replica', title: t('Replica'), render: ({ replica }) => replica },
        {
          id: 'cpu',
          title: t('CPU'),
          align: 'end',
          render: ({ cpu_percent: cpu }) => (cpu === null ? '–' : `${formatTenths(cpu)} %`),
        },
        {
          id: 'memory',
          title: t('Memory'),
          align: 'end',
          render: ({ memory_bytes: bytes }) => formatBytes(bytes),
        },
        { id: 'pids', title: t('Processes'), align: 'end', render: ({ pids }) => pids },
      ]}
    />
  );
}
