import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button, RowButton } from '../../parts/button.tsx';
import { textIn, Field } from '../../parts/field.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Panel } from '../../parts/page.tsx';
import { actionsColumn, Table } from '../../parts/table.tsx';
import { formatBytes } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { ApplyHint } from './apply-hint.tsx';
import { type AgainProps, type AppProps, routeOf } from './types.ts';

interface Volume {
  readonly name: string;
  readonly path: string;
  /** Null where the engine does not count them. */
  readonly bytes: number | null;
}

/** The answer of `GET /api/apps/:name/volumes`. */
export interface Volumes {
  readonly volumes: readonly Volume[];
}

/** Folders that outlive the containers of an app. */
export function VolumesTab(props: AppProps) {
  const { app, reload } = props;
  const answer = useCall<Volumes>(`${routeOf(app.name)}/volumes`);
  const [adding, setAdding] = useState(false);
  const writes = can('apps:write');
  const again = () => {
    answer.reload();
    reload();
  };
  const remove = async ({ name, bytes }: Volume) => {
    const size = bytes === null ? '' : ` (${formatBytes(bytes)})`;
    const given = { name: `${name}${size}`, app: app.name };
    const text = t('{app} no longer has the volume {name}. Its data stay on the engine.', given);
    if (!(await confirm({ text, action: t('Remove volume'), typed: name }))) return;
    const volumes = app.volumes.filter((each) => each.name !== name);
    const removed = () => call('PATCH', routeOf(app.name), { volumes });
    if (await attempt(removed, t('{name} is removed', { name }))) again();
  };
  return (
    <Panel
      name={t('Volumes of {name}', { name: app.name })}
      tools={writes && <Button onClick={() => setAdding(true)}>{t('Add volume')}</Button>}
    >
      <Table
        name={t('Volumes')}
        rows={answer.data?.volumes}
        keyOf={({ name }) => name}
        of={answer}
        empty={[t('No volumes'), t('Without a volume, files are lost with the container.')]}
        columns={[
          { id: 'name', title: t('Name'), render: ({ name }) => name },
          { id: 'path', title: t('Path'), render: ({ path }) => <code>{path}</code> },
          {
            id: 'bytes',
            title: t('Size'),
            align: 'end',
            render: ({ bytes }) => (bytes === null ? '–' : formatBytes(bytes)),
          },
          writes &&
            actionsColumn((volume: Volume) => (
              <RowButton verb={t('Remove')} of={volume.name} onClick={() => remove(volume)} />
            )),
        ]}
      />
      <ApplyHint {...props} />
      {adding && <AddVolume {...{ app, again }} close={() => setAdding(false)} />}
    </Panel>
  );
}

function AddVolume({ app, again, close }: AgainProps & { close(): void }) {
  const submit = async (form: FormData) => {
    const volume = { name: textIn(form, 'name'), path: textIn(form, 'path') };
    await call('PATCH', routeOf(app.name), { volumes: [...app.volumes, volume] });
    return t('{name} is added', volume);
  };
  return (
    <FormDialog title={t('Add volume')} action={t('Add')} {...{ close, submit, saved: again }}>
      <Field label={t('Name')} name="name" required autofocus pattern="[a-z0-9][a-z0-9_.\-]*" />
      <Field label={t('Path')} name="path" required placeholder="/data" pattern="/.+" />
    </FormDialog>
  );
}
